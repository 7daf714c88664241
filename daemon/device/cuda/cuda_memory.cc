#include "daemon/device/cuda/cuda_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gpuos::device {
namespace {

constexpr std::size_t kStagingBytes = std::size_t{1} << 20;

absl::Status NothingAskedFor() {
  return absl::InvalidArgumentError("0 bytes of memory were asked for; ask for at least 1");
}

constexpr std::uintptr_t kPage = 4096;

std::uint64_t FreeMachineBytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaMemory>> CudaMemory::Create(const Driver& driver,
                                                               const std::string& device) {
  absl::StatusOr<std::unique_ptr<Stream>> copies = Stream::Create(driver);
  if (!copies.ok()) return copies.status();
  auto memory = std::unique_ptr<CudaMemory>(new CudaMemory(driver, device, *std::move(copies)));
  const absl::StatusOr<SharedBytes> staging = memory->AllocateShared(kStagingBytes);
  if (!staging.ok()) return staging.status();
  memory->staging_ = staging->host;
  return memory;
}

CudaMemory::~CudaMemory() {
  for (const CUdeviceptr arena : arenas_) driver_.api().cuMemFree(arena);
  for (void* pinned : pinned_) driver_.api().cuMemFreeHost(pinned);
}

absl::Status CudaMemory::AllocationError(CUresult result, const char* call,
                                         const std::string& of) const {
  const absl::Status status = driver_.Check(result, call, absl::StrCat("of ", of));
  // The size is the only value that can be invalid: it is larger than any memory.
  if (absl::IsInvalidArgument(status)) return absl::ResourceExhaustedError(status.message());
  return status;
}

std::string CudaMemory::DescribeRequest(std::size_t bytes) const {
  std::size_t free = 0;
  std::size_t total = 0;
  if (driver_.api().cuMemGetInfo(&free, &total) != CUDA_SUCCESS) {
    return absl::StrCat(bytes, " bytes on ", device_);
  }
  return absl::StrCat(bytes, " bytes on ", device_, ", where ", free, " of ", total, " are free,");
}

absl::StatusOr<DeviceAddress> CudaMemory::Allocate(std::size_t bytes) {
  if (bytes == 0) return NothingAskedFor();
  CUdeviceptr arena = 0;
  const CUresult result = driver_.api().cuMemAlloc(&arena, bytes);
  if (result != CUDA_SUCCESS) return AllocationError(result, "cuMemAlloc", DescribeRequest(bytes));
  arenas_.push_back(arena);
  const absl::Status status = Zero(arena, bytes);
  if (!status.ok()) return status;
  return static_cast<DeviceAddress>(arena);
}

absl::StatusOr<SharedBytes> CudaMemory::AllocateShared(std::size_t bytes) {
  if (bytes == 0) return NothingAskedFor();
  void* host = nullptr;
  if (bytes > std::numeric_limits<std::size_t>::max() - kPage) {
    return absl::ResourceExhaustedError(
        absl::StrCat(bytes, " bytes were asked for, more than an address can say; ask for less"));
  }
  // The driver aligns pinned memory to 512 bytes only (seen on an H200).
  const CUresult result = driver_.api().cuMemHostAlloc(
      &host, bytes + kPage, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result != CUDA_SUCCESS) {
    return AllocationError(result, "cuMemHostAlloc",
                           absl::StrCat(bytes, " bytes of the machine's memory, of which ",
                                        FreeMachineBytes(), " are free,"));
  }
  pinned_.push_back(host);
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(host);
  const std::uintptr_t skip = (kPage - address % kPage) % kPage;
  host = reinterpret_cast<void*>(address + skip);
  std::memset(host, 0, bytes);
  CUdeviceptr device = 0;
  const absl::Status status =
      driver_.Check(driver_.api().cuMemHostGetDevicePointer(&device, host, 0),
                    "cuMemHostGetDevicePointer", absl::StrCat("on ", device_));
  if (!status.ok()) return status;
  return SharedBytes{.host = static_cast<std::byte*>(host),
                     .device = static_cast<DeviceAddress>(device)};
}

absl::Status CudaMemory::Zero(DeviceAddress to, std::size_t bytes) {
  std::memset(staging_, 0, std::min(bytes, kStagingBytes));
  for (std::size_t done = 0; done < bytes; done += kStagingBytes) {
    const std::size_t part = std::min(bytes - done, kStagingBytes);
    const absl::Status status =
        driver_.Check(driver_.api().cuMemcpyHtoDAsync(to + done, staging_, part, copies_->get()),
                      "cuMemcpyHtoDAsync", absl::StrCat("of ", part, " zero bytes to ", device_));
    if (!status.ok()) return status;
  }
  return copies_->Synchronize();
}

absl::Status CudaMemory::Write(DeviceAddress to, absl::Span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kStagingBytes);
    std::memcpy(staging_, bytes.data(), part);
    absl::Status status =
        driver_.Check(driver_.api().cuMemcpyHtoDAsync(to, staging_, part, copies_->get()),
                      "cuMemcpyHtoDAsync", absl::StrCat("of ", part, " bytes to ", device_));
    if (!status.ok()) return status;
    // The copy is ordered before what the worker does next only once the host has waited for it.
    status = copies_->Synchronize();
    if (!status.ok()) return status;
    to += part;
    bytes.remove_prefix(part);
  }
  return absl::OkStatus();
}

absl::Status CudaMemory::Read(DeviceAddress from, absl::Span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kStagingBytes);
    absl::Status status =
        driver_.Check(driver_.api().cuMemcpyDtoHAsync(staging_, from, part, copies_->get()),
                      "cuMemcpyDtoHAsync", absl::StrCat("of ", part, " bytes from ", device_));
    if (!status.ok()) return status;
    status = copies_->Synchronize();
    if (!status.ok()) return status;
    std::memcpy(bytes.data(), staging_, part);
    from += part;
    bytes.remove_prefix(part);
  }
  return absl::OkStatus();
}

}  // namespace gpuos::device
