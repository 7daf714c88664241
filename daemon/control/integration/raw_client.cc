#include "daemon/control/integration/raw_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/control/attach_packet.h"

namespace gpuos::control {
namespace {

constexpr int kPatienceMilliseconds = 20000;

link::UniqueFd Connect(const std::string& path, int type) {
  link::UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return link::UniqueFd();
  }
  return socket;
}

// Returns `path` once somebody listens there: gRPC takes seconds to try again after a first
// failure.
const std::string& WaitForListener(const std::string& path) {
  for (int waited = 0; waited < kPatienceMilliseconds; waited += 2) {
    if (Connect(path, SOCK_STREAM).valid()) break;
    usleep(2000);
  }
  return path;
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  // A connection of its own, also beside other clients of this process.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

MappedSegment::MappedSegment(std::uint64_t id, const link::UniqueFd& file, std::size_t size)
    : id_(id),
      memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0)),
      size_(size) {
  if (memory_ == MAP_FAILED) std::abort();
}

MappedSegment::~MappedSegment() { munmap(memory_, size_); }

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(kPatienceMilliseconds));
}

RawClient::RawClient(const std::string& socket)
    : channel_(MakeChannel(WaitForListener(socket))),
      control_(v1::Control::NewStub(channel_)),
      admin_(v1::Admin::NewStub(channel_)),
      operators_(v1::Operators::NewStub(channel_)),
      socket_(socket) {}

grpc::Status RawClient::Open(const std::string& name) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::OpenSessionRequest request;
    request.set_client_name(name);
    v1::OpenSessionResponse response;
    const grpc::Status status = control_->OpenSession(&context, request, &response);
    session_ = response.session();
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE ||
        std::chrono::steady_clock::now() > deadline) {
      return status;
    }
    usleep(10000);
  }
}

void RawClient::ConnectAttach() { attach_ = Connect(socket_ + ".attach", SOCK_SEQPACKET); }

v1::AttachAck RawClient::Attach(std::optional<std::string> token) {
  ConnectAttach();
  v1::AttachClientMessage message;
  message.mutable_hello()->set_session(session_.id());
  message.mutable_hello()->set_token(token.value_or(session_.token()));
  SendAttachPacket(attach_.get(), message.SerializeAsString(), -1).IgnoreError();
  std::optional<v1::AttachServerMessage> answer = Receive();
  return answer.has_value() ? answer->ack() : v1::AttachAck();
}

grpc::Status RawClient::OpenAndAttach() {
  grpc::Status status = Open();
  if (!status.ok()) return status;
  const v1::AttachAck ack = Attach();
  return grpc::Status(static_cast<grpc::StatusCode>(ack.code()), ack.message());
}

grpc::Status RawClient::Close() {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::CloseSessionRequest request;
  *request.mutable_session() = session_;
  v1::CloseSessionResponse response;
  return control_->CloseSession(&context, request, &response);
}

v1::AttachAck RawClient::SendDescriptor(std::uint64_t cookie, int descriptor) {
  v1::AttachClientMessage message;
  message.mutable_memory()->set_cookie(cookie);
  SendAttachPacket(attach_.get(), message.SerializeAsString(), descriptor).IgnoreError();
  std::optional<v1::AttachServerMessage> answer = Receive();
  return answer.has_value() ? answer->ack() : v1::AttachAck();
}

std::optional<v1::AttachServerMessage> RawClient::Receive(link::UniqueFd* descriptor) {
  pollfd readable = {.fd = attach_.get(), .events = POLLIN, .revents = 0};
  poll(&readable, 1, kPatienceMilliseconds);
  absl::StatusOr<AttachPacket> packet = ReceiveAttachPacket(attach_.get());
  v1::AttachServerMessage message;
  if (!packet.ok() || !message.ParseFromString(packet->bytes)) return std::nullopt;
  if (descriptor != nullptr) *descriptor = std::move(packet->descriptor);
  return message;
}

