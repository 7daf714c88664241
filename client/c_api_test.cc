#include "gpuos/c_api.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "client/testing/fake_daemon.h"
#include "client/testing/session_fixture.h"

namespace gpuos {
namespace {

using ::testing::HasSubstr;

constexpr int kInvalidArgument = 3;
constexpr int kDeadlineExceeded = 4;
constexpr int kNotFound = 5;
constexpr int kUnavailable = 14;

// c = a + b over four f32, one slot each.
gpuos_program_builder* NewAdd() {
  gpuos_program_builder* const builder = gpuos_program_builder_new();
  gpuos_view views[3] = {};
  for (gpuos_view& view : views) {
    view.slot = gpuos_program_add_slot(builder, 16);
    view.dtype = 1;
    view.dims = 1;
    view.sizes[0] = 4;
    view.strides[0] = 1;
  }
  EXPECT_EQ(gpuos_program_add_task(builder, "add", views, 3, nullptr, 0, nullptr, 0), 0u);
  return builder;
}

class CApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::FakeDaemon::Options options;
    options.device_uuid = "GPU-7";
    options.status.set_version("9.9.9");
    options.operators.add_operators()->set_name("add");
    auto daemon = testing::FakeDaemon::Start(std::move(options));
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
    daemon_->state().SetRunner(testing::RunAdd);
    ASSERT_EQ(gpuos_connect(daemon_->target().c_str(), nullptr, "c test", 0, &session_), 0)
        << gpuos_last_error();
  }
  void TearDown() override { gpuos_close(session_); }

  std::string Query(const char* what, const char* name) {
    char* json = nullptr;
    EXPECT_EQ(gpuos_query_json(daemon_->target().c_str(), what, name, &json), 0)
        << gpuos_last_error();
    std::string text = json;
    gpuos_free(json);
    return text;
  }

  std::unique_ptr<testing::FakeDaemon> daemon_;
  gpuos_session* session_ = nullptr;
};

TEST_F(CApiTest, RunsABatchFromBeginningToEnd) {
  EXPECT_STREQ(gpuos_session_device_name(session_), "host:0");
  EXPECT_STREQ(gpuos_session_device_uuid(session_), "GPU-7");
  EXPECT_EQ(gpuos_session_id(session_), 1u);
  uint64_t segment = 0;
  void* address = nullptr;
  uint64_t size = 0;
  ASSERT_EQ(gpuos_segment_create(session_, 48, &segment, &address, &size), 0);
  EXPECT_EQ(size, 4096u);
  auto* const floats = static_cast<float*>(address);
  floats[4] = 1;
  floats[8] = 2;
  gpuos_program_builder* const builder = NewAdd();
  uint64_t program = 0;
  ASSERT_EQ(gpuos_program_create(session_, builder, &program), 0) << gpuos_last_error();
  gpuos_program_builder_free(builder);
  const gpuos_binding bindings[] = {{segment, 0}, {segment, 16}, {segment, 32}};
  uint64_t value = 0;
  ASSERT_EQ(gpuos_submit(session_, program, bindings, 3, 0, &value), 0) << gpuos_last_error();
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(gpuos_wait(session_, value, -1), 0);
  EXPECT_EQ(floats[0], 3);
  EXPECT_EQ(gpuos_submit(session_, program, bindings, 3, 1, nullptr), 0);
  EXPECT_EQ(gpuos_program_release(session_, program), 0);
  EXPECT_EQ(gpuos_segment_release(session_, segment), 0);
  EXPECT_EQ(gpuos_segment_unmap(address, size), 0);
}

TEST_F(CApiTest, AFailureIsItsCodeAndTheThreadsSentenceAndLeavesOutputsAlone) {
  uint64_t program = 77;
  daemon_->state().FailNext("CreateProgram", absl::InvalidArgumentError("tasks[0].op is unknown"));
  gpuos_program_builder* const builder = NewAdd();
  EXPECT_EQ(gpuos_program_create(session_, builder, &program), kInvalidArgument);
  gpuos_program_builder_free(builder);
  EXPECT_EQ(program, 77u);
  EXPECT_STREQ(gpuos_last_error(), "tasks[0].op is unknown");
  std::thread([] { EXPECT_STREQ(gpuos_last_error(), ""); }).join();
}

TEST_F(CApiTest, AWaitHasALimitInMicroseconds) {
  daemon_->state().HoldBatches(true);
  gpuos_program_builder* const builder = gpuos_program_builder_new();
  uint64_t program = 0;
  uint64_t value = 0;
  ASSERT_EQ(gpuos_program_create(session_, builder, &program), 0) << gpuos_last_error();
  gpuos_program_builder_free(builder);
  daemon_->state().SetRunner(nullptr);
  ASSERT_EQ(gpuos_submit(session_, program, nullptr, 0, 0, &value), 0) << gpuos_last_error();
  EXPECT_EQ(gpuos_wait(session_, value, 20000), kDeadlineExceeded);
  EXPECT_THAT(gpuos_last_error(), HasSubstr("within 20ms"));
  daemon_->state().HoldBatches(false);
  EXPECT_EQ(gpuos_wait(session_, value, 10000000), 0);
}

