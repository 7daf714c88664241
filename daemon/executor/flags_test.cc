#include "daemon/executor/flags.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::executor {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gpuos-executor");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Flags, AreAllTaken) {
  const auto line =
      Parse({"--device=cuda:1", "--link-fd=3", "--host-threads=5", "--host-blocks=9", "--seed=77",
             "--linger-us=0", "--synchronous-launch", "--watchdog-ms=500", "--program-mib=8",
             "--cuda-driver=/x.so", "--log-level=warn"});
  ASSERT_TRUE(line.ok()) << line.status();
  const Flags& flags = line->flags;
  EXPECT_EQ(flags.device, "cuda:1");
  EXPECT_EQ(flags.link_fd, 3);
  EXPECT_EQ(flags.host_threads, 5u);
  EXPECT_EQ(flags.host_blocks, 9u);
  EXPECT_EQ(flags.seed, 77u);
  EXPECT_EQ(flags.linger_us, 0u);
  EXPECT_TRUE(flags.synchronous_launch);
  EXPECT_EQ(flags.watchdog_ms, 500u);
  EXPECT_EQ(flags.program_mib, 8u);
  EXPECT_EQ(flags.cuda_driver, "/x.so");
  EXPECT_EQ(flags.log_level, "warn");
  EXPECT_EQ(line->help, "");
}

TEST(Flags, NeedADeviceAndALinkUnlessDevicesAreListed) {
  EXPECT_THAT(std::string(Parse({"--link-fd=3"}).status().message()), HasSubstr("--device"));
  EXPECT_THAT(std::string(Parse({"--device=host:0"}).status().message()), HasSubstr("--link-fd"));
  EXPECT_TRUE(Parse({"--list-devices"}).ok());
}

TEST(Flags, NameWhatIsWrong) {
  for (const char* wrong : {"--watchdog-ms=5", "--watchdog-ms=soon", "--log-level=loud", "--nosuch",
                            "--program-mib=0", "--host-threads=-1"}) {
    const absl::Status status = Parse({"--device=host:0", "--link-fd=3", wrong}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(std::string(wrong).substr(0, std::string(wrong).find('='))));
  }
}

TEST(Flags, GivenTwiceCountAsGivenLast) {
  const auto line = Parse({"--device=host:0", "--link-fd=3", "--seed=1", "--seed=2"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->flags.seed, 2u);
}

TEST(Flags, GiveHelp) {
  const auto line = Parse({"--help"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->help, HasSubstr("--watchdog-ms"));
}

}  // namespace
}  // namespace gpuos::executor
