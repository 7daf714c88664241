// For tests: a client that speaks the protocol by hand, also wrongly.
#ifndef GPUOS_DAEMON_CONTROL_INTEGRATION_RAW_CLIENT_H_
#define GPUOS_DAEMON_CONTROL_INTEGRATION_RAW_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/link/unique_fd.h"
#include "gpuos/v1/admin.grpc.pb.h"
#include "gpuos/v1/attach.pb.h"
#include "gpuos/v1/control.grpc.pb.h"
#include "gpuos/v1/operators.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace gpuos::control {

// Memory of a segment, mapped here; unmapped when it goes.
class MappedSegment {
 public:
  MappedSegment(std::uint64_t id, const link::UniqueFd& file, std::size_t size);
  ~MappedSegment();
  MappedSegment(const MappedSegment&) = delete;
  MappedSegment& operator=(const MappedSegment&) = delete;

  std::uint64_t id() const { return id_; }
  float* floats() const { return static_cast<float*>(memory_); }
  std::int64_t* integers() const { return static_cast<std::int64_t*>(memory_); }

 private:
  const std::uint64_t id_;
  void* const memory_;
  const std::size_t size_;
};

// One gRPC connection and one attach connection. Every call has a deadline of 20 s.
// Thread-compatible, except for calls on the stubs.
class RawClient {
 public:
  // Waits until gpuosd listens at `socket`, 20 s at most.
  explicit RawClient(const std::string& socket);

  v1::Control::Stub& control() { return *control_; }
  v1::Admin::Stub& admin() { return *admin_; }
  v1::Operators::Stub& operators() { return *operators_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Opens a session until the daemon is ready, 20 s at most.
  grpc::Status Open(const std::string& name = "raw");
  // Connects to the attach socket and says hello with the session's token, or another.
  v1::AttachAck Attach(std::optional<std::string> token = std::nullopt);
  grpc::Status OpenAndAttach();
  grpc::Status Close();
  void Detach() { attach_.reset(); }

  const v1::SessionHandle& session() const { return session_; }
  v1::SessionHandle* mutable_session() { return &session_; }
  int attach_socket() const { return attach_.get(); }
  // Connects without hello.
  void ConnectAttach();

  // Sends a descriptor and returns its acknowledgement.
  v1::AttachAck SendDescriptor(std::uint64_t cookie, int descriptor);
  // The next message on the attach connection; nothing at its end.
  std::optional<v1::AttachServerMessage> Receive(link::UniqueFd* descriptor = nullptr);

  grpc::Status CreateSegment(std::uint64_t size, std::unique_ptr<MappedSegment>* segment);
  grpc::Status RegisterDescriptor(std::uint64_t cookie, v1::RegisterSegmentResponse* response);
  grpc::Status ReleaseSegment(std::uint64_t segment);
  grpc::Status CreateProgram(const v1::Program& program, std::uint64_t* id);
  grpc::Status ReleaseProgram(std::uint64_t id);
  // Binds slots to the starts of `segments`.
  grpc::Status Submit(std::uint64_t program, const std::vector<std::uint64_t>& segments, bool wait,
                      std::uint64_t* value = nullptr);
  grpc::Status Wait(std::uint64_t value);
  v1::GetStatusResponse GetStatus();

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Control::Stub> control_;
  std::unique_ptr<v1::Admin::Stub> admin_;
  std::unique_ptr<v1::Operators::Stub> operators_;
  const std::string socket_;
  v1::SessionHandle session_;
  link::UniqueFd attach_;
};

// A deadline for every call of a test.
void SetDeadline(grpc::ClientContext& context);

// A memory file of `size` bytes with F_SEAL_SHRINK if `sealed`.
link::UniqueFd MakeTestMemory(std::size_t size, bool sealed);

// A program of one task over slots of 4,096 bytes: operands[i] is a vector of `n` f32 in slot i.
v1::Program OneTask(const std::string& op, int operands, std::int64_t n);

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_INTEGRATION_RAW_CLIENT_H_
