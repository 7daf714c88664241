// Keeps one device served: starts its executor, watches it, replaces it when it is lost.
#ifndef GPUOS_DAEMON_CONTROL_EXECUTOR_SUPERVISOR_H_
#define GPUOS_DAEMON_CONTROL_EXECUTOR_SUPERVISOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/control/backoff.h"
#include "daemon/control/executor_client.h"
#include "daemon/control/executor_link.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gpuos/v1/operators.pb.h"

namespace gpuos::control {

// States: STARTING -> READY -> REPLACING -> READY ...; STOPPED at the end. An executor is READY
// once it has answered Start and Ping and sessions that live on have their segments and programs
// again.
//
// A request that was with a lost executor is answered ABORTED. One that comes while it is being
// replaced is held, and goes to the next one in order, unless kMaxHeldRequests are or the
// replacement does not start: then UNAVAILABLE with the reason.
//
// Ownership: owns the executor and one thread. Thread-safe. Stop and the destructor block, bounded
// by the stop timeout.
class ExecutorSupervisor : public ExecutorClient {
 public:
  using SyncCall =
      std::function<absl::StatusOr<v1::ExecutorResponse>(v1::ExecutorRequest, const SharedFd&)>;

  struct Options {
    v1::DeviceInfo device;
    std::string program;
    std::vector<std::string> arguments;
    v1::Residence residence = v1::RESIDENCE_ELASTIC;
    // Gives a fresh executor what living sessions have. Runs on the supervisor's thread.
    std::function<void(const SyncCall&)> restore;
    // Runs on the supervisor's thread after every change of state.
    std::function<void()> on_change;
    absl::Duration start_timeout = absl::Seconds(120);
    absl::Duration stop_timeout = absl::Seconds(5);
    // It is asked for its status this often, and killed when it has not answered for this long.
    absl::Duration ask_period = absl::Seconds(5);
    absl::Duration hang_timeout = absl::Seconds(30);
  };

  explicit ExecutorSupervisor(Options options);
  ~ExecutorSupervisor() override;

  // Starts the thread. Once.
  void Start();
  // Takes no more requests (UNAVAILABLE); those that it has go on.
  void Drain();
  // Ends the executor at once, also one that Stop waits for.
  void KillNow();
  // Parks the worker and ends the executor; requests from here on are answered UNAVAILABLE. May be
  // called again, also at once by several threads.
  void Stop();

  void Call(v1::ExecutorRequest request, SharedFd descriptor, Reply reply) override;

  const v1::DeviceInfo& device() const { return options_.device; }
  // OK when READY; otherwise UNAVAILABLE with why not.
  absl::Status CheckReady() const;
  // Counters are those of the executor's last status answer.
  v1::DeviceStatus status() const;
  // What the executor's worker can run; empty before the first was READY.
  std::vector<v1::OperatorInfo> operators() const;
  // Remembers counters for status().
  void NoteCounters(const v1::ExecutorCounters& counters);

 private:
  struct Held {
    v1::ExecutorRequest request;
    SharedFd descriptor;
    Reply reply;
  };

  void Run();
  // One executor from start to end; returns how long it was ready.
  absl::Duration RunOne();
  absl::StatusOr<std::unique_ptr<ExecutorLink>> Launch();
  // Start, Ping and what sessions need.
  absl::Status BringUp(ExecutorLink* link);
  void BecomeReady(ExecutorLink* link);
  // Returns when the executor is lost, or the supervisor stops. Kills one that hangs.
  void Watch(ExecutorLink* link);
  void AskStatus(ExecutorLink* link);
  // The executor has ended, or could not be started: `why` is half a sentence.
  void NoteLoss(const std::string& why);
  // Says why the executor could not be brought up and answers what was held.
  void FailStart(const absl::Status& status);
  void WaitBeforeRestart(absl::Duration ready);
  void EndForGood();
  void Changed() const;
  bool stopping() const;
  // Holds the request, or says why not and leaves it as it is.
  absl::Status Hold(Held& held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnswerHeld(const absl::Status& status);

  const Options options_;
  Backoff backoff_;  // On the supervisor's thread.

  mutable absl::Mutex mutex_;
  v1::DeviceStatus status_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::OperatorInfo> operators_ ABSL_GUARDED_BY(mutex_);
  // The executor there is, also before it is READY; owned by RunOne.
  ExecutorLink* link_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // It has ended; `link_` takes no more.
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Held> held_ ABSL_GUARDED_BY(mutex_);
  // Why the last start failed; OK again once one succeeds.
  absl::Status start_failure_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // When this executor last answered a status request.
  absl::Time answered_ ABSL_GUARDED_BY(mutex_);

  absl::Mutex join_mutex_;
  std::thread thread_ ABSL_GUARDED_BY(join_mutex_);
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_EXECUTOR_SUPERVISOR_H_
