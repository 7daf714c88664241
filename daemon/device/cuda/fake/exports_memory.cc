// Entry points: memory, copies, sharing between processes.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "daemon/device/cuda/fake/exports.h"

namespace {

using gpuos::device::fake::Machine;
using gpuos::device::fake::Stream;

constexpr std::size_t kPage = 4096;
// The driver aligns pinned memory to this and no more (seen on an H200).
constexpr std::size_t kPinnedAlignment = 512;
constexpr int kGarbage = 0x5a;

// Pinned memory by its address, with its size.
class Pinned {
 public:
  void Add(void* host, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[host] = bytes;
    ++Machine::Get().objects;
  }
  // Whether the address lies in pinned memory.
  bool Has(void* host) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto block = blocks_.upper_bound(host);
    if (block == blocks_.begin()) return false;
    --block;
    return static_cast<char*>(host) < static_cast<char*>(block->first) + block->second;
  }
  bool Remove(void* host) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (blocks_.erase(host) == 0) return false;
    --Machine::Get().objects;
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
};

Pinned& AllPinned() {
  static auto& pinned = *new Pinned();
  return pinned;
}

CUresult PutCopy(CUstream stream, void* to, const void* from, std::size_t bytes) {
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  reinterpret_cast<Stream*>(stream)->pending.emplace_back([=] { std::memcpy(to, from, bytes); });
  return CUDA_SUCCESS;
}

void* Bytes(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  GPUOS_FAKE_ENTER(cuMemAlloc)
  return Machine::Get().heap().Allocate(bytes, *address);
}

CUresult cuMemFree(CUdeviceptr address) {
  GPUOS_FAKE_ENTER_WAITING(cuMemFree)
  return Machine::Get().heap().Free(address);
}

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  GPUOS_FAKE_ENTER(cuMemGetInfo)
  *free = Machine::Get().heap().free_bytes();
  *total = gpuos::device::fake::DeviceHeap::kTotalBytes;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  GPUOS_FAKE_ENTER(cuMemGetAddressRange)
  CUdeviceptr found_base = 0;
  std::size_t found_bytes = 0;
  const CUresult result = Machine::Get().heap().Range(address, found_base, found_bytes);
  if (base != nullptr) *base = found_base;
  if (bytes != nullptr) *bytes = found_bytes;
  return result;
}

CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned flags) {
  GPUOS_FAKE_ENTER(cuMemHostAlloc)
  static_cast<void>(flags);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > gpuos::device::fake::DeviceHeap::kTotalBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::size_t pages = (bytes + kPinnedAlignment + kPage - 1) / kPage * kPage;
  auto* block = static_cast<char*>(std::aligned_alloc(kPage, pages));
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(block, kGarbage, pages);
  *host = block + kPinnedAlignment;
  AllPinned().Add(*host, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* host) {
  GPUOS_FAKE_ENTER_WAITING(cuMemFreeHost)
  if (!AllPinned().Remove(host)) return CUDA_ERROR_INVALID_VALUE;
  std::free(static_cast<char*>(host) - kPinnedAlignment);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
  GPUOS_FAKE_ENTER(cuMemHostGetDevicePointer)
  if (flags != 0 || !AllPinned().Has(host)) return CUDA_ERROR_INVALID_VALUE;
  *address = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void* host, std::size_t bytes, unsigned flags) {
  GPUOS_FAKE_ENTER(cuMemHostRegister)
  static_cast<void>(flags);
  AllPinned().Add(host, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void* host) {
  GPUOS_FAKE_ENTER_WAITING(cuMemHostUnregister)
  return AllPinned().Remove(host) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  GPUOS_FAKE_ENTER(cuMemcpyHtoDAsync)
  return PutCopy(stream, Bytes(to), from, bytes);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  GPUOS_FAKE_ENTER(cuMemcpyDtoHAsync)
  return PutCopy(stream, to, Bytes(from), bytes);
}

// Synchronous copies, for clients; on a GPU they run on the default stream beside the worker.
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  GPUOS_FAKE_ENTER(cuMemcpyHtoD)
  std::memcpy(Bytes(to), from, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  GPUOS_FAKE_ENTER(cuMemcpyDtoH)
  std::memcpy(to, Bytes(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  GPUOS_FAKE_ENTER(cuPointerGetAttribute)
  std::uint64_t id = 0;
  const CUresult result = Machine::Get().heap().BufferId(address, id);
  if (result != CUDA_SUCCESS) return result;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  Machine::Get().heap().Range(address, base, bytes);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(data) = id;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(data) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<unsigned*>(data) = 1;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(data) = base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t*>(data) = bytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  GPUOS_FAKE_ENTER(cuIpcGetMemHandle)
  return Machine::Get().heap().Export(address, *handle);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  GPUOS_FAKE_ENTER(cuIpcOpenMemHandle)
  if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  return Machine::Get().heap().Import(handle, *address);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  GPUOS_FAKE_ENTER_WAITING(cuIpcCloseMemHandle)
  return Machine::Get().heap().CloseImport(address);
}

}  // extern "C"
