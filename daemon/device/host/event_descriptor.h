// An eventfd, by which the worker's threads wake the executor's loop.
#ifndef GPUOS_DAEMON_DEVICE_HOST_EVENT_DESCRIPTOR_H_
#define GPUOS_DAEMON_DEVICE_HOST_EVENT_DESCRIPTOR_H_

#include "absl/status/statusor.h"

namespace gpuos::device {

// Owns the descriptor. Movable. Signal may be called from any thread.
class EventDescriptor {
 public:
  // RESOURCE_EXHAUSTED when the process has no descriptor left.
  static absl::StatusOr<EventDescriptor> Create();

  EventDescriptor(EventDescriptor&& other) noexcept;
  EventDescriptor& operator=(EventDescriptor&&) = delete;
  ~EventDescriptor();

  // Makes the descriptor readable. Never blocks: one that nobody drained stays readable.
  void Signal() const;

  // Non-blocking, close-on-exec.
  int get() const { return descriptor_; }

 private:
  explicit EventDescriptor(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_HOST_EVENT_DESCRIPTOR_H_
