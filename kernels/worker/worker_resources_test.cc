#include "kernels/worker/worker_resources.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr char kToolsText[] =
    "# ptxas: kernels/worker/worker_kernel.cu\n"
    "ptxas info    : Function properties for gpuos_worker\n"
    "    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
    "ptxas info    : Used 59 registers, used 1 barriers, 32912 bytes smem\n"
    "# ptxas: kernels/ops/builtins.cu\n"
    "ptxas info    : Function properties for gpuos_op_add\n"
    "    40 bytes stack frame, 36 bytes spill stores, 36 bytes spill loads\n"
    "# linked\n"
    "nvlink info    : 244 bytes gmem\n"
    "nvlink info    : Function properties for 'gpuos_worker':\n"
    "nvlink info    : used 64 registers, used 1 barriers, 144 stack, 33936 bytes smem\n";

TEST(WorkerResourcesTest, TheShippedWorkerIsWithinItsBudget) {
  const auto budget = ParseBudget(ReadFile("kernels/worker/budget.txt"));
  ASSERT_TRUE(budget.has_value());
  EXPECT_EQ(budget->size(), 5u);
  EXPECT_THAT(Excesses(ParseResources(ReadFile("kernels/worker/worker.resources.txt")), *budget),
              IsEmpty());
}

TEST(WorkerResourcesTest, TheTestsWorkerIsWithinTheSameBudget) {
  const auto budget = ParseBudget(ReadFile("kernels/worker/budget.txt"));
  ASSERT_TRUE(budget.has_value());
  EXPECT_THAT(
      Excesses(ParseResources(ReadFile("kernels/worker/worker_test.resources.txt")), *budget),
      IsEmpty());
}

TEST(WorkerResourcesTest, NumbersOfTheWorkerAreTakenAndThoseOfOperatorsAreNot) {
  EXPECT_EQ(ParseResources(kToolsText), (Resources{{"registers", 64},
                                                   {"stack_bytes", 144},
                                                   {"spill_bytes", 12},
                                                   {"barriers", 1},
                                                   {"shared_bytes", 33936}}));
}

TEST(WorkerResourcesTest, AnExcessIsASentenceWithBothNumbers) {
  EXPECT_THAT(Excesses(ParseResources(kToolsText), {{"spill_bytes", 0}, {"stack_bytes", 144}}),
              ElementsAre(HasSubstr("the worker uses 12 spill_bytes; the budget is 0")));
}

TEST(WorkerResourcesTest, FewerRegistersThanTheBudgetAreAnExcessToo) {
  EXPECT_THAT(Excesses({{"registers", 62}}, {{"registers", 64}}),
              ElementsAre(HasSubstr("the worker uses 62 registers; it must be exactly 64")));
}

TEST(WorkerResourcesTest, ANumberThatTheToolsDidNotSayIsAnExcess) {
  EXPECT_THAT(Excesses(ParseResources("# linked\n"), {{"barriers", 1}}),
              ElementsAre("the tools did not say how much the worker uses of barriers"));
}

TEST(WorkerResourcesTest, ABudgetLineThatIsNoNumberIsRefused) {
  EXPECT_EQ(ParseBudget("# words\n\nregisters 64\n"), (Resources{{"registers", 64}}));
  EXPECT_EQ(ParseBudget("registers many\n"), std::nullopt);
  EXPECT_EQ(ParseBudget("registers 64 65\n"), std::nullopt);
}

}  // namespace
}  // namespace gpuos::worker
