#include "daemon/control/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {
namespace {

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "a file of another kind";
}

}  // namespace

absl::StatusOr<MemoryFile> MakeMemoryFile(std::uint64_t size) {
  if (size == 0 || size > kMaxSegmentBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("size ", size, " is not in 1 to ", kMaxSegmentBytes, " (2^40); ask for less"));
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  MemoryFile file;
  file.size = (size + page - 1) / page * page;
  file.descriptor = link::UniqueFd(memfd_create("gpuos-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.descriptor.get() < 0 ||
      ftruncate(file.descriptor.get(), static_cast<off_t>(file.size)) != 0 ||
      fcntl(file.descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot make a memory file of ", file.size, " bytes: ", std::strerror(errno)));
  }
  return file;
}

absl::Status CheckMemoryFile(int descriptor) {
  constexpr char kWanted[] = "; send a memory file (memfd_create) with F_SEAL_SHRINK";
  struct stat about = {};
  if (fstat(descriptor, &about) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the descriptor is not readable", kWanted));
  }
  if (!S_ISREG(about.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is ", KindOf(about.st_mode), kWanted));
  }
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is a file that cannot be sealed", kWanted));
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the descriptor is a memory file without F_SEAL_SHRINK", kWanted));
  }
  if (about.st_size <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("the memory file is empty", kWanted));
  }
  return absl::OkStatus();
}

}  // namespace gpuos::control
