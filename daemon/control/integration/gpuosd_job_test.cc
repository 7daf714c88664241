// A whole job through a real gpuosd with a real executor, by the protocol alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/control/integration/gpuosd_process.h"
#include "daemon/control/integration/raw_client.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/control.pb.h"
#include "gpuos/v1/operators.pb.h"
#include "gpuos/v1/types.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "version.h"

namespace gpuos::control {
namespace {

class GpuosdJobTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  GpuosdProcess gpuosd_{{.socket = directory_.File("s"), .test_executor = false}};
  RawClient client_{directory_.File("s")};
};

// A contiguous view of slot `slot` at `offset` elements of f32, or of i64.
v1::View ViewOf(std::uint32_t slot, std::uint64_t offset, std::vector<std::int64_t> sizes,
                v1::DType dtype = v1::DTYPE_F32) {
  v1::View view;
  view.set_slot(slot);
  view.set_offset(offset * (dtype == v1::DTYPE_F32 ? 4 : 8));
  view.set_dtype(dtype);
  std::int64_t stride = 1;
  std::vector<std::int64_t> strides;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    strides.insert(strides.begin(), stride);
    stride *= *size;
  }
  for (const std::int64_t size : sizes) view.add_sizes(size);
  for (const std::int64_t s : strides) view.add_strides(s);
  return view;
}

void AddTask(v1::Program* program, const std::string& op, const std::vector<v1::View>& operands) {
  v1::Task& task = *program->add_tasks();
  task.set_op(op);
  for (const v1::View& operand : operands) *task.add_operands() = operand;
}

// One layer and its end, as in the digits job: slot 0 weights [4, 3] and bias [3], slot 1 an input
// [1, 4], slot 2 what comes out: hidden [1, 3], probabilities [1, 3], class [1].
v1::Program SmallNetwork() {
  v1::Program program;
  for (int slot = 0; slot < 3; ++slot) program.add_slots()->set_length(4096);
  const v1::View hidden = ViewOf(2, 0, {1, 3});
  const v1::View probabilities = ViewOf(2, 4, {1, 3});
  AddTask(&program, "matmul", {hidden, ViewOf(1, 0, {1, 4}), ViewOf(0, 0, {4, 3})});
  AddTask(&program, "add", {hidden, hidden, ViewOf(0, 12, {1, 3})});
  AddTask(&program, "relu", {hidden, hidden});
  AddTask(&program, "softmax", {probabilities, hidden});
  AddTask(&program, "argmax", {ViewOf(2, 8, {1}, v1::DTYPE_I64), probabilities});
  return program;
}

TEST_F(GpuosdJobTest, ClassifiesRowsThroughSharedMemory) {
  ASSERT_TRUE(client_.OpenAndAttach().ok());
  std::unique_ptr<MappedSegment> weights, input, output;
  ASSERT_TRUE(client_.CreateSegment(4096, &weights).ok());
  ASSERT_TRUE(client_.CreateSegment(4096, &input).ok());
  ASSERT_TRUE(client_.CreateSegment(4096, &output).ok());
  for (int i = 0; i < 15; ++i) weights->floats()[i] = static_cast<float>((i * 7) % 5) - 1.5f;
  std::uint64_t program = 0;
  const grpc::Status created = client_.CreateProgram(SmallNetwork(), &program);
  ASSERT_TRUE(created.ok()) << created.error_message();

  for (int row = 0; row < 20; ++row) {
    float expected[3];
    for (int i = 0; i < 4; ++i) input->floats()[i] = std::sin(static_cast<float>(row * 4 + i));
    for (int j = 0; j < 3; ++j) {
      expected[j] = weights->floats()[12 + j];
      for (int i = 0; i < 4; ++i) expected[j] += input->floats()[i] * weights->floats()[i * 3 + j];
      expected[j] = std::exp(std::max(expected[j], 0.0f));
    }
    const float sum = expected[0] + expected[1] + expected[2];
    const grpc::Status status =
        client_.Submit(program, {weights->id(), input->id(), output->id()}, /*wait=*/true);
    ASSERT_TRUE(status.ok()) << status.error_message();
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(output->floats()[4 + j], expected[j] / sum, 1e-5) << "row " << row;
    }
    EXPECT_EQ(output->integers()[8], std::max_element(expected, expected + 3) - expected);
  }
}

