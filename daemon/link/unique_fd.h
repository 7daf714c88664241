// A file descriptor with one owner.
#ifndef GPUOS_DAEMON_LINK_UNIQUE_FD_H_
#define GPUOS_DAEMON_LINK_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace gpuos::link {

// Closes the descriptor that it holds, if any, when it goes. Movable, not copyable;
// thread-compatible. Never blocks, except where close() of the file itself does.
class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes ownership of `fd`; a negative one means none.
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { reset(); }

  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;

  // The descriptor, still owned by this object; -1 if there is none.
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // Gives the descriptor to the caller, who must close it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  // Closes what is held and takes ownership of `fd`. An error of close() is not reported: on Linux
  // the descriptor is gone either way, and closing it again could hit somebody else's.
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd < 0 ? -1 : fd);
    if (old >= 0) ::close(old);
  }

 private:
  int fd_ = -1;
};

}  // namespace gpuos::link

#endif  // GPUOS_DAEMON_LINK_UNIQUE_FD_H_
