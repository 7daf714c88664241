// A fake daemon and one session with it, for tests of Session.
#ifndef GPUOS_CLIENT_TESTING_SESSION_FIXTURE_H_
#define GPUOS_CLIENT_TESTING_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "client/testing/fake_daemon.h"
#include "gpuos/client.h"

namespace gpuos::testing {

class SessionFixture : public ::testing::Test {
 protected:
  void SetUp() override;

  // What session_ was connected with.
  Session::Options ConnectOptions() const;

  std::unique_ptr<FakeDaemon> daemon_;
  std::unique_ptr<Session> session_;
};

// c = a + b over `count` f32, one slot each.
ProgramBuilder AddProgram(std::int64_t count);
// Runs programs of AddProgram.
absl::Status RunAdd(const v1::Program& program, const std::vector<std::byte*>& slots);

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_SESSION_FIXTURE_H_
