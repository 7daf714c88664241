// What a client can send wrongly: a clear status for it, and gpuosd goes on serving others.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "daemon/control/attach_packet.h"
#include "daemon/control/integration/gpuosd_process.h"
#include "daemon/control/integration/raw_client.h"
#include "gpuos/v1/attach.pb.h"
#include "gpuos/v1/control.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

using grpc::StatusCode;

// One gpuosd for all tests: each leaves it as it was.
class GpuosdBadInputTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory();
    gpuosd_ = new GpuosdProcess({.socket = Socket(), .test_executor = false});
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(gpuosd_->Stop(), 0);
    delete gpuosd_;
    delete directory_;
  }
  static std::string Socket() { return directory_->File("s"); }

  void SetUp() override { ASSERT_TRUE(client_.OpenAndAttach().ok()); }

  // Others are served: after what the test did, a batch runs.
  void TearDown() override {
    RawClient other(Socket());
    ASSERT_TRUE(other.OpenAndAttach().ok());
    std::unique_ptr<MappedSegment> a, b;
    ASSERT_TRUE(other.CreateSegment(4096, &a).ok());
    ASSERT_TRUE(other.CreateSegment(4096, &b).ok());
    std::uint64_t program = 0;
    ASSERT_TRUE(other.CreateProgram(OneTask("neg", 2, 4), &program).ok());
    b->floats()[3] = 2.0f;
    ASSERT_TRUE(other.Submit(program, {a->id(), b->id()}, true).ok());
    EXPECT_EQ(a->floats()[3], -2.0f);
    EXPECT_TRUE(other.Close().ok());
  }

  // A raw connection of `type` to `path`, whose ends a test sees within 5 s.
  static link::UniqueFd Connect(const std::string& path, int type) {
    link::UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience = {.tv_sec = 5, .tv_usec = 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return socket;
  }

  // Whether the other side closes the connection; what it says before is ignored.
  static bool IsClosed(int socket) {
    char bytes[4096];
    for (;;) {
      const ssize_t size = recv(socket, bytes, sizeof(bytes), 0);
      if (size <= 0) return size == 0 || errno == ECONNRESET;
    }
  }

  static TemporaryDirectory* directory_;
  static GpuosdProcess* gpuosd_;
  RawClient client_{Socket()};
};

TemporaryDirectory* GpuosdBadInputTest::directory_ = nullptr;
GpuosdProcess* GpuosdBadInputTest::gpuosd_ = nullptr;

TEST_F(GpuosdBadInputTest, AnotherTokenIsUnauthenticatedAndAnotherIdNotFound) {
  const v1::SessionHandle own = client_.session();
  client_.mutable_session()->set_token("0123456789abcdef");
  std::uint64_t program = 0;
  EXPECT_EQ(client_.CreateProgram(OneTask("neg", 2, 1), &program).error_code(),
            StatusCode::UNAUTHENTICATED);
  client_.mutable_session()->set_token("");
  EXPECT_EQ(client_.Close().error_code(), StatusCode::UNAUTHENTICATED);
  *client_.mutable_session() = own;
  client_.mutable_session()->set_id(own.id() + 1000);
  EXPECT_EQ(client_.Close().error_code(), StatusCode::NOT_FOUND);
}

