// A GPU's memory and the pinned memory that the CPU shares with it.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_CUDA_MEMORY_H_
#define GPUOS_DAEMON_DEVICE_CUDA_CUDA_MEMORY_H_

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/cuda/stream.h"
#include "daemon/device/device.h"

namespace gpuos::device {

// Owns what it allocates until it is destroyed, when no worker may be resident (freeing waits for
// it). Copies go through a pinned buffer on a stream of its own, by the copy engine: no kernel, so
// nothing of it needs an SM that the worker holds. Thread-compatible: the executor's thread. Driver
// and context must outlive it. DATA_LOSS from any call: the context is lost.
class CudaMemory final : public Memory {
 public:
  // `device` names the device in errors.
  static absl::StatusOr<std::unique_ptr<CudaMemory>> Create(const Driver& driver,
                                                            const std::string& device);
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  ~CudaMemory() override;

  absl::StatusOr<DeviceAddress> Allocate(std::size_t bytes) override;
  absl::Status Write(DeviceAddress to, absl::Span<const std::byte> bytes) override;
  absl::Status Read(DeviceAddress from, absl::Span<std::byte> bytes) override;

  // As Device::AllocateShared: pinned memory, mapped.
  absl::StatusOr<SharedBytes> AllocateShared(std::size_t bytes);

 private:
  CudaMemory(const Driver& driver, std::string device, std::unique_ptr<Stream> copies)
      : driver_(driver), device_(std::move(device)), copies_(std::move(copies)) {}

  absl::Status Zero(DeviceAddress to, std::size_t bytes);
  // The error of a failed allocation: `of` says what was asked for and what is free.
  absl::Status AllocationError(CUresult result, const char* call, const std::string& of) const;
  // "4096 bytes on cuda:0, where 100 of 200 are free,".
  std::string DescribeRequest(std::size_t bytes) const;

  const Driver& driver_;
  const std::string device_;
  const std::unique_ptr<Stream> copies_;
  std::byte* staging_ = nullptr;  // Among pinned_.
  std::vector<CUdeviceptr> arenas_;
  std::vector<void*> pinned_;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_CUDA_CUDA_MEMORY_H_
