#include "client/internal/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "client/testing/status_matchers.h"

namespace gpuos::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StatusIs;

class TargetTest : public ::testing::Test {
 protected:
  void SetUp() override { ::unsetenv(kTargetVariable); }
  void TearDown() override { ::unsetenv(kTargetVariable); }
};

TEST_F(TargetTest, TakesEveryWayToWriteAUnixSocket) {
  EXPECT_EQ(ResolveSocketPath("unix:///run/a.sock").value(), "/run/a.sock");
  EXPECT_EQ(ResolveSocketPath("unix:/run/a.sock").value(), "/run/a.sock");
  EXPECT_EQ(ResolveSocketPath("unix:a.sock").value(), "a.sock");
  EXPECT_EQ(ResolveSocketPath("/run/a.sock").value(), "/run/a.sock");
  EXPECT_EQ(ResolveSocketPath("./a:b.sock").value(), "./a:b.sock");
  EXPECT_EQ(ResolveSocketPath("a.sock").value(), "a.sock");
}

TEST_F(TargetTest, PrefersWhatIsGivenThenTheEnvironmentThenTheWellKnownSocket) {
  EXPECT_EQ(ResolveSocketPath("").value(), "/run/gpuosd/gpuosd.sock");
  ::setenv(kTargetVariable, "unix:///run/mine.sock", 1);
  EXPECT_EQ(ResolveSocketPath("").value(), "/run/mine.sock");
  EXPECT_EQ(ResolveSocketPath("/run/given.sock").value(), "/run/given.sock");
  ::setenv(kTargetVariable, "", 1);
  EXPECT_EQ(ResolveSocketPath("").value(), "/run/gpuosd/gpuosd.sock");
}

TEST_F(TargetTest, RefusesWhatIsNoUnixSocket) {
  for (const char* target : {"localhost:50051", "unix:", "unix://", "dns:///gpuosd"}) {
    EXPECT_THAT(ResolveSocketPath(target),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(std::string("\"") + target + "\""),
                               HasSubstr("write unix:///path/of/gpuosd.sock"))));
  }
}

TEST_F(TargetTest, RefusesAPathThatNoSocketCanHave) {
  EXPECT_EQ(ResolveSocketPath("/" + std::string(106, 'a')).value().size(), 107u);
  EXPECT_THAT(ResolveSocketPath("/" + std::string(107, 'a')),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("108 bytes"), HasSubstr("at most 107"))));
}

}  // namespace
}  // namespace gpuos::internal
