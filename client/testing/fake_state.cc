#include "client/testing/fake_state.h"

#include <sys/mman.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "gpuos/segment.h"

namespace gpuos::testing {
namespace {

absl::Status NoSuch(absl::string_view what, std::uint64_t id) {
  return absl::NotFoundError(absl::StrCat(what, " ", id, " is not one of this session"));
}

}  // namespace

void FakeState::FailNext(const std::string& method, absl::Status status) {
  absl::MutexLock lock(&mutex_);
  script_[method].push_back(std::move(status));
}

absl::Status FakeState::Scripted(const std::string& method) {
  absl::MutexLock lock(&mutex_);
  ++calls_[method];
  std::deque<absl::Status>& waiting = script_[method];
  if (waiting.empty()) return absl::OkStatus();
  absl::Status status = std::move(waiting.front());
  waiting.pop_front();
  return status;
}

int FakeState::Calls(const std::string& method) const {
  absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(method);
  return found == calls_.end() ? 0 : found->second;
}

void FakeState::SetRunner(Runner runner) {
  absl::MutexLock lock(&mutex_);
  runner_ = std::move(runner);
}

void FakeState::HoldBatches(bool held) {
  absl::MutexLock lock(&mutex_);
  held_ = held;
}

v1::OpenSessionResponse FakeState::OpenSession(const v1::OpenSessionRequest& request,
                                               const v1::DeviceInfo& device) {
  absl::MutexLock lock(&mutex_);
  const std::uint64_t id = ++last_id_;
  sessions_[id].token = absl::StrCat("token of sess ", absl::Dec(id, absl::kZeroPad2));
  sessions_[id].client_name = request.client_name();
  v1::OpenSessionResponse response;
  response.mutable_session()->set_id(id);
  response.mutable_session()->set_token(sessions_[id].token);
  *response.mutable_device() = device;
  return response;
}

absl::Status FakeState::CheckSession(std::uint64_t id, const std::string& token) const {
  absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return absl::NotFoundError(absl::StrCat("no session ", id));
  if (found->second.token != token) return absl::PermissionDeniedError("session.token is wrong");
  return absl::OkStatus();
}

void FakeState::CloseSession(std::uint64_t id) {
  absl::MutexLock lock(&mutex_);
  sessions_.erase(id);
}

std::vector<std::string> FakeState::ClientNames() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const auto& [id, session] : sessions_) names.push_back(session.client_name);
  return names;
}

std::uint64_t FakeState::AddSegment(std::uint64_t session, internal::UniqueFd memory,
                                    std::uint64_t size) {
  absl::MutexLock lock(&mutex_);
  const std::uint64_t id = ++last_id_;
  sessions_[session].segments[id] = Segment{std::move(memory), size};
  return id;
}

absl::Status FakeState::DropSegment(std::uint64_t session, std::uint64_t segment) {
  absl::MutexLock lock(&mutex_);
  if (sessions_[session].segments.erase(segment) == 0) return NoSuch("segment", segment);
  return absl::OkStatus();
}

int FakeState::SegmentCount() const {
  absl::MutexLock lock(&mutex_);
  std::size_t count = 0;
  for (const auto& [id, session] : sessions_) count += session.segments.size();
  return static_cast<int>(count);
}

std::uint64_t FakeState::AddProgram(std::uint64_t session, const v1::Program& program) {
  absl::MutexLock lock(&mutex_);
  const std::uint64_t id = ++last_id_;
  sessions_[session].programs[id] = program;
  return id;
}

absl::Status FakeState::DropProgram(std::uint64_t session, std::uint64_t program) {
  absl::MutexLock lock(&mutex_);
  if (sessions_[session].programs.erase(program) == 0) return NoSuch("program", program);
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> FakeState::Run(const v1::SubmitBatchRequest& request) {
  absl::MutexLock lock(&mutex_);
  Session& session = sessions_[request.session().id()];
  const auto program = session.programs.find(request.program());
  if (program == session.programs.end()) return NoSuch("program", request.program());
  if (request.bindings_size() != program->second.slots_size()) {
    return absl::InvalidArgumentError(absl::StrCat("bindings has ", request.bindings_size(),
                                                   " entries and the program has ",
                                                   program->second.slots_size(), " slots"));
  }
  session.batches.push_back(RunProgram(session, program->second, request));
  return session.batches.size();
}

absl::Status FakeState::RunProgram(const Session& session, const v1::Program& program,
                                   const v1::SubmitBatchRequest& request) const {
  std::vector<Mapping> mappings;
  std::vector<std::byte*> slots;
  for (const v1::Binding& binding : request.bindings()) {
    const auto segment = session.segments.find(binding.segment());
    if (segment == session.segments.end()) return NoSuch("segment", binding.segment());
    if (!segment->second.memory.valid()) {
      slots.push_back(nullptr);
      continue;
    }
    void* const data = ::mmap(nullptr, segment->second.size, PROT_READ | PROT_WRITE, MAP_SHARED,
                              segment->second.memory.get(), 0);
    if (data == MAP_FAILED) return absl::ErrnoToStatus(errno, "mmap");
    mappings.emplace_back(data, segment->second.size);
    slots.push_back(mappings.back().as<std::byte>() + binding.offset());
  }
  return runner_ ? runner_(program, slots) : absl::OkStatus();
}

bool FakeState::BatchDone(std::uint64_t session, std::uint64_t value,
                          absl::Duration patience) const {
  absl::MutexLock lock(&mutex_);
  const auto done = [this, session, value]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = sessions_.find(session);
    return !held_ && found != sessions_.end() && found->second.batches.size() >= value;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&done), patience);
}

absl::Status FakeState::BatchError(std::uint64_t session, std::uint64_t value) const {
  absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return absl::AbortedError("the session has ended");
  for (std::uint64_t i = 0; i < value; ++i) {
    if (!found->second.batches[i].ok()) return found->second.batches[i];
  }
  return absl::OkStatus();
}

}  // namespace gpuos::testing
