// The executor's core: owns a device and runs sessions' batches on it.
#ifndef GPUOS_DAEMON_EXECUTOR_CORE_H_
#define GPUOS_DAEMON_EXECUTOR_CORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "daemon/executor/batch.h"
#include "daemon/executor/clock.h"
#include "daemon/executor/counters.h"
#include "daemon/executor/gate.h"
#include "daemon/executor/program_memory.h"
#include "daemon/executor/publisher.h"
#include "daemon/executor/releases.h"
#include "daemon/executor/residence.h"
#include "daemon/executor/session.h"
#include "daemon/executor/watchdog.h"
#include "daemon/executor/worker_memory.h"
#include "gpuos/v1/types.pb.h"
#include "kernels/ops/signature.h"

namespace gpuos::executor {

struct CoreOptions {
  Residence::Options residence;
  Duration watchdog_limit = std::chrono::seconds(10);
  WorkerMemorySizes memory;
  Session::Limits session;
};

// Requests change state at once; the worker is moved, and requests that take time are answered, by
// Step. There are no threads in here and no clock: call Step after requests, whenever the device's
// completion descriptor is readable, and at wake_at(), until stopped.
//
// Thread-compatible: one thread. Blocks only where device::Device says it does. Owns neither device
// nor catalog; both must outlive it. REQUIRES at destruction: parked(), or a device that is lost.
//
// Every refusal is a sentence and changes nothing: NOT_FOUND for a session, segment or program that
// is not there, ALREADY_EXISTS for one that is, FAILED_PRECONDITION while a session is closing and
// after Stop, besides what each call says.
class Core {
 public:
  // The executor's own session, for pings; clients' ids start at 1.
  static constexpr std::uint64_t kOwnSession = 0;

  // Lays out the worker's memory. `catalog` has the operators in the order of the device's table;
  // one of them must be "nop". Errors of the device.
  static absl::StatusOr<std::unique_ptr<Core>> Create(device::Device& device,
                                                      absl::Span<const ops::Signature> catalog,
                                                      const CoreOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Whether the worker stays when there is no work. May be changed at any time.
  void SetDedicated(bool dedicated);

  absl::Status OpenSession(std::uint64_t session);

  // Bytes of the segment. Besides the above, what device::Segments says.
  absl::StatusOr<std::uint64_t> ImportMemoryFile(std::uint64_t session, std::uint64_t segment,
                                                 int descriptor);
  absl::StatusOr<std::uint64_t> ImportCudaIpc(std::uint64_t session, std::uint64_t segment,
                                              absl::Span<const std::byte> handle,
                                              const std::string& uuid);

  // Besides the above, what program::BuildImage and ProgramMemory::Load say.
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> LoadProgram(std::uint64_t session,
                                                                   std::uint64_t program_id,
                                                                   const v1::Program& program);

  // The following are answered by Step, with the ticket, if they return OK; otherwise the status is
  // the answer.

  // OK when the batch and all of its session before it are done; INTERNAL if an operator failed;
  // ABORTED if the session was closed before the batch was published. Besides the above, what
  // Session::Submit says.
  absl::Status RunBatch(Ticket ticket, std::uint64_t session, std::uint64_t program_id,
                        absl::Span<const Binding> bindings);
  // Answered when the device has let the segment go: after the last unfinished batch that names it.
  absl::Status DropSegment(Ticket ticket, std::uint64_t session, std::uint64_t segment);
  // Answered when the program's memory is free: after the last unfinished batch that runs it.
  absl::Status DropProgram(Ticket ticket, std::uint64_t session, std::uint64_t program_id);
  // Aborts the batches that are not published; answered when the others are done and everything
  // that the session held has been let go.
  absl::Status CloseSession(Ticket ticket, std::uint64_t session);
  // Runs a no-op task through the worker.
  absl::Status Ping(Ticket ticket);
  // Aborts what is not published, closes all sessions, parks the worker; then it is answered and
  // stopped() holds. Without a ticket nothing is answered. Later requests are refused.
  absl::Status Stop(std::optional<Ticket> ticket);

  struct StepResult {
    // Answers that are due, those of one session's batches in their order.
    std::vector<Finished> finished;
    // Something came from the worker or went to it: step again before sleeping.
    bool worked = false;
    // An error means that the worker is lost or hangs; nothing will be answered any more and the
    // process should end without touching the device.
    absl::Status health;
  };
  StepResult Step(Time now);

  // The worker owes something: a batch's completion or, having been told to, its leave.
  bool awaiting() const { return publisher_.running() > 0 || residence_.leaving(); }
  // No worker is on the device and none is on its way.
  bool parked() const { return residence_.parked(); }
  bool stopped() const { return stopped_; }
  // When Step may have something to do although nothing happened.
  std::optional<Time> wake_at() const { return residence_.wake_at(); }

  const device::Info& device_info() const { return device_.info(); }
  absl::Span<const ops::Signature> catalog() const { return catalog_; }
  Counters counters(Time now);
  std::vector<SessionCounters> session_counters() const;
  // Finished calls, by operator, in the order of the catalog.
  const std::vector<std::uint64_t>& operator_calls() const { return operator_calls_; }

 private:
  // A session and who waits for it to be closed.
  struct OpenedSession {
    std::unique_ptr<Session> session;
    bool closing = false;
    std::optional<Ticket> ticket;
    absl::Status close_status;
  };
  struct ProgramDrop {
    std::uint64_t session;
    Ticket ticket;
    std::weak_ptr<const LoadedProgram> program;
  };

  Core(device::Device& device, absl::Span<const ops::Signature> catalog, const CoreOptions& options,
       const WorkerMemory& memory);

  absl::Status AddPingProgram();
  absl::StatusOr<Session*> FindSession(std::uint64_t id);
  absl::StatusOr<program::Image> Build(const v1::Program& program) const;
  absl::StatusOr<std::uint64_t> AddSegment(Session& session, std::uint64_t segment,
                                           const absl::StatusOr<device::Segment>& imported);
  void BeginClosing(OpenedSession& opened, const absl::Status& why);

  // Parts of Step, in their order.
  void TakeCompletions(Time now);
  void ReleaseSegments(Time now);
  void PublishWaiting(Time now);
  absl::Status MoveWorker(Time now);
  void AnswerDrops();
  void FinishClosing();
  void FinishStopping();
  absl::Status CheckHealth(Time now);

  void Count(const Batch& batch, bool ok);
  void Answer(Ticket ticket, absl::Status status);

  device::Device& device_;
  const absl::Span<const ops::Signature> catalog_;
  const CoreOptions options_;
  const WorkerMemory memory_;
  // Outlive the batches of sessions_, which hold programs.
  ProgramMemory programs_;
  Publisher publisher_;
  Releases releases_;
  Residence residence_;
  Watchdog watchdog_;
  // By id: the order in which they take turns.
  std::map<std::uint64_t, OpenedSession> sessions_;
  std::uint64_t last_session_ = 0;
  std::vector<ProgramDrop> program_drops_;

  bool stopping_ = false;
  bool stopped_ = false;
  std::optional<Ticket> stop_ticket_;

  StepResult step_;  // Of the step that is being taken or comes next.
  BatchCounters totals_;
  std::vector<std::uint64_t> operator_calls_;
  std::uint64_t last_beat_ns_ = 0;
  Time last_beat_seen_{};
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_CORE_H_
