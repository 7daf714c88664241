// A host device's segments: memory files of clients.
#ifndef GPUOS_DAEMON_DEVICE_HOST_HOST_SEGMENTS_H_
#define GPUOS_DAEMON_DEVICE_HOST_HOST_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "daemon/device/host/memory_file.h"

namespace gpuos::device {

// Owns the mappings until they are released or it is destroyed. A file that is imported again is
// mapped once, so that two segments of the same bytes have the same address and the executor can
// see that they overlap. Thread-compatible: one thread, the executor's. Nothing waits for the
// worker.
class HostSegments final : public Segments {
 public:
  // A file may have `limit` bytes at most.
  explicit HostSegments(std::uint64_t limit) : limit_(limit) {}
  HostSegments(const HostSegments&) = delete;
  HostSegments& operator=(const HostSegments&) = delete;

  absl::StatusOr<Segment> ImportMemoryFile(int descriptor) override;
  // Always UNIMPLEMENTED: CPU threads cannot reach a GPU's memory.
  absl::StatusOr<Segment> ImportCudaIpc(absl::Span<const std::byte> handle,
                                        const std::string& uuid) override;
  // NOT_FOUND for a segment that is not held.
  absl::Status Release(const Segment& segment) override;
  bool ReleaseWaitsForWorker() const override { return false; }

 private:
  struct Mapped {
    MemoryFileMapping mapping;
    std::uint32_t segments = 0;
  };
  using Files = std::map<MemoryFileIdentity, Mapped>;

  // The file's place in files_, mapped now if it was not.
  absl::StatusOr<Files::iterator> FindOrMap(int descriptor);

  const std::uint64_t limit_;
  std::uint64_t last_id_ = 0;
  Files files_;
  std::map<std::uint64_t, Files::iterator> segments_;  // By Segment::id.
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_HOST_HOST_SEGMENTS_H_
