#include "daemon/device/host/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gpuos::device {
namespace {

const char* KindOf(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "no regular file";
}

constexpr char kWanted[] =
    "; a segment is a memory file (memfd_create with MFD_ALLOW_SEALING) sealed with F_SEAL_SHRINK";

}  // namespace

absl::StatusOr<MemoryFileIdentity> InspectMemoryFile(int descriptor, std::uint64_t limit) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor cannot be examined (", strerror(errno), ")", kWanted));
  }
  if (!S_ISREG(file.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is ", KindOf(file.st_mode), kWanted));
  }
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is a file that cannot be sealed", kWanted));
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is a file without F_SEAL_SHRINK", kWanted));
  }
  const auto size = static_cast<std::uint64_t>(file.st_size);
  if (size == 0) {
    return absl::InvalidArgumentError(
        "the descriptor's memory file is empty; give it its size with ftruncate before sealing it");
  }
  if (size > limit) {
    return absl::ResourceExhaustedError(absl::StrCat("the descriptor's memory file has ", size,
                                                     " bytes; this device takes ", limit,
                                                     " at most"));
  }
  return MemoryFileIdentity{.device = file.st_dev, .inode = file.st_ino, .size = size};
}

absl::StatusOr<MemoryFileMapping> MemoryFileMapping::Map(int descriptor, std::uint64_t size) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data != MAP_FAILED) return MemoryFileMapping(static_cast<std::byte*>(data), size);
  const int error = errno;
  if (error == EACCES || error == EPERM) {
    return absl::InvalidArgumentError(
        "the descriptor's memory file may not be written; open it for writing and leave "
        "F_SEAL_WRITE away");
  }
  return absl::ResourceExhaustedError(absl::StrCat("the descriptor's memory file of ", size,
                                                   " bytes cannot be mapped (", strerror(error),
                                                   "); release segments first"));
}

MemoryFileMapping::MemoryFileMapping(MemoryFileMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MemoryFileMapping::~MemoryFileMapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace gpuos::device
