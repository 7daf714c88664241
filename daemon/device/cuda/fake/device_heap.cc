#include "daemon/device/cuda/fake/device_heap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

namespace gpuos::device::fake {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
constexpr std::size_t kSmallBytes = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 512;
constexpr int kGarbage = 0xa5;
constexpr std::uint64_t kHandleMagic = 0x454c444e41484646;  // "FFHANDLE".

// What the 64 bytes of a handle say.
struct HandleWords {
  std::uint64_t magic;
  std::int32_t process;
  std::int32_t descriptor;
  std::uint64_t inode;
  std::uint64_t block_bytes;
  std::uint64_t offset;
};
static_assert(sizeof(HandleWords) <= sizeof(CUipcMemHandle));

std::size_t RoundUp(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

std::shared_ptr<Block> Block::Map(int descriptor, std::size_t bytes) {
  if (descriptor < 0) return nullptr;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    close(descriptor);
    return nullptr;
  }
  return std::shared_ptr<Block>(new Block(descriptor, data, bytes));
}

std::shared_ptr<Block> Block::Make(std::size_t bytes) {
  const int descriptor = memfd_create("fake-gpu-memory", MFD_CLOEXEC);
  if (descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    close(descriptor);
    return nullptr;
  }
  return Map(descriptor, bytes);
}

std::shared_ptr<Block> Block::Open(pid_t process, int descriptor, std::uint64_t inode,
                                   std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int own = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat file {};
  if (own >= 0 && (fstat(own, &file) != 0 || file.st_ino != inode ||
                   static_cast<std::size_t>(file.st_size) != bytes)) {
    close(own);
    return nullptr;
  }
  return Map(own, bytes);
}

Block::~Block() {
  munmap(data_, bytes_);
  close(descriptor_);
}

std::uint64_t Block::inode() const {
  struct stat file {};
  fstat(descriptor_, &file);
  return file.st_ino;
}

std::shared_ptr<Block> DeviceHeap::BlockFor(std::size_t bytes) {
  if (bytes > kSmallBytes) return Block::Make(RoundUp(bytes, kBlockBytes));
  if (small_ == nullptr || small_->bytes() - small_->used < bytes)
    small_ = Block::Make(kBlockBytes);
  return small_;
}

CUresult DeviceHeap::Allocate(std::size_t bytes, CUdeviceptr& address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > kTotalBytes - used_) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::shared_ptr<Block> block = BlockFor(bytes);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  address = block->address() + block->used;
  block->used += RoundUp(bytes, kAlignment);
  used_ += bytes;
  std::memset(reinterpret_cast<void*>(address), kGarbage, bytes);
  allocations_[address] = {.block = block, .bytes = bytes, .id = ++last_id_};
  return CUDA_SUCCESS;
}

CUresult DeviceHeap::Free(CUdeviceptr address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.imports != 0) return CUDA_ERROR_INVALID_VALUE;
  used_ -= found->second.bytes;
  allocations_.erase(found);
  return CUDA_SUCCESS;
}

DeviceHeap::Allocations::const_iterator DeviceHeap::Find(CUdeviceptr address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return allocations_.end();
  --after;
  return address - after->first < after->second.bytes ? after : allocations_.end();
}

CUresult DeviceHeap::Range(CUdeviceptr address, CUdeviceptr& base, std::size_t& bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Find(address);
  if (found == allocations_.end()) return CUDA_ERROR_NOT_FOUND;
  const bool imported = found->second.imports != 0;
  base = imported ? found->second.block->address() : found->first;
  bytes = imported ? found->second.block->bytes() : found->second.bytes;
  return CUDA_SUCCESS;
}

CUresult DeviceHeap::BufferId(CUdeviceptr address, std::uint64_t& id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Find(address);
  if (found == allocations_.end()) return CUDA_ERROR_INVALID_VALUE;
  id = found->second.id;
  return CUDA_SUCCESS;
}

CUresult DeviceHeap::Export(CUdeviceptr address, CUipcMemHandle& handle) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Find(address);
  // An import cannot be exported again.
  if (found == allocations_.end() || found->second.imports != 0) return CUDA_ERROR_INVALID_VALUE;
  const Block& block = *found->second.block;
  const HandleWords words{.magic = kHandleMagic,
                          .process = getpid(),
                          .descriptor = block.descriptor(),
                          .inode = block.inode(),
                          .block_bytes = block.bytes(),
                          .offset = found->first - block.address()};
  handle = {};
  std::memcpy(&handle, &words, sizeof(words));
  return CUDA_SUCCESS;
}

CUresult DeviceHeap::Import(const CUipcMemHandle& handle, CUdeviceptr& address) {
  HandleWords words{};
  std::memcpy(&words, &handle, sizeof(words));
  if (words.magic != kHandleMagic) return CUDA_ERROR_INVALID_VALUE;
  if (words.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [start, allocation] : allocations_) {
    if (allocation.imports == 0 || allocation.block->inode() != words.inode) continue;
    if (start != allocation.block->address() + words.offset) continue;
    ++allocation.imports;
    address = start;
    return CUDA_SUCCESS;
  }
  const std::shared_ptr<Block> block =
      Block::Open(words.process, words.descriptor, words.inode, words.block_bytes);
  if (block == nullptr) return CUDA_ERROR_MAP_FAILED;
  address = block->address() + words.offset;
  allocations_[address] = {
      .block = block, .bytes = words.block_bytes - words.offset, .id = ++last_id_, .imports = 1};
  return CUDA_SUCCESS;
}

CUresult DeviceHeap::CloseImport(CUdeviceptr address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.imports == 0) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.imports == 0) allocations_.erase(found);
  return CUDA_SUCCESS;
}

std::size_t DeviceHeap::free_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kTotalBytes - used_;
}

std::size_t DeviceHeap::live() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return allocations_.size();
}

}  // namespace gpuos::device::fake
