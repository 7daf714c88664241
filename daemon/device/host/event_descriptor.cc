#include "daemon/device/host/event_descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::device {

absl::StatusOr<EventDescriptor> EventDescriptor::Create() {
  const int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no eventfd for the worker's completions: ", strerror(errno)));
  }
  return EventDescriptor(descriptor);
}

EventDescriptor::EventDescriptor(EventDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

EventDescriptor::~EventDescriptor() {
  if (descriptor_ >= 0) close(descriptor_);
}

void EventDescriptor::Signal() const {
  const std::uint64_t one = 1;
  // EAGAIN means that the counter is full, so it is readable already.
  while (write(descriptor_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

}  // namespace gpuos::device