TEST_F(GpuosdJobTest, BatchesSentAheadAreDoneInOrderWhenWaitedFor) {
  ASSERT_TRUE(client_.OpenAndAttach().ok());
  std::unique_ptr<MappedSegment> sum, one;
  ASSERT_TRUE(client_.CreateSegment(4096, &sum).ok());
  ASSERT_TRUE(client_.CreateSegment(4096, &one).ok());
  one->floats()[0] = 1.0f;
  v1::Program count = OneTask("add", 3, 1);
  count.mutable_slots()->RemoveLast();
  count.mutable_tasks(0)->mutable_operands(1)->set_slot(0);
  count.mutable_tasks(0)->mutable_operands(2)->set_slot(1);
  std::uint64_t program = 0;
  const grpc::Status created = client_.CreateProgram(count, &program);
  ASSERT_TRUE(created.ok()) << created.error_message();
  std::uint64_t value = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    ASSERT_TRUE(client_.Submit(program, {sum->id(), one->id()}, /*wait=*/false, &value).ok());
    ASSERT_EQ(value, i);
  }
  ASSERT_TRUE(client_.Wait(100).ok());
  EXPECT_EQ(sum->floats()[0], 100.0f);
  EXPECT_EQ(client_.Wait(101).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GpuosdJobTest, AClientsOwnMemoryFileIsRegisteredAndReleased) {
  ASSERT_TRUE(client_.OpenAndAttach().ok());
  const link::UniqueFd file = MakeTestMemory(8192, /*sealed=*/true);
  ASSERT_EQ(client_.SendDescriptor(7, file.get()).code(), 0);
  v1::RegisterSegmentResponse segment;
  ASSERT_TRUE(client_.RegisterDescriptor(7, &segment).ok());
  EXPECT_EQ(segment.size(), 8192u);
  const MappedSegment memory(segment.segment(), file, 8192);
  memory.floats()[0] = -3.0f;
  v1::Program negate = OneTask("neg", 2, 1);
  negate.mutable_slots()->RemoveLast();
  negate.mutable_tasks(0)->mutable_operands(1)->set_slot(0);
  std::uint64_t program = 0;
  ASSERT_TRUE(client_.CreateProgram(negate, &program).ok());
  const grpc::Status ran = client_.Submit(program, {segment.segment()}, /*wait=*/true);
  EXPECT_TRUE(ran.ok()) << ran.error_message();
  EXPECT_EQ(memory.floats()[0], 3.0f);
  EXPECT_TRUE(client_.ReleaseSegment(segment.segment()).ok());
  EXPECT_EQ(client_.Submit(program, {segment.segment()}, true).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(GpuosdJobTest, TheSameProgramHasTheSameIdUntilItIsReleased) {
  ASSERT_TRUE(client_.OpenAndAttach().ok());
  std::uint64_t first = 0, again = 0, later = 0;
  ASSERT_TRUE(client_.CreateProgram(OneTask("neg", 2, 8), &first).ok());
  ASSERT_TRUE(client_.CreateProgram(OneTask("neg", 2, 8), &again).ok());
  EXPECT_EQ(first, again);
  ASSERT_TRUE(client_.ReleaseProgram(first).ok());
  EXPECT_EQ(client_.ReleaseProgram(first).error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(client_.CreateProgram(OneTask("neg", 2, 8), &later).ok());
  EXPECT_NE(first, later);
}

TEST_F(GpuosdJobTest, StatusAndListsSayWhatIsThere) {
  ASSERT_TRUE(client_.OpenAndAttach().ok());
  std::unique_ptr<MappedSegment> segment;
  ASSERT_TRUE(client_.CreateSegment(10000, &segment).ok());
  std::uint64_t program = 0;
  ASSERT_TRUE(client_.CreateProgram(OneTask("neg", 1, 0), &program).error_code() ==
              grpc::StatusCode::INVALID_ARGUMENT);

  const v1::GetStatusResponse status = client_.GetStatus();
  EXPECT_EQ(status.version(), kVersion);
  EXPECT_EQ(status.pid(), gpuosd_.pid());
  EXPECT_EQ(status.sessions(), 1u);
  EXPECT_EQ(status.socket_path(), directory_.File("s"));
  ASSERT_EQ(status.devices_size(), 1);
  EXPECT_EQ(status.devices(0).device().name(), "host:0");
  EXPECT_EQ(status.devices(0).state(), v1::EXECUTOR_STATE_READY);
  EXPECT_EQ(status.devices(0).counters().segments(), 1u);
  EXPECT_GT(status.threads(), 0u);

  grpc::ClientContext clients_context;
  v1::ListClientsResponse clients;
  ASSERT_TRUE(client_.admin().ListClients(&clients_context, {}, &clients).ok());
  ASSERT_EQ(clients.clients_size(), 1);
  EXPECT_EQ(clients.clients(0).client_name(), "raw");
  EXPECT_EQ(clients.clients(0).segment_bytes(), 12288u);

  grpc::ClientContext operators_context;
  v1::ListOperatorsResponse operators;
  ASSERT_TRUE(client_.operators().ListOperators(&operators_context, {}, &operators).ok());
  EXPECT_GT(operators.operators_size(), 10);

  grpc::ClientContext operator_context;
  v1::GetOperatorRequest request;
  request.set_name("sofmax");
  v1::GetOperatorResponse ignored;
  const grpc::Status missing =
      client_.operators().GetOperator(&operator_context, request, &ignored);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(missing.error_message().find("softmax"), std::string::npos);
}

}  // namespace
}  // namespace gpuos::control