grpc::Status RawClient::CreateSegment(std::uint64_t size, std::unique_ptr<MappedSegment>* segment) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::CreateSegmentRequest request;
  *request.mutable_session() = session_;
  request.set_size(size);
  v1::CreateSegmentResponse response;
  const grpc::Status status = control_->CreateSegment(&context, request, &response);
  if (!status.ok()) return status;
  link::UniqueFd file;
  std::optional<v1::AttachServerMessage> message = Receive(&file);
  if (!message.has_value() || message->memory().cookie() != response.cookie() || !file.valid()) {
    return grpc::Status(grpc::StatusCode::DATA_LOSS, "no memory file came");
  }
  *segment = std::make_unique<MappedSegment>(response.segment(), file, response.size());
  return status;
}

grpc::Status RawClient::RegisterDescriptor(std::uint64_t cookie,
                                           v1::RegisterSegmentResponse* response) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::RegisterSegmentRequest request;
  *request.mutable_session() = session_;
  request.set_descriptor_cookie(cookie);
  return control_->RegisterSegment(&context, request, response);
}

grpc::Status RawClient::ReleaseSegment(std::uint64_t segment) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ReleaseSegmentRequest request;
  *request.mutable_session() = session_;
  request.set_segment(segment);
  v1::ReleaseSegmentResponse response;
  return control_->ReleaseSegment(&context, request, &response);
}

grpc::Status RawClient::CreateProgram(const v1::Program& program, std::uint64_t* id) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::CreateProgramRequest request;
  *request.mutable_session() = session_;
  *request.mutable_program() = program;
  v1::CreateProgramResponse response;
  const grpc::Status status = control_->CreateProgram(&context, request, &response);
  *id = response.program();
  return status;
}

grpc::Status RawClient::ReleaseProgram(std::uint64_t id) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ReleaseProgramRequest request;
  *request.mutable_session() = session_;
  request.set_program(id);
  v1::ReleaseProgramResponse response;
  return control_->ReleaseProgram(&context, request, &response);
}

grpc::Status RawClient::Submit(std::uint64_t program, const std::vector<std::uint64_t>& segments,
                               bool wait, std::uint64_t* value) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::SubmitBatchRequest request;
  *request.mutable_session() = session_;
  request.set_program(program);
  request.set_wait(wait);
  for (const std::uint64_t segment : segments) request.add_bindings()->set_segment(segment);
  v1::SubmitBatchResponse response;
  const grpc::Status status = control_->SubmitBatch(&context, request, &response);
  if (value != nullptr) *value = response.value();
  return status;
}

grpc::Status RawClient::Wait(std::uint64_t value) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::WaitBatchRequest request;
  *request.mutable_session() = session_;
  request.set_value(value);
  v1::WaitBatchResponse response;
  return control_->WaitBatch(&context, request, &response);
}

v1::GetStatusResponse RawClient::GetStatus() {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::GetStatusResponse response;
  admin_->GetStatus(&context, v1::GetStatusRequest(), &response);
  return response;
}

link::UniqueFd MakeTestMemory(std::size_t size, bool sealed) {
  link::UniqueFd file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (ftruncate(file.get(), static_cast<off_t>(size)) != 0) std::abort();
  if (sealed && fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) std::abort();
  return file;
}

v1::Program OneTask(const std::string& op, int operands, std::int64_t n) {
  constexpr std::uint64_t kSlotBytes = 4096;
  v1::Program program;
  v1::Task& task = *program.add_tasks();
  task.set_op(op);
  for (int i = 0; i < operands; ++i) {
    program.add_slots()->set_length(kSlotBytes);
    v1::View& view = *task.add_operands();
    view.set_slot(static_cast<std::uint32_t>(i));
    view.set_dtype(v1::DTYPE_F32);
    view.add_sizes(n);
    view.add_strides(1);
  }
  return program;
}

}  // namespace gpuos::control
