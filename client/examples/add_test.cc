#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <cstddef>
#include <string>
#include <vector>

#include "client/testing/fake_daemon.h"

namespace gpuos {
namespace {

struct Result {
  int status = 0;
  std::string output;
};

Result RunAdd(const std::string& target) {
  Result result;
  FILE* const pipe = ::popen(("client/examples/add " + target + " 2>&1").c_str(), "r");
  char buffer[256];
  while (::fgets(buffer, sizeof(buffer), pipe) != nullptr) result.output += buffer;
  result.status = ::pclose(pipe);
  return result;
}

// The example's slots are a, b, c.
absl::Status Add(const v1::Program& program, const std::vector<std::byte*>& slots) {
  const auto* a = reinterpret_cast<const float*>(slots[0]);
  const auto* b = reinterpret_cast<const float*>(slots[1]);
  auto* c = reinterpret_cast<float*>(slots[2]);
  for (int i = 0; i < program.tasks(0).operands(0).sizes(0); ++i) c[i] = a[i] + b[i];
  return absl::OkStatus();
}

TEST(AddExampleTest, PrintsTheSum) {
  auto daemon = testing::FakeDaemon::Start({});
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  (*daemon)->state().SetRunner(Add);
  const Result result = RunAdd((*daemon)->target());
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "on host:0: 0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5\n");
}

TEST(AddExampleTest, SaysWhatIsMissingWithoutADaemon) {
  const Result result = RunAdd("/nowhere/gpuosd.sock");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, ::testing::StartsWith("add: cannot reach gpuosd at /nowhere"));
}

}  // namespace
}  // namespace gpuos
