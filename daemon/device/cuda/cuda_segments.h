// A GPU's segments: allocations of other processes, by legacy CUDA IPC.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_CUDA_SEGMENTS_H_
#define GPUOS_DAEMON_DEVICE_CUDA_CUDA_SEGMENTS_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// Owns the mappings until they are released or it is destroyed, when no worker may be resident
// (closing waits for it). A handle that is imported again is opened once, so that two segments of
// the same bytes have the same address. Thread-compatible: the executor's thread. Driver and
// context must outlive it.
class CudaSegments final : public Segments {
 public:
  // `info` is the device's own; `worker_is_resident` says whether closing would wait.
  CudaSegments(const Driver& driver, const Info& info, std::function<bool()> worker_is_resident)
      : driver_(driver),
        device_(info.name),
        uuid_(info.uuid),
        worker_is_resident_(std::move(worker_is_resident)) {}
  CudaSegments(const CudaSegments&) = delete;
  CudaSegments& operator=(const CudaSegments&) = delete;
  ~CudaSegments() override;

  // Always UNIMPLEMENTED: a GPU reaches memory of the CPU only where it is pinned.
  absl::StatusOr<Segment> ImportMemoryFile(int descriptor) override;
  // Does not wait for the worker. The segment starts at the allocation that was exported; its size
  // is the driver's. Memory of another device is refused before the driver is asked.
  absl::StatusOr<Segment> ImportCudaIpc(absl::Span<const std::byte> handle,
                                        const std::string& uuid) override;
  // FAILED_PRECONDITION if the memory would have to be unmapped under a resident worker; NOT_FOUND
  // for a segment that is not held. Nothing changes then.
  absl::Status Release(const Segment& segment) override;
  bool ReleaseWaitsForWorker() const override { return true; }

 private:
  struct Opened {
    CUdeviceptr address = 0;
    std::uint64_t size = 0;
    std::uint32_t segments = 0;
  };
  using Handles = std::map<std::string, Opened>;  // By the handle's bytes.

  absl::StatusOr<Handles::iterator> FindOrOpen(const std::string& handle);
  absl::StatusOr<CUdeviceptr> Open(const std::string& handle) const;
  // Bytes from `address` to the end of its allocation.
  absl::StatusOr<std::uint64_t> SizeFrom(CUdeviceptr address) const;

  const Driver& driver_;
  const std::string device_;
  const std::string uuid_;
  const std::function<bool()> worker_is_resident_;
  std::uint64_t last_id_ = 0;
  Handles handles_;
  std::map<std::uint64_t, Handles::iterator> segments_;  // By Segment::id.
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_CUDA_SEGMENTS_H_
