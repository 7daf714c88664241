// What makes gpuosd stop: a signal, or the end of its parent.
#ifndef GPUOS_DAEMON_CONTROL_STOP_SIGNAL_H_
#define GPUOS_DAEMON_CONTROL_STOP_SIGNAL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/link/unique_fd.h"

namespace gpuos::control {

// Blocks SIGTERM and SIGINT and takes them from a signalfd. REQUIRES: made before other threads,
// which inherit the mask.
//
// Thread: waits on one thread; Release from any.
class StopSignal {
 public:
  // `parent_fd`: read end of a pipe whose other end the parent holds, or -1. INVALID_ARGUMENT if it
  // is not an open descriptor.
  static absl::StatusOr<std::unique_ptr<StopSignal>> Create(int parent_fd);

  // Blocks until there is a reason to stop; half a sentence.
  std::string WaitForReason();

  // Blocks until a signal (true) or Release (false).
  bool WaitForSignalOrRelease();
  void Release();

 private:
  StopSignal(link::UniqueFd signals, link::UniqueFd parent, link::UniqueFd released);

  // The number of a signal that has come.
  int TakeSignal();

  const link::UniqueFd signals_;
  const link::UniqueFd parent_;
  const link::UniqueFd released_;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_STOP_SIGNAL_H_
