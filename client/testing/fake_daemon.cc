#include "client/testing/fake_daemon.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "absl/memory/memory.h"

namespace gpuos::testing {
namespace {

v1::DeviceInfo DeviceOf(const FakeDaemon::Options& options) {
  v1::DeviceInfo device;
  device.set_name(options.device);
  device.set_uuid(options.device_uuid);
  return device;
}

}  // namespace

FakeDaemon::FakeDaemon(Options options) {
  const std::string attach_path = directory_.File("gpuosd.sock.attach");
  attach_ = std::make_unique<FakeAttachServer>(
      attach_path, [this](std::uint64_t, const v1::AttachClientMessage& message) -> absl::Status {
        if (!message.has_hello()) return state_.Scripted("AttachMemory");
        if (absl::Status status = state_.Scripted("AttachHello"); !status.ok()) return status;
        return state_.CheckSession(message.hello().session(), message.hello().token());
      });
  control_ = std::make_unique<FakeControl>(&state_, attach_.get(), attach_path, DeviceOf(options));
  operators_.operators = std::move(options.operators);
  admin_.status = std::move(options.status);
  admin_.clients = std::move(options.clients);
}

FakeDaemon::~FakeDaemon() { Stop(); }

absl::StatusOr<std::unique_ptr<FakeDaemon>> FakeDaemon::Start(Options options) {
  auto daemon = absl::WrapUnique(new FakeDaemon(std::move(options)));
  if (absl::Status status = daemon->Listen(); !status.ok()) return status;
  return daemon;
}

absl::Status FakeDaemon::Listen() {
  if (absl::Status status = attach_->Start(); !status.ok()) return status;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket_path(), grpc::InsecureServerCredentials());
  builder.RegisterService(control_.get());
  builder.RegisterService(&operators_);
  builder.RegisterService(&admin_);
  builder.SetMaxReceiveMessageSize(-1);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("the fake daemon's server does not start");
  return absl::OkStatus();
}

void FakeDaemon::Stop() {
  attach_->Stop();
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

}  // namespace gpuos::testing
