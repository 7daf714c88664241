#include "daemon/control/flags.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpuos/v1/admin.pb.h"
#include "gtest/gtest.h"

namespace gpuos::control {
namespace {

absl::StatusOr<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gpuosd");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(FlagsTest, DefaultsAreTheWellKnownSocketAndTheExecutorBesideUs) {
  const absl::StatusOr<CommandLine> line = Parse({});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->flags.socket, "/run/gpuosd/gpuosd.sock");
  EXPECT_EQ(line->flags.socket_mode, 0660u);
  EXPECT_EQ(line->flags.device, "auto");
  EXPECT_EQ(line->flags.residence, v1::RESIDENCE_ELASTIC);
  EXPECT_EQ(line->flags.executor.substr(line->flags.executor.rfind('/')), "/gpuos-executor");
}

TEST(FlagsTest, EveryFlagIsRead) {
  const absl::StatusOr<CommandLine> line =
      Parse({"--socket=/a", "--socket=/b", "--socket-mode=0600", "--device=cuda:1",
             "--residence=dedicated", "--executor=/x", "--executor-arg=--seed=3",
             "--executor-arg=--host-threads=4", "--parent-fd=5", "--log-level=debug"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->flags.socket, "/b");
  EXPECT_EQ(line->flags.socket_mode, 0600u);
  EXPECT_EQ(line->flags.residence, v1::RESIDENCE_DEDICATED);
  EXPECT_EQ(line->flags.executor_arguments,
            (std::vector<std::string>{"--seed=3", "--host-threads=4"}));
  EXPECT_EQ(line->flags.parent_fd, 5);
}

TEST(FlagsTest, WhatIsWrongIsNamed) {
  for (const char* flag : {"--socket-mode=rw", "--socket-mode=1777", "--residence=x",
                           "--log-level=loud", "--parent-fd=x", "--nonsense"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Parse({flag}).status())) << flag;
  }
}

TEST(FlagsTest, HelpAndVersionAreTexts) {
  EXPECT_NE(Parse({"--help"})->text.find("--residence"), std::string::npos);
  EXPECT_EQ(Parse({"--version"})->text, "gpuosd 0.1.0\n");
}

}  // namespace
}  // namespace gpuos::control
