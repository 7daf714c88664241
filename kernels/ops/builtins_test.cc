#include "kernels/ops/builtins.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "kernels/abi/limits.h"
#include "kernels/ops/signature.h"

namespace gpuos::ops {
namespace {

bool IsForTests(const Signature& signature) { return signature.name.rfind("test.", 0) == 0; }

TEST(Builtins, TheFirstDoesNothing) { EXPECT_EQ(Builtins().front().name, "nop"); }

TEST(Builtins, HaveDistinctNamesAndASentenceEach) {
  std::set<std::string> names;
  for (const Signature& signature : Builtins()) {
    EXPECT_TRUE(names.insert(signature.name).second) << signature.name;
    EXPECT_FALSE(signature.summary.empty()) << signature.name;
    EXPECT_EQ(signature.summary.back(), '.') << signature.name;
  }
}

TEST(Builtins, StayWithinTheLimitsOfTheAbi) {
  for (const Signature& signature : Builtins()) {
    EXPECT_LE(signature.operands.size(), abi::kMaxOperands) << signature.name;
    EXPECT_LE(signature.attributes.size(), abi::kMaxAttributes) << signature.name;
  }
}

TEST(Builtins, ListOutputsBeforeInputsAndAcceptSomethingEverywhere) {
  for (const Signature& signature : Builtins()) {
    for (std::size_t i = 0; i < signature.operands.size(); ++i) {
      const bool is_output = signature.operands[i].access != Access::kRead;
      EXPECT_EQ(is_output, i < signature.outputs()) << signature.name;
      EXPECT_FALSE(signature.operands[i].dtypes.empty()) << signature.name;
    }
  }
}

TEST(Builtins, HaveAFunctionEach) {
  std::set<OperatorFunction> functions;
  for (std::size_t i = 0; i < Builtins().size(); ++i) {
    ASSERT_NE(HostTable()[i], nullptr) << Builtins()[i].name;
    functions.insert(HostTable()[i]);
  }
  EXPECT_GT(functions.size(), 20u);
}

TEST(Builtins, ShippedOnesHaveNoneForTests) {
#ifdef GPUOS_EXPECT_TEST_BUILTINS
  constexpr std::size_t kWant = 5;
#else
  constexpr std::size_t kWant = 0;
#endif
  std::size_t found = 0;
  for (const Signature& signature : Builtins()) found += IsForTests(signature) ? 1 : 0;
  EXPECT_EQ(found, kWant);
}

}  // namespace
}  // namespace gpuos::ops
