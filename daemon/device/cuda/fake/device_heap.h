// The fake GPU's memory: memory files, so that another process can map what was exported.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_FAKE_DEVICE_HEAP_H_
#define GPUOS_DAEMON_DEVICE_CUDA_FAKE_DEVICE_HEAP_H_

#include <cuda.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace gpuos::device::fake {

// A mapped memory file; unmapped and closed with the object.
class Block {
 public:
  // Null when the machine has no memory or descriptor left.
  static std::shared_ptr<Block> Make(std::size_t bytes);
  // Maps the file of another process; null if it is not there or is not the file with `inode`.
  static std::shared_ptr<Block> Open(pid_t process, int descriptor, std::uint64_t inode,
                                     std::size_t bytes);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(data_); }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t inode() const;

  std::size_t used = 0;  // For the heap: bytes handed out.

 private:
  Block(int descriptor, void* data, std::size_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}
  static std::shared_ptr<Block> Map(int descriptor, std::size_t bytes);

  const int descriptor_;
  void* const data_;
  const std::size_t bytes_;
};

// Allocations and imports of this process. As the real driver does, small allocations share a
// block, and an exported handle gives the whole block away. Fresh memory is not zero. Thread-safe.
class DeviceHeap {
 public:
  static constexpr std::size_t kTotalBytes = std::size_t{8} << 30;

  CUresult Allocate(std::size_t bytes, CUdeviceptr& address);
  CUresult Free(CUdeviceptr address);
  // The allocation or import that holds `address`. INVALID_VALUE or NOT_FOUND as the driver.
  CUresult Range(CUdeviceptr address, CUdeviceptr& base, std::size_t& bytes) const;
  // A number that no other allocation of this process has had, for CU_POINTER_ATTRIBUTE_BUFFER_ID.
  CUresult BufferId(CUdeviceptr address, std::uint64_t& id) const;

  CUresult Export(CUdeviceptr address, CUipcMemHandle& handle) const;
  CUresult Import(const CUipcMemHandle& handle, CUdeviceptr& address);
  CUresult CloseImport(CUdeviceptr address);

  std::size_t free_bytes() const;
  std::size_t live() const;  // Allocations and open imports.

 private:
  struct Allocation {
    std::shared_ptr<Block> block;
    std::size_t bytes = 0;
    std::uint64_t id = 0;
    std::uint64_t imports = 0;  // Times that this import is open; 0 for an allocation.
  };
  using Allocations = std::map<CUdeviceptr, Allocation>;

  // Both: REQUIRES mutex_.
  Allocations::const_iterator Find(CUdeviceptr address) const;
  std::shared_ptr<Block> BlockFor(std::size_t bytes);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Allocations allocations_;
  std::shared_ptr<Block> small_;  // Where the next small allocation goes.
  std::size_t used_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace gpuos::device::fake

#endif  // GPUOS_DAEMON_DEVICE_CUDA_FAKE_DEVICE_HEAP_H_
