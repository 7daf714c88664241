#include "daemon/control/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gpuos::control {
namespace {

std::string ReadPid(int file) {
  std::array<char, 32> text = {};
  const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
  absl::string_view pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  absl::ConsumeSuffix(&pid, "\n");
  return pid.empty() ? "unknown" : std::string(pid);
}

// Whether `path` still names the file that is open: its owner removes it when it ends.
bool IsFileAt(int file, const std::string& path) {
  struct stat open_file = {};
  struct stat named = {};
  return fstat(file, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

absl::Status CannotOpen(const std::string& path, int error) {
  return absl::ErrnoToStatus(
      error,
      absl::StrCat("cannot make the lock file ", path,
                   "; make its directory writable for this user or choose another --socket"));
}

}  // namespace

absl::StatusOr<SocketLock> SocketLock::Acquire(const std::string& socket_path) {
  std::string path = socket_path + ".lock";
  for (;;) {
    link::UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file.get() < 0) return CannotOpen(path, errno);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      return absl::FailedPreconditionError(absl::StrCat("another gpuosd (pid ", ReadPid(file.get()),
                                                        ") serves ", socket_path,
                                                        "; stop it or choose another --socket"));
    }
    if (!IsFileAt(file.get(), path)) continue;
    const std::string pid = absl::StrCat(getpid(), "\n");
    if (ftruncate(file.get(), 0) != 0 ||
        pwrite(file.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot write the lock file ", path));
    }
    return SocketLock(std::move(path), std::move(file));
  }
}

SocketLock::SocketLock(std::string path, link::UniqueFd file)
    : path_(std::move(path)), file_(std::move(file)) {}

SocketLock::~SocketLock() {
  // A moved-from lock has no file. Removed while locked: whoever opened it meanwhile sees that the
  // name has gone and starts over.
  if (file_.get() >= 0) unlink(path_.c_str());
}

}  // namespace gpuos::control
