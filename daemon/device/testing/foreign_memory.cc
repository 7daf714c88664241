#include "daemon/device/testing/foreign_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace gpuos::device::testing {
namespace {

class MemoryFile final : public ForeignMemory {
 public:
  explicit MemoryFile(std::uint64_t bytes)
      : descriptor_(memfd_create("client", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 ||
        fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
      throw std::runtime_error("no memory file");
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() override { close(descriptor_); }

  absl::StatusOr<Segment> ImportInto(Segments& segments) override {
    return segments.ImportMemoryFile(descriptor_);
  }
  void Write(std::uint64_t offset, absl::Span<const std::byte> bytes) override {
    if (pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("cannot write to the memory file");
    }
  }
  void Read(std::uint64_t offset, absl::Span<std::byte> bytes) override {
    if (pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("cannot read from the memory file");
    }
  }

 private:
  const int descriptor_;
};

}  // namespace

std::unique_ptr<ForeignMemory> MakeMemoryFile(std::uint64_t bytes) {
  return std::make_unique<MemoryFile>(bytes);
}

}  // namespace gpuos::device::testing
