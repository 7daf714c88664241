// Segments that were given up and are to be let go as soon as nothing uses them.
#ifndef GPUOS_DAEMON_EXECUTOR_RELEASES_H_
#define GPUOS_DAEMON_EXECUTOR_RELEASES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "daemon/device/device.h"
#include "daemon/executor/batch.h"
#include "daemon/executor/held_segment.h"

namespace gpuos::executor {

// On a GPU the driver lets some segments go only while no worker is there; those wait for a park,
// which wants_park() asks for. Thread-compatible.
class Releases {
 public:
  // For whom a segment is released.
  struct Owner {
    std::uint64_t session = 0;
    std::optional<Ticket> ticket;  // To be answered, if anybody asked for this one segment.
  };
  struct Released {
    Owner owner;
    absl::Status status;  // Of the device.
  };

  explicit Releases(device::Segments& segments) : segments_(segments) {}

  void Add(HeldSegment segment, Owner owner);

  // Whether a segment that nothing uses waits for the worker to leave.
  bool wants_park() const;
  // Segments of `session` that are still here.
  std::uint32_t CountOf(std::uint64_t session) const;
  std::uint32_t count() const { return static_cast<std::uint32_t>(pending_.size()); }

  // Lets go what can go, `parked` or not. May block for the driver (about 100 us each).
  std::vector<Released> Run(bool parked);

 private:
  struct Pending {
    HeldSegment segment;
    Owner owner;
  };

  device::Segments& segments_;
  std::vector<Pending> pending_;
};

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_RELEASES_H_
