#include "client/internal/connection.h"

#include <fcntl.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/support/channel_arguments.h>
#include <sys/socket.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/strip.h"
#include "client/internal/fork_check.h"
#include "client/internal/socket.h"
#include "client/internal/target.h"
#include "client/internal/unique_fd.h"

namespace gpuos::internal {
namespace {

// A channel that shares nothing with other gRPC channels of the process and looks at no
// environment.
grpc::ChannelArguments ChannelArgs() {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  return args;
}

absl::StatusOr<UniqueFd> ConnectNonBlocking(const std::string& path, absl::Time deadline) {
  absl::StatusOr<UniqueFd> fd = ConnectSocket(path, SOCK_STREAM, deadline);
  if (!fd.ok()) return fd;
  // gRPC polls; a blocking read would hold all of its calls.
  ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

// Answers that a gpuosd never gives to GetInfo: something else listens there.
bool IsNoGpuosd(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kUnimplemented ||
         status.code() == absl::StatusCode::kUnknown ||
         status.code() == absl::StatusCode::kInternal;
}

}  // namespace

Connection::Connection(std::string path, std::shared_ptr<grpc::Channel> channel)
    : path_(std::move(path)),
      control_(v1::Control::NewStub(channel)),
      operators_(v1::Operators::NewStub(channel)),
      admin_(v1::Admin::NewStub(channel)) {}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& target,
                                                             absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  absl::StatusOr<std::string> path = ResolveSocketPath(target);
  if (!path.ok()) return path.status();
  absl::StatusOr<UniqueFd> fd = ConnectNonBlocking(*path, deadline);
  if (!fd.ok()) return fd.status();
  if (absl::Status status = ClaimGrpc(); !status.ok()) return status;
  auto connection = absl::WrapUnique(new Connection(
      *path, grpc::CreateCustomInsecureChannelFromFd(*path, fd->Release(), ChannelArgs())));
  if (absl::Status status = connection->Greet(deadline); !status.ok()) return status;
  return connection;
}

absl::Status Connection::Greet(absl::Time deadline) {
  const absl::Status status =
      Call(*control_, &v1::Control::Stub::GetInfo, v1::GetInfoRequest(), &info_, deadline);
  if (!IsNoGpuosd(status)) return status;
  return absl::UnavailableError(absl::StrCat(
      "what listens at ", path_, " does not answer as gpuosd (", status.message(),
      "); look at its log (journalctl -u gpuosd) or set GPUOS_TARGET to where gpuosd listens"));
}

absl::Status Connection::Translate(const grpc::Status& status, absl::string_view request) const {
  if (status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::DeadlineExceededError(
        absl::StrCat("gpuosd at ", path_, " did not answer ", absl::StripSuffix(request, "Request"),
                     " in time; `gpuosctl status` says what it does"));
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace gpuos::internal
