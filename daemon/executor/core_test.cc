// Batches through the core on the host device: results, refusals, failures.
#include "daemon/executor/core.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/executor/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using ::testing::HasSubstr;

// A perceptron over one row, as the client library would lay it out: every tensor a slot of its
// own, all in one segment.
class Perceptron {
 public:
  static constexpr int kIn = 64, kHidden = 32, kOut = 10;

  Perceptron() : file_(1 << 20) {
    const std::uint64_t sizes[] = {kIn,  kIn * kHidden, kHidden, kHidden, kHidden * kOut,
                                   kOut, kOut};
    for (const std::uint64_t size : sizes) AddTensor(size * sizeof(float));
    for (int i = 0; i < 3; ++i) AddTensor(kHidden * sizeof(float));
    for (int i = 0; i < 2; ++i) AddTensor(kOut * sizeof(float));
    AddTensor(sizeof(std::int64_t));
    Record();
  }

  void Randomize(std::mt19937& random) {
    std::normal_distribution<float> normal;
    for (const int slot : {kX, kW1, kB1, kW2, kB2}) {
      float* values = At(slot);
      for (std::uint64_t i = 0; i < Elements(slot); ++i) values[i] = normal(random);
    }
  }

  // What the chain should give, in double precision.
  std::vector<double> Expected() const {
    std::vector<double> hidden(kHidden);
    for (int j = 0; j < kHidden; ++j) {
      double sum = At(kB1)[j];
      for (int i = 0; i < kIn; ++i) sum += double{At(kX)[i]} * At(kW1)[i * kHidden + j];
      hidden[j] = std::max(sum, 0.0);
    }
    std::vector<double> out(kOut);
    for (int j = 0; j < kOut; ++j) {
      out[j] = At(kB2)[j];
      for (int i = 0; i < kHidden; ++i) out[j] += hidden[i] * At(kW2)[i * kOut + j];
    }
    return Softmax(out);
  }

  const MemoryFile& file() const { return file_; }
  const ProgramBuilder& builder() const { return builder_; }
  const std::vector<Binding>& bindings() const { return bindings_; }
  const float* probabilities() const { return At(kP); }
  std::int64_t winner() const { return *file_.at<std::int64_t>(bindings_[kClass].offset); }

 private:
  enum Slot { kX, kW1, kB1, kUnused1, kW2, kB2, kP, kH1, kH2, kH3, kO1, kO2, kClass };

  void AddTensor(std::uint64_t bytes) {
    builder_.Slot(bytes);
    bindings_.push_back({.segment = 1, .offset = next_});
    next_ += (bytes + 63) / 64 * 64;
  }
  std::uint64_t Elements(int slot) const {
    return builder_.program().slots(slot).length() / sizeof(float);
  }
  float* At(int slot) const { return file_.at<float>(bindings_[slot].offset); }

  void Record() {
    const auto row = [](int slot, std::int64_t n) { return MakeView(slot, {1, n}); };
    builder_.Task("matmul", {row(kH1, kHidden), row(kX, kIn), MakeView(kW1, {kIn, kHidden})})
        .Task("add", {row(kH2, kHidden), row(kH1, kHidden), MakeView(kB1, {kHidden})})
        .Task("relu", {row(kH3, kHidden), row(kH2, kHidden)})
        .Task("matmul", {row(kO1, kOut), row(kH3, kHidden), MakeView(kW2, {kHidden, kOut})})
        .Task("add", {row(kO2, kOut), row(kO1, kOut), MakeView(kB2, {kOut})})
        .Task("softmax", {row(kP, kOut), row(kO2, kOut)})
        .Task("argmax", {MakeView(kClass, {1}, v1::DTYPE_I64), row(kP, kOut)});
  }

  static std::vector<double> Softmax(std::vector<double> values) {
    const double top = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (double& value : values) sum += value = std::exp(value - top);
    for (double& value : values) value /= sum;
    return values;
  }

  MemoryFile file_;
  ProgramBuilder builder_;
  std::vector<Binding> bindings_;
  std::uint64_t next_ = 0;
};

TEST(Core, RunsAPerceptronRowByRow) {
  Perceptron model;
  CoreHarness harness({});
  harness.OpenSession(1, model.file());
  harness.Load(1, 5, model.builder());
  std::mt19937 random(1);
  for (int row = 0; row < 50; ++row) {
    model.Randomize(random);
    ASSERT_TRUE(harness.Wait(harness.Run(1, 5, model.bindings())).ok());
    const std::vector<double> expected = model.Expected();
    for (int i = 0; i < Perceptron::kOut; ++i) {
      ASSERT_NEAR(model.probabilities()[i], expected[i], 1e-5) << "row " << row;
    }
    ASSERT_EQ(model.winner(),
              std::max_element(expected.begin(), expected.end()) - expected.begin());
  }
  EXPECT_EQ(harness.counters().batches.tasks_completed, 350u);
  std::uint64_t calls = 0;
  for (const std::uint64_t count : harness.core().operator_calls()) calls += count;
  EXPECT_EQ(calls, 350u);
}

// One slot of 64 bytes, written.
ProgramBuilder FillProgram() {
  ProgramBuilder builder;
  builder.Task("fill", {MakeView(builder.Slot(64), {16})});
  return builder;
}

class CoreRefusals : public ::testing::Test {
 protected:
  CoreRefusals() {
    harness_.OpenSession(1, file_);
    harness_.OpenSession(2, other_file_);
    EXPECT_TRUE(harness_.core().ImportMemoryFile(2, 7, other_file_.fd()).ok());
    harness_.Load(1, 5, FillProgram());
  }