TEST_F(GpuosdBadInputTest, ASessionThatIsNotAttachedCanOnlyBeClosed) {
  RawClient waiting(Socket());
  ASSERT_TRUE(waiting.Open().ok());
  std::uint64_t program = 0;
  EXPECT_EQ(waiting.CreateProgram(OneTask("neg", 2, 1), &program).error_code(),
            StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(waiting.Close().ok());
  EXPECT_EQ(waiting.Close().error_code(), StatusCode::NOT_FOUND);
}

TEST_F(GpuosdBadInputTest, AttachingNeedsTheToken) {
  RawClient thief(Socket());
  ASSERT_TRUE(thief.Open().ok());
  const v1::AttachAck ack = thief.Attach("0123456789abcdef");
  EXPECT_EQ(ack.code(), static_cast<int>(StatusCode::UNAUTHENTICATED));
  EXPECT_TRUE(IsClosed(thief.attach_socket()));
  // The attempt of another does not end the session.
  EXPECT_EQ(thief.Attach().code(), 0);
  EXPECT_TRUE(thief.Close().ok());
}

TEST_F(GpuosdBadInputTest, ASessionIsAttachedOnce) {
  const int first = dup(client_.attach_socket());
  const v1::AttachAck ack = client_.Attach();
  EXPECT_EQ(ack.code(), static_cast<int>(StatusCode::FAILED_PRECONDITION));
  close(first);
}

TEST_F(GpuosdBadInputTest, ASegmentOfAnotherSessionIsNotFound) {
  RawClient other(Socket());
  ASSERT_TRUE(other.OpenAndAttach().ok());
  std::unique_ptr<MappedSegment> foreign, own;
  ASSERT_TRUE(other.CreateSegment(4096, &foreign).ok());
  ASSERT_TRUE(client_.CreateSegment(4096, &own).ok());
  std::uint64_t program = 0;
  ASSERT_TRUE(client_.CreateProgram(OneTask("neg", 2, 1), &program).ok());
  EXPECT_EQ(client_.Submit(program, {own->id(), foreign->id()}, true).error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(client_.ReleaseSegment(foreign->id()).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(other.Submit(program, {foreign->id(), foreign->id()}, true).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(GpuosdBadInputTest, DescriptorsThatAreNoSealedMemoryAreRefusedWithWhatTheyAre) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const link::UniqueFd reading(ends[0]), writing(ends[1]);
  const link::UniqueFd directory(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const link::UniqueFd unsealed = MakeTestMemory(4096, /*sealed=*/false);
  const link::UniqueFd empty = MakeTestMemory(0, /*sealed=*/true);
  const link::UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const struct {
    int descriptor;
    const char* what;
  } cases[] = {{reading.get(), "a pipe"},
               {directory.get(), "a directory"},
               {unsealed.get(), "without F_SEAL_SHRINK"},
               {empty.get(), "is empty"},
               {file.get(), "cannot be sealed"},
               {-1, "without a descriptor"}};
  std::uint64_t cookie = 0;
  for (const auto& [descriptor, what] : cases) {
    const v1::AttachAck ack = client_.SendDescriptor(++cookie, descriptor);
    EXPECT_EQ(ack.code(), static_cast<int>(StatusCode::INVALID_ARGUMENT)) << what;
    EXPECT_NE(ack.message().find(what), std::string::npos) << ack.message();
    v1::RegisterSegmentResponse segment;
    EXPECT_EQ(client_.RegisterDescriptor(cookie, &segment).error_code(), StatusCode::NOT_FOUND);
  }
}

TEST_F(GpuosdBadInputTest, OnlySoManyUnregisteredDescriptorsAreKept) {
  const link::UniqueFd memory = MakeTestMemory(4096, /*sealed=*/true);
  for (std::uint64_t cookie = 1; cookie <= 64; ++cookie) {
    ASSERT_EQ(client_.SendDescriptor(cookie, memory.get()).code(), 0);
  }
  EXPECT_EQ(client_.SendDescriptor(65, memory.get()).code(),
            static_cast<int>(StatusCode::RESOURCE_EXHAUSTED));
  EXPECT_EQ(client_.SendDescriptor(1, memory.get()).code(),
            static_cast<int>(StatusCode::ALREADY_EXISTS));
  v1::RegisterSegmentResponse segment;
  EXPECT_TRUE(client_.RegisterDescriptor(1, &segment).ok());
  EXPECT_EQ(client_.SendDescriptor(65, memory.get()).code(), 0);
}

TEST_F(GpuosdBadInputTest, CudaMemoryIsRefusedOnTheHost) {
  grpc::ClientContext context;
  v1::RegisterSegmentRequest request;
  *request.mutable_session() = client_.session();
  request.mutable_cuda_ipc()->set_handle("short");
  v1::RegisterSegmentResponse response;
  EXPECT_EQ(client_.control().RegisterSegment(&context, request, &response).error_code(),
            StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext again;
  request.mutable_cuda_ipc()->set_handle(std::string(64, 'x'));
  const grpc::Status status = client_.control().RegisterSegment(&again, request, &response);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(status.error_message().empty());
}

TEST_F(GpuosdBadInputTest, GarbageOnTheGrpcSocketClosesThatConnectionOnly) {
  const link::UniqueFd socket = Connect(Socket(), SOCK_STREAM);
  const std::string garbage(5000, '\x5a');
  ASSERT_GT(send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(IsClosed(socket.get()));
}

TEST_F(GpuosdBadInputTest, GarbageOnTheAttachSocketClosesThatConnectionOnly) {
  const std::vector<std::string> packets = {std::string(100, '\xff'), std::string(4097, 'x'), "",
                                            v1::AttachClientMessage().SerializeAsString() + "\x12"};
  for (const std::string& packet : packets) {
    const link::UniqueFd socket = Connect(Socket() + ".attach", SOCK_SEQPACKET);
    ASSERT_GE(send(socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL), 0);
    EXPECT_TRUE(IsClosed(socket.get()));
  }
}

TEST_F(GpuosdBadInputTest, GarbageOfAnAttachedClientEndsItsSession) {
  const std::string garbage(100, '\xff');
  ASSERT_GT(send(client_.attach_socket(), garbage.data(), garbage.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(Eventually([&] { return client_.Close().error_code() == StatusCode::NOT_FOUND; }));
}

TEST_F(GpuosdBadInputTest, SeveralDescriptorsInOnePacketAreClosedWithTheConnection) {
  const link::UniqueFd memory = MakeTestMemory(4096, /*sealed=*/true);
  int descriptors[2] = {memory.get(), memory.get()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(descriptors))] = {};
  v1::AttachClientMessage hello;
  hello.mutable_memory()->set_cookie(1);
  std::string bytes = hello.SerializeAsString();
  iovec part = {bytes.data(), bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof(descriptors));
  std::memcpy(CMSG_DATA(item), descriptors, sizeof(descriptors));
  const std::uint32_t before = client_.GetStatus().open_descriptors();
  ASSERT_GT(sendmsg(client_.attach_socket(), &message, MSG_NOSIGNAL), 0);
  EXPECT_TRUE(IsClosed(client_.attach_socket()));
  EXPECT_TRUE(Eventually([&] { return client_.GetStatus().open_descriptors() < before; }));
}

TEST_F(GpuosdBadInputTest, RequestsOutOfRangeNameTheFieldAndTheLimit) {
  std::unique_ptr<MappedSegment> segment;
  const grpc::Status zero = client_.CreateSegment(0, &segment);
  EXPECT_EQ(zero.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(zero.error_message().find("size 0"), std::string::npos);
  EXPECT_EQ(client_.CreateSegment(std::uint64_t{1} << 41, &segment).error_code(),
            StatusCode::INVALID_ARGUMENT);
  RawClient named(Socket());
  EXPECT_EQ(named.Open(std::string(129, 'n')).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(named.Open("two\nlines").error_code(), StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext context;
  v1::OpenSessionRequest request;
  request.set_device("cuda:99");
  v1::OpenSessionResponse response;
  const grpc::Status device = client_.control().OpenSession(&context, request, &response);
  EXPECT_EQ(device.error_code(), StatusCode::NOT_FOUND);
  EXPECT_NE(device.error_message().find("host:0"), std::string::npos);
}

}  // namespace
}  // namespace gpuos::control
