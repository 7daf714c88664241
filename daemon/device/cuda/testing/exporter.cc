// The parent's side.
#include "daemon/device/cuda/testing/exporter.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "daemon/device/cuda/testing/exporter_protocol.h"

extern char** environ;

namespace gpuos::device::testing {
namespace {

class Exporter final : public ForeignMemory {
 public:
  Exporter(const std::string& driver_library, std::uint64_t bytes) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::runtime_error("no socket pair");
    }
    socket_ = ends[0];
    Spawn(ends[1], driver_library, std::to_string(bytes));
    close(ends[1]);
    if (!ReceiveAll(socket_, &hello_, sizeof(hello_))) {
      Stop();
      throw std::runtime_error("the exporter said nothing");
    }
  }
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  ~Exporter() override { Stop(); }

  absl::StatusOr<Segment> ImportInto(Segments& segments) override {
    return segments.ImportCudaIpc(
        {reinterpret_cast<const std::byte*>(hello_.handle), sizeof(hello_.handle)}, hello_.uuid);
  }
  void Write(std::uint64_t offset, absl::Span<const std::byte> bytes) override {
    char done = 0;
    Ask({.kind = ExporterRequest::Kind::kWrite, .offset = offset, .size = bytes.size()});
    if (!SendAll(socket_, bytes.data(), bytes.size()) || !ReceiveAll(socket_, &done, 1)) {
      throw std::runtime_error("the exporter did not write");
    }
  }
  void Read(std::uint64_t offset, absl::Span<std::byte> bytes) override {
    Ask({.kind = ExporterRequest::Kind::kRead, .offset = offset, .size = bytes.size()});
    if (!ReceiveAll(socket_, bytes.data(), bytes.size())) {
      throw std::runtime_error("the exporter did not read");
    }
  }

 private:
  void Spawn(int its_end, const std::string& driver_library, const std::string& bytes) {
    const std::string program = "/proc/self/exe";
    const char* arguments[] = {program.c_str(), kExporterFlag, driver_library.c_str(),
                               bytes.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, its_end, kExporterSocket);
    const int error = posix_spawn(&process_, program.c_str(), &actions, nullptr,
                                  const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("the exporter cannot be started");
  }
  void Ask(const ExporterRequest& request) {
    if (!SendAll(socket_, &request, sizeof(request))) {
      throw std::runtime_error("the exporter is gone");
    }
  }
  // It ends when its socket does.
  void Stop() {
    close(socket_);
    waitpid(process_, nullptr, 0);
  }

  int socket_ = -1;
  pid_t process_ = -1;
  ExporterHello hello_{};
};

}  // namespace

std::unique_ptr<ForeignMemory> StartExporter(const std::string& driver_library,
                                             std::uint64_t bytes) {
  return std::make_unique<Exporter>(driver_library, bytes);
}

}  // namespace gpuos::device::testing
