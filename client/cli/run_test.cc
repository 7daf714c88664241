#include "client/cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/testing/fake_daemon.h"
#include "client/testing/temp_directory.h"

namespace gpuos::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

Result Gpuosctl(std::vector<const char*> words) {
  words.insert(words.begin(), "gpuosctl");
  std::ostringstream out;
  std::ostringstream err;
  const int code = Run(static_cast<int>(words.size()), words.data(), out, err);
  return {code, out.str(), err.str()};
}

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::FakeDaemon::Options options;
    options.status.set_version("0.1.0");
    options.status.add_devices()->mutable_device()->set_name("host:0");
    options.clients.add_clients()->set_client_name("digits");
    v1::OperatorInfo& info = *options.operators.add_operators();
    info.set_name("add");
    info.set_summary("Adds.");
    auto daemon = testing::FakeDaemon::Start(std::move(options));
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    target_ = daemon_->target();
  }

  std::unique_ptr<testing::FakeDaemon> daemon_;
  std::string target_;
};

TEST_F(RunTest, EveryCommandPrintsForPeople) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
      {{"status"}, "gpuosd 0.1.0"},
      {{"devices"}, "host:0"},
      {{"clients"}, "digits"},
      {{"ops", "list"}, "Adds."},
      {{"ops", "show", "add"}, "Shape:"}};
  for (auto [words, text] : cases) {
    words.insert(words.end(), {"--target", target_.c_str()});
    const Result result = Gpuosctl(words);
    EXPECT_EQ(result.code, kDone) << result.err;
    EXPECT_THAT(result.out, HasSubstr(text));
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(RunTest, EveryCommandPrintsJson) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
      {{"status"}, "\"version\": \"0.1.0\""},
      {{"devices"}, "\"devices\": ["},
      {{"clients"}, "\"client_name\": \"digits\""},
      {{"ops", "list"}, "\"operators\": ["},
      {{"ops", "show", "add"}, "\"summary\": \"Adds.\""}};
  for (auto [words, text] : cases) {
    words.insert(words.end(), {"--json", "--target", target_.c_str()});
    const Result result = Gpuosctl(words);
    EXPECT_EQ(result.code, kDone) << result.err;
    EXPECT_THAT(result.out, AllOf(StartsWith("{\n"), HasSubstr(text), EndsWith("}\n")));
  }
}

TEST_F(RunTest, OptionsMayStandBeforeTheCommandAndTheTargetInTheEnvironment) {
  ::setenv("GPUOS_TARGET", target_.c_str(), 1);
  EXPECT_THAT(Gpuosctl({"--json", "status"}).out, StartsWith("{\n"));
  ::unsetenv("GPUOS_TARGET");
}

TEST_F(RunTest, TheDaemonsErrorIsOneSentenceAndCodeOne) {
  const Result result = Gpuosctl({"ops", "show", "nix", "--target", target_.c_str()});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "gpuosctl: no operator \"nix\"\n");
}

TEST(RunWithoutDaemonTest, ADaemonThatIsNotThereIsOneSentenceAndCodeOne) {
  testing::TempDirectory directory;
  const std::string path = directory.File("none.sock");
  const Result result = Gpuosctl({"status", "--target", path.c_str()});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_EQ(result.err, "gpuosctl: cannot reach gpuosd at " + path +
                            ": no such file; start it (systemctl start gpuosd) or set GPUOS_TARGET "
                            "to where it listens\n");
}

TEST(RunWithoutDaemonTest, AWrongCommandLineIsCodeTwo) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{}, {"nix"}, {"ops"}, {"ops", "show"}, {"status", "--nix"}}) {
    const Result result = Gpuosctl(words);
    EXPECT_EQ(result.code, kUsage);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "");
  }
}

TEST(RunWithoutDaemonTest, HelpNamesCommandsAndExitCodes) {
  const Result result = Gpuosctl({"--help"});
  EXPECT_EQ(result.code, kDone);
  for (const char* word : {"status", "devices", "clients", "ops", "--json", "--target",
                           "Exit codes: 0 done; 1 the daemon", "2 the command line"}) {
    EXPECT_THAT(result.out, HasSubstr(word));
  }
  EXPECT_EQ(Gpuosctl({"--version"}).out, "gpuosctl 0.1.0\n");
}

}  // namespace
}  // namespace gpuos::cli
