// A file descriptor with an owner.
#ifndef GPUOS_CLIENT_INTERNAL_UNIQUE_FD_H_
#define GPUOS_CLIENT_INTERNAL_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace gpuos::internal {

// Owns at most one descriptor and closes it when destroyed. Thread-compatible.
class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes over `fd`; -1 is none.
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Gives the descriptor up.
  int Release() { return std::exchange(fd_, -1); }
  void Reset() {
    if (valid()) ::close(Release());
  }

 private:
  int fd_ = -1;
};

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_UNIQUE_FD_H_