  absl::StatusCode Code(const std::vector<Binding>& bindings, std::uint64_t program = 5) {
    return harness_.core().RunBatch(harness_.NewTicket(), 1, program, bindings).code();
  }

  MemoryFile file_{4096};
  MemoryFile other_file_{4096};
  CoreHarness harness_{CoreOptions{}};
};

TEST_F(CoreRefusals, KeepTheGateShut) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Code({{.segment = 99}}), absl::StatusCode::kNotFound);
  EXPECT_EQ(Code({{.segment = 7}}), absl::StatusCode::kNotFound) << "another session's segment";
  EXPECT_EQ(Code({{.segment = 1, .offset = 8}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Code({{.segment = 1, .offset = 4048}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Code({{.segment = 1, .offset = kMax - 15}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Code({}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Code({{.segment = 1}}, /*program=*/6), absl::StatusCode::kNotFound);
  // Nothing of this was admitted, and what is right still runs.
  EXPECT_EQ(harness_.counters().batches.admitted, 0u);
  EXPECT_TRUE(harness_.Wait(harness_.Run(1, 5, {{.segment = 1, .offset = 4032}})).ok());
}

TEST_F(CoreRefusals, NameWhatIsThereAlreadyOrNot) {
  Core& core = harness_.core();
  EXPECT_EQ(core.OpenSession(1).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(core.OpenSession(0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(core.ImportMemoryFile(1, 1, file_.fd()).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(core.ImportMemoryFile(3, 1, file_.fd()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(core.ImportMemoryFile(0, 1, file_.fd()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(core.LoadProgram(1, 5, FillProgram().program()).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(core.DropSegment(1, 1, 9).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(core.DropProgram(1, 2, 5).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(core.CloseSession(1, 3).code(), absl::StatusCode::kNotFound);
}

TEST_F(CoreRefusals, OfAProgramAreBuildImages) {
  ProgramBuilder builder;
  builder.Task("no_such", {});
  const absl::Status status = harness_.core().LoadProgram(1, 6, builder.program()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no_such"));
}

TEST(Core, RefusesAProgramThatDoesNotFitAndTakesItOnceAnotherIsGone) {
  CoreOptions options;
  options.memory.program_bytes = 2048;
  CoreHarness harness(options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  std::uint64_t loaded = 0;
  absl::Status status;
  while (loaded < 20 && status.ok()) {
    status = harness.core().LoadProgram(1, ++loaded, FillProgram().program()).status();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const Ticket drop = harness.NewTicket();
  ASSERT_TRUE(harness.core().DropProgram(drop, 1, 1).ok());
  EXPECT_TRUE(harness.Wait(drop).ok());
  harness.Load(1, 100, FillProgram());
}

TEST(Core, SaysWhichTaskFailedAndGoesOn) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder builder;
  builder.Task("nop", {}).Task("test.fail", {}, {{"code", 7}});
  harness.Load(1, 5, builder);
  const absl::Status status = harness.Wait(harness.Run(1, 5, {}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(std::string(status.message()), "tasks[1] (test.fail) failed with code 7");
  EXPECT_EQ(harness.counters().batches.failed, 1u);
  harness.Load(1, 6, FillProgram());
  EXPECT_TRUE(harness.Wait(harness.Run(1, 6, {{.segment = 1}})).ok());
}

TEST(Core, CompletesAProgramWithoutTasks) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  harness.Load(1, 5, ProgramBuilder());
  EXPECT_TRUE(harness.Wait(harness.Run(1, 5, {})).ok());
}

TEST(Core, AnswersAPingAndCountsItNowhere) {
  CoreHarness harness({});
  const Ticket ping = harness.NewTicket();
  ASSERT_TRUE(harness.core().Ping(ping).ok());
  EXPECT_TRUE(harness.Wait(ping).ok());
  EXPECT_EQ(harness.counters().batches.completed, 0u);
  EXPECT_EQ(harness.counters().sessions, 0u);
  EXPECT_EQ(harness.counters().worker_launches, 1u);
}

TEST(Core, AccusesAnOperatorThatDoesNotEnd) {
  CoreOptions options;
  options.watchdog_limit = std::chrono::milliseconds(100);
  CoreHarness harness(options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder builder;
  builder.Task("test.spin", {}, {{"ms", 500}});
  harness.Load(1, 5, builder);
  const Ticket ticket = harness.Run(1, 5, {});
  EXPECT_EQ(harness.Wait(ticket).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(harness.health().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(harness.health().message()), HasSubstr("an operator does not end"));
}

TEST(Core, DoesNotAccuseWorkThatIsLongButMoves) {
  CoreOptions options;
  options.watchdog_limit = std::chrono::milliseconds(200);
  CoreHarness harness(options);
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  ProgramBuilder builder;
  for (int i = 0; i < 100; ++i) builder.Task("test.spin", {}, {{"ms", 6}});
  harness.Load(1, 5, builder);
  EXPECT_TRUE(harness.Wait(harness.Run(1, 5, {})).ok());
}

TEST(Core, RefusesEverythingOnceItIsStopping) {
  CoreHarness harness({});
  MemoryFile file(4096);
  harness.OpenSession(1, file);
  const Ticket stop = harness.NewTicket();
  ASSERT_TRUE(harness.core().Stop(stop).ok());
  Core& core = harness.core();
  EXPECT_EQ(core.OpenSession(2).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(core.RunBatch(9, 1, 5, {}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(core.Ping(9).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(core.Stop(9).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(harness.Wait(stop).ok());
  EXPECT_TRUE(core.stopped());
}

}  // namespace
}  // namespace gpuos::executor
