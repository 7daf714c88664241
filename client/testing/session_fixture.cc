#include "client/testing/session_fixture.h"

#include <utility>

namespace gpuos::testing {

void SessionFixture::SetUp() {
  auto daemon = FakeDaemon::Start({});
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  daemon_ = *std::move(daemon);
  auto session = Session::Connect(ConnectOptions());
  ASSERT_TRUE(session.ok()) << session.status();
  session_ = *std::move(session);
}

Session::Options SessionFixture::ConnectOptions() const {
  Session::Options options;
  options.target = daemon_->target();
  options.client_name = "session test";
  options.connect_timeout = absl::Seconds(10);
  options.call_timeout = absl::Seconds(10);
  return options;
}

ProgramBuilder AddProgram(std::int64_t count) {
  ProgramBuilder program;
  std::vector<View> operands;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t slot = program.AddSlot(static_cast<std::uint64_t>(count) * sizeof(float));
    operands.push_back(View::Contiguous(slot, DType::kF32, {count}));
  }
  program.AddTask("add", operands);
  return program;
}

absl::Status RunAdd(const v1::Program& program, const std::vector<std::byte*>& slots) {
  const auto* a = reinterpret_cast<const float*>(slots[1]);
  const auto* b = reinterpret_cast<const float*>(slots[2]);
  auto* c = reinterpret_cast<float*>(slots[0]);
  const std::int64_t count = program.tasks(0).operands(0).sizes(0);
  for (std::int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
  return absl::OkStatus();
}

}  // namespace gpuos::testing