TEST_F(CApiTest, RegistersMemoryOfTheCaller) {
  const int file = ::memfd_create("c test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(file, 8192), 0);
  ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  uint64_t segment = 0;
  uint64_t size = 0;
  EXPECT_EQ(gpuos_segment_register_fd(session_, file, &segment, &size), 0) << gpuos_last_error();
  EXPECT_EQ(size, 8192u);
  ::close(file);
  const char handle[64] = {};
  EXPECT_EQ(gpuos_segment_register_cuda_ipc(session_, handle, "GPU-7", &segment, &size), 0);
  EXPECT_EQ(size, 64u * 4096);
  EXPECT_EQ(gpuos_segment_release(session_, 999), kNotFound);
}

TEST_F(CApiTest, WhatCannotBeWrittenDownIsReportedWhenTheProgramIsCreated) {
  gpuos_view view = {};
  view.dims = GPUOS_MAX_DIMS + 1;
  gpuos_attribute attribute = {"alpha", 9, 0, 0, 0};
  struct Case {
    const gpuos_view* view;
    const gpuos_attribute* attribute;
    const char* sentence;
  };
  for (const Case& c :
       {Case{&view, nullptr, "tasks[0]: views[0]: dims is 9"},
        Case{nullptr, &attribute, "tasks[0]: attributes[0]: kind of attribute \"alpha\" is 9"}}) {
    gpuos_program_builder* const builder = gpuos_program_builder_new();
    gpuos_program_add_task(builder, "add", c.view, c.view != nullptr, c.attribute,
                           c.attribute != nullptr, nullptr, 0);
    uint64_t program = 0;
    EXPECT_EQ(gpuos_program_create(session_, builder, &program), kInvalidArgument);
    EXPECT_THAT(gpuos_last_error(), HasSubstr(c.sentence));
    gpuos_program_builder_free(builder);
  }
  EXPECT_EQ(daemon_->state().Calls("CreateProgram"), 0);
}

TEST_F(CApiTest, NullIsAnErrorAndNotACrash) {
  uint64_t number = 0;
  void* address = nullptr;
  EXPECT_EQ(gpuos_connect(nullptr, nullptr, nullptr, 0, nullptr), kInvalidArgument);
  EXPECT_STREQ(gpuos_last_error(), "session must not be NULL");
  EXPECT_EQ(gpuos_segment_create(nullptr, 1, &number, &address, &number), kInvalidArgument);
  EXPECT_EQ(gpuos_segment_create(session_, 1, nullptr, &address, &number), kInvalidArgument);
  EXPECT_EQ(gpuos_segment_register_fd(session_, 0, &number, nullptr), kInvalidArgument);
  EXPECT_EQ(gpuos_segment_register_cuda_ipc(session_, nullptr, "", &number, &number),
            kInvalidArgument);
  EXPECT_EQ(gpuos_segment_register_cuda_pointer(session_, 1, &number, nullptr, &number),
            kInvalidArgument);
  EXPECT_EQ(gpuos_segment_release(nullptr, 1), kInvalidArgument);
  EXPECT_EQ(gpuos_program_create(session_, nullptr, &number), kInvalidArgument);
  EXPECT_EQ(gpuos_program_release(nullptr, 1), kInvalidArgument);
  EXPECT_EQ(gpuos_submit(session_, 1, nullptr, 2, 0, &number), kInvalidArgument);
  EXPECT_EQ(gpuos_wait(nullptr, 1, 0), kInvalidArgument);
  EXPECT_EQ(gpuos_query_json(nullptr, nullptr, nullptr, nullptr), kInvalidArgument);
  gpuos_close(nullptr);
  gpuos_program_builder_free(nullptr);
  gpuos_free(nullptr);
}

TEST_F(CApiTest, AnswersQueriesAsJson) {
  EXPECT_THAT(Query("status", nullptr), HasSubstr(R"("version":"9.9.9")"));
  EXPECT_EQ(Query("devices", nullptr), R"({"devices":[]})");
  EXPECT_EQ(Query("clients", nullptr), R"({"clients":[]})");
  EXPECT_THAT(Query("operators", nullptr), HasSubstr(R"({"operators":[{"name":"add",)"));
  EXPECT_THAT(Query("operator", "add"), HasSubstr(R"({"name":"add",)"));
  char* json = nullptr;
  const std::string target = daemon_->target();
  EXPECT_EQ(gpuos_query_json(target.c_str(), "nix", nullptr, &json), kInvalidArgument);
  EXPECT_EQ(gpuos_query_json(target.c_str(), "operator", nullptr, &json), kInvalidArgument);
  EXPECT_EQ(gpuos_query_json(target.c_str(), "operator", "nix", &json), kNotFound);
  EXPECT_EQ(json, nullptr);
}

TEST(CApiWithoutDaemonTest, ConnectNamesTheAddressTheCauseAndWhatToDo) {
  gpuos_session* session = nullptr;
  EXPECT_EQ(gpuos_connect("/nowhere/gpuosd.sock", nullptr, nullptr, 0, &session), kUnavailable);
  EXPECT_EQ(session, nullptr);
  EXPECT_STREQ(gpuos_last_error(),
               "cannot reach gpuosd at /nowhere/gpuosd.sock: no such file; start it (systemctl "
               "start gpuosd) or set GPUOS_TARGET to where it listens");
  EXPECT_STREQ(gpuos_version(), "0.1.0");
}

}  // namespace
}  // namespace gpuos
