// What the tests of this room share.
#ifndef GPUOS_DAEMON_LINK_LINK_TEST_UTIL_H_
#define GPUOS_DAEMON_LINK_LINK_TEST_UTIL_H_

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/link/unique_fd.h"
#include "gpuos/v1/attach.pb.h"
#include "gtest/gtest.h"

namespace gpuos::link {

inline std::pair<UniqueFd, UniqueFd> StreamPair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// A message that is recognized by its number and has about `size` bytes.
inline v1::AttachAck MakeMessage(std::uint64_t number, std::size_t size) {
  v1::AttachAck message;
  message.set_cookie(number);
  message.set_message(std::string(size, 'x'));
  return message;
}

// Descriptors that this process has open.
inline std::size_t OpenDescriptors() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

inline UniqueFd OpenNull() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

inline bool ClosesOnExec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

// Writes raw bytes, all of them.
inline void WriteRaw(int fd, std::string_view bytes) {
  ASSERT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

}  // namespace gpuos::link

#endif  // GPUOS_DAEMON_LINK_LINK_TEST_UTIL_H_
