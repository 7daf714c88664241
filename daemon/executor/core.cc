// Requests. What moves the worker is in core_step.cc.
#include "daemon/executor/core.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gpuos::executor {
namespace {

constexpr std::uint64_t kPingProgram = 0;

}  // namespace

Core::Core(device::Device& device, absl::Span<const ops::Signature> catalog,
           const CoreOptions& options, const WorkerMemory& memory)
    : device_(device),
      catalog_(catalog),
      options_(options),
      memory_(memory),
      programs_(device.memory(), memory.programs, memory.sizes.program_bytes),
      publisher_(memory, device.worker().BuiltinTable()),
      releases_(device.segments()),
      residence_(options.residence),
      watchdog_(options.watchdog_limit),
      operator_calls_(catalog.size()) {}

Core::~Core() = default;

absl::StatusOr<std::unique_ptr<Core>> Core::Create(device::Device& device,
                                                   absl::Span<const ops::Signature> catalog,
                                                   const CoreOptions& options) {
  absl::StatusOr<WorkerMemory> memory = AllocateWorkerMemory(device, options.memory);
  if (!memory.ok()) return std::move(memory).status();
  std::unique_ptr<Core> core(new Core(device, catalog, options, *memory));
  if (absl::Status added = core->AddPingProgram(); !added.ok()) return added;
  return core;
}

absl::Status Core::AddPingProgram() {
  v1::Program nop;
  nop.add_tasks()->set_op("nop");
  absl::StatusOr<program::Image> image = Build(nop);
  if (!image.ok()) return std::move(image).status();
  image->calls.clear();
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> loaded = programs_.Load(*image);
  if (!loaded.ok()) return std::move(loaded).status();
  auto session = std::make_unique<Session>(kOwnSession, options_.session);
  session->AddProgram(kPingProgram, *std::move(loaded));
  sessions_[kOwnSession].session = std::move(session);
  return absl::OkStatus();
}

absl::StatusOr<program::Image> Core::Build(const v1::Program& program) const {
  // Half of the ready queue, so that a program of the largest size does not have to wait until
  // nothing else runs.
  return program::BuildImage(program, catalog_,
                             {.runner_blocks = device_.worker().runner_blocks(),
                              .ready_capacity = memory_.sizes.ready_capacity / 2});
}

void Core::SetDedicated(bool dedicated) {
  Residence::Options options = residence_.options();
  options.dedicated = dedicated;
  residence_.SetOptions(options);
}

absl::StatusOr<Session*> Core::FindSession(std::uint64_t id) {
  if (stopping_) return absl::FailedPreconditionError("the executor is stopping");
  const auto found = sessions_.find(id);
  if (id == kOwnSession || found == sessions_.end()) {
    return absl::NotFoundError(absl::StrCat("session is ", id, ", which is not open"));
  }
  if (found->second.closing) {
    return absl::FailedPreconditionError(absl::StrCat("session is ", id, ", which is closing"));
  }
  return found->second.session.get();
}

absl::Status Core::OpenSession(std::uint64_t session) {
  if (stopping_) return absl::FailedPreconditionError("the executor is stopping");
  if (session == kOwnSession) {
    return absl::InvalidArgumentError("session is 0; ids of sessions start at 1");
  }
  if (sessions_.count(session) > 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("session is ", session, ", which is open already"));
  }
  sessions_[session].session = std::make_unique<Session>(session, options_.session);
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> Core::ImportMemoryFile(std::uint64_t session, std::uint64_t segment,
                                                     int descriptor) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  if (absl::Status fresh = (*found)->CheckNewSegment(segment); !fresh.ok()) return fresh;
  return AddSegment(**found, segment, device_.segments().ImportMemoryFile(descriptor));
}

absl::StatusOr<std::uint64_t> Core::ImportCudaIpc(std::uint64_t session, std::uint64_t segment,
                                                  absl::Span<const std::byte> handle,
                                                  const std::string& uuid) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  if (absl::Status fresh = (*found)->CheckNewSegment(segment); !fresh.ok()) return fresh;
  return AddSegment(**found, segment, device_.segments().ImportCudaIpc(handle, uuid));
}

absl::StatusOr<std::uint64_t> Core::AddSegment(Session& session, std::uint64_t segment,
                                               const absl::StatusOr<device::Segment>& imported) {
  if (!imported.ok()) return imported.status();
  session.AddSegment(segment, *imported);
  return imported->size;
}

absl::StatusOr<std::shared_ptr<const LoadedProgram>> Core::LoadProgram(std::uint64_t session,
                                                                       std::uint64_t program_id,
                                                                       const v1::Program& program) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  if (absl::Status fresh = (*found)->CheckNewProgram(program_id); !fresh.ok()) return fresh;
  absl::StatusOr<program::Image> image = Build(program);
  if (!image.ok()) return std::move(image).status();
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> loaded = programs_.Load(*image);
  if (loaded.ok()) (*found)->AddProgram(program_id, *loaded);
  return loaded;
}

absl::Status Core::RunBatch(Ticket ticket, std::uint64_t session, std::uint64_t program_id,
                            absl::Span<const Binding> bindings) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  absl::Status submitted = (*found)->Submit(ticket, program_id, bindings);
  if (submitted.ok()) ++totals_.admitted;
  return submitted;
}

absl::Status Core::Ping(Ticket ticket) {
  if (stopping_) return absl::FailedPreconditionError("the executor is stopping");
  return sessions_[kOwnSession].session->Submit(ticket, kPingProgram, {});
}

absl::Status Core::DropSegment(Ticket ticket, std::uint64_t session, std::uint64_t segment) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  absl::StatusOr<HeldSegment> taken = (*found)->TakeSegment(segment);
  if (!taken.ok()) return std::move(taken).status();
  releases_.Add(*std::move(taken), {.session = session, .ticket = ticket});
  return absl::OkStatus();
}

absl::Status Core::DropProgram(Ticket ticket, std::uint64_t session, std::uint64_t program_id) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> taken = (*found)->TakeProgram(program_id);
  if (!taken.ok()) return std::move(taken).status();
  program_drops_.push_back({.session = session, .ticket = ticket, .program = *taken});
  return absl::OkStatus();
}

absl::Status Core::CloseSession(Ticket ticket, std::uint64_t session) {
  absl::StatusOr<Session*> found = FindSession(session);
  if (!found.ok()) return std::move(found).status();
  OpenedSession& opened = sessions_.at(session);
  opened.ticket = ticket;
  BeginClosing(opened, absl::AbortedError("the session was closed before the batch was started"));
  return absl::OkStatus();
}

absl::Status Core::Stop(std::optional<Ticket> ticket) {
  if (stopping_) {
    if (ticket) return absl::FailedPreconditionError("the executor is stopping already");
    return absl::OkStatus();
  }
  stopping_ = true;
  stop_ticket_ = ticket;
  for (auto& [id, opened] : sessions_) {
    const absl::Status why =
        absl::AbortedError("the executor was stopped before the batch was started");
    if (!opened.closing) BeginClosing(opened, why);
  }
  residence_.Stop();
  return absl::OkStatus();
}

void Core::BeginClosing(OpenedSession& opened, const absl::Status& why) {
  opened.closing = true;
  Session& session = *opened.session;
  session.AbortWaiting(why, step_.finished);
  session.DropAllPrograms();
  for (HeldSegment& segment : session.TakeAllSegments()) {
    releases_.Add(std::move(segment), {.session = session.id(), .ticket = std::nullopt});
  }
}

}  // namespace gpuos::executor
