#include "daemon/control/program_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {
namespace {

absl::Status NoProgram(std::uint64_t id) {
  return absl::NotFoundError(
      absl::StrCat("program ", id,
                   " is not a program of this session; name one that CreateProgram "
                   "returned and that was not released"));
}

}  // namespace

absl::StatusOr<bool> ProgramTable::Request(std::uint64_t id, Bytes bytes, Callback callback) {
  std::uint64_t known = 0;
  {
    absl::MutexLock lock(&mutex_);
    auto found = by_bytes_.find(*bytes);
    if (found == by_bytes_.end()) {
      if (programs_.size() >= kMaxProgramsOfSession ||
          total_bytes_ + bytes->size() > kMaxProgramBytesOfSession) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the session has ", programs_.size(), " programs of ", total_bytes_,
                         " bytes; its limits are ", kMaxProgramsOfSession, " and ",
                         kMaxProgramBytesOfSession, "; release some"));
      }
      total_bytes_ += bytes->size();
      by_bytes_[*bytes] = id;
      Program& program = programs_[id];
      program.bytes = std::move(bytes);
      program.waiting.push_back(std::move(callback));
      return true;
    }
    known = found->second;
    Program& program = programs_.at(known);
    if (!program.ready) {
      program.waiting.push_back(std::move(callback));
      return false;
    }
    program.wanted = true;
  }
  callback(known);
  return false;
}

bool ProgramTable::Finish(std::uint64_t id, const absl::Status& result) {
  std::vector<Callback> waiting;
  {
    absl::MutexLock lock(&mutex_);
    auto found = programs_.find(id);
    if (found == programs_.end()) return false;
    waiting.swap(found->second.waiting);
    found->second.ready = true;
    if (!result.ok()) Forget(found);
  }
  bool wanted = false;
  for (Callback& callback : waiting) {
    wanted |= result.ok() ? callback(id) : callback(result);
  }
  return result.ok() && KeepIfWanted(id, wanted);
}

bool ProgramTable::KeepIfWanted(std::uint64_t id, bool wanted) {
  absl::MutexLock lock(&mutex_);
  auto found = programs_.find(id);
  // Released in the meantime: whoever did so drops it.
  if (found == programs_.end()) return true;
  if (wanted || found->second.wanted) return true;
  Forget(found);
  return false;
}

void ProgramTable::SetLost(std::uint64_t id, const std::string& why) {
  absl::MutexLock lock(&mutex_);
  auto found = programs_.find(id);
  if (found != programs_.end()) found->second.lost = why;
}

absl::Status ProgramTable::CheckReady(std::uint64_t id) const {
  absl::MutexLock lock(&mutex_);
  auto found = programs_.find(id);
  if (found == programs_.end() || !found->second.ready) return NoProgram(id);
  if (!found->second.lost.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("program ", id, " could not be loaded by the executor's replacement (",
                     found->second.lost, "); release it and create it again"));
  }
  return absl::OkStatus();
}

absl::Status ProgramTable::Remove(std::uint64_t id) {
  absl::MutexLock lock(&mutex_);
  auto found = programs_.find(id);
  if (found == programs_.end() || !found->second.ready) return NoProgram(id);
  Forget(found);
  return absl::OkStatus();
}

void ProgramTable::Clear() {
  std::map<std::uint64_t, Program> programs;
  {
    absl::MutexLock lock(&mutex_);
    by_bytes_.clear();
    programs.swap(programs_);
    total_bytes_ = 0;
  }
  for (auto& [id, program] : programs) {
    for (Callback& callback : program.waiting)
      callback(absl::AbortedError("the session has ended"));
  }
}

std::vector<ProgramTable::Restorable> ProgramTable::restorable() const {
  std::vector<Restorable> ready;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, program] : programs_) {
    if (program.ready) ready.push_back({id, program.bytes});
  }
  return ready;
}

std::size_t ProgramTable::count() const {
  absl::MutexLock lock(&mutex_);
  return programs_.size();
}

void ProgramTable::Forget(std::map<std::uint64_t, Program>::iterator program) {
  by_bytes_.erase(*program->second.bytes);
  total_bytes_ -= program->second.bytes->size();
  programs_.erase(program);
}

}  // namespace gpuos::control
