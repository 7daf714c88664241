// Test only: what exporter and parent say to each other over a socket pair.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_TESTING_EXPORTER_PROTOCOL_H_
#define GPUOS_DAEMON_DEVICE_CUDA_TESTING_EXPORTER_PROTOCOL_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace gpuos::device::testing {

// The exporter's end of the pair in its process.
inline constexpr int kExporterSocket = 3;

// First message, from the exporter.
struct ExporterHello {
  char handle[64];
  char uuid[64];  // Zero-terminated.
};

// Then one request after another from the parent. A write is followed by its bytes and answered
// with one byte; a read is answered with its bytes.
struct ExporterRequest {
  enum class Kind : std::uint32_t { kRead, kWrite };
  Kind kind;
  std::uint64_t offset;
  std::uint64_t size;
};

// Both return whether all went over.
inline bool SendAll(int socket, const void* data, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t part =
        send(socket, static_cast<const char*>(data) + done, size - done, MSG_NOSIGNAL);
    if (part <= 0) return false;
    done += static_cast<std::size_t>(part);
  }
  return true;
}
inline bool ReceiveAll(int socket, void* data, std::size_t size) {
  return recv(socket, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

}  // namespace gpuos::device::testing

#endif  // GPUOS_DAEMON_DEVICE_CUDA_TESTING_EXPORTER_PROTOCOL_H_
