// One client's session: who it is, what it has, how far its life has come.
#ifndef GPUOS_DAEMON_CONTROL_SESSION_H_
#define GPUOS_DAEMON_CONTROL_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/control/attach_channel.h"
#include "daemon/control/batch_ledger.h"
#include "daemon/control/descriptor_shelf.h"
#include "daemon/control/executor_client.h"
#include "daemon/control/peer.h"
#include "daemon/control/program_table.h"
#include "daemon/control/segment_table.h"
#include "gpuos/v1/admin.pb.h"

namespace gpuos::control {

// States: opening (the executor is asked) -> waiting (for AttachHello) -> attached -> ended. Held
// by the registry until it ends, and by calls that are at work on it.
//
// Thread-safe. Does not block.
class Session {
 public:
  struct Identity {
    std::uint64_t id = 0;
    std::string token;
    PeerCredentials owner;
    std::string device;
    std::string client_name;
    absl::Time opened;
  };

  // `executor` of the device; it outlives every session.
  Session(Identity identity, ExecutorClient* executor);

  const Identity& identity() const { return identity_; }
  std::uint64_t id() const { return identity_.id; }
  ExecutorClient& executor() const { return *executor_; }

  SegmentTable& segments() { return segments_; }
  ProgramTable& programs() { return programs_; }
  BatchLedger& batches() { return batches_; }
  DescriptorShelf& descriptors() { return descriptors_; }

  // Held from a batch's number to its way to the executor, so that numbers are the order of
  // arrival.
  absl::Mutex& submit_mutex() ABSL_LOCK_RETURNED(submit_mutex_) { return submit_mutex_; }

  // The executor knows the session. False if it has ended meanwhile.
  bool SetOpened();
  // True once it is opened and not ended.
  bool opened() const;
  // FAILED_PRECONDITION if it is attached already, or has ended.
  absl::Status Attach(std::shared_ptr<AttachChannel> channel);
  bool attached() const;
  // FAILED_PRECONDITION unless attached: says to attach first.
  absl::Status CheckAttached() const;
  // Sends over the attach connection. FAILED_PRECONDITION unless attached, UNAVAILABLE if the
  // client does not read.
  absl::Status SendMemoryFile(std::uint64_t cookie, const link::UniqueFd& file) const;
  // True for the first who ends it. From here on nothing can be attached.
  bool End();
  // Closes the attach connection and everything that the session holds here. After End, when the
  // executor has let go. Waiting calls are told `reason`.
  void Dispose(const absl::Status& reason);

  // As the administrator sees it.
  v1::ClientInfo Describe() const;

 private:
  enum class State { kOpening, kWaiting, kAttached, kEnded };

  const Identity identity_;
  ExecutorClient* const executor_;
  SegmentTable segments_;
  ProgramTable programs_;
  BatchLedger batches_;
  DescriptorShelf descriptors_;
  absl::Mutex submit_mutex_;

  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kOpening;
  std::shared_ptr<AttachChannel> channel_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_SESSION_H_
