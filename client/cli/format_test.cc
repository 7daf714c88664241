// What each command prints for people, from literal answers of a daemon.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "client/cli/clients_command.h"
#include "client/cli/devices_command.h"
#include "client/cli/ops_list_command.h"
#include "client/cli/ops_show_command.h"
#include "client/cli/status_command.h"

namespace gpuos::cli {
namespace {

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

constexpr char kTwoDevices[] = R"(
  devices {
    device { name: "cuda:0" uuid: "GPU-1b5e" model: "NVIDIA H200" memory_bytes: 150323855360 }
    state: EXECUTOR_STATE_READY
    executor_pid: 4250
    executor_restarts: 1
    residence: RESIDENCE_ELASTIC
    last_failure: "killed by signal 9"
    sharing: "isolated"
    remark: "a switch between contexts costs about 140 µs each way"
    counters {
      worker_launches: 12
      worker_resident: true
      batches_completed: 1797
      batches_failed: 2
      batches_in_flight: 1
      tasks_completed: 12579
      segments: 3
      segment_bytes: 6291456
      programs: 1
      arena_bytes_used: 1048576
      arena_bytes_total: 67108864
    }
  }
  devices {
    device { name: "host:0" model: "EPYC" memory_bytes: 1073741824 }
    state: EXECUTOR_STATE_STARTING
    residence: RESIDENCE_DEDICATED
  })";

TEST(FormatTest, Status) {
  const auto status = Parse<v1::GetStatusResponse>(std::string(R"(
    version: "0.1.0" pid: 4242 uptime_seconds: 7500 socket_path: "/run/gpuosd/gpuosd.sock"
    sessions: 1 open_descriptors: 41 threads: 17)") +
                                                   kTwoDevices);
  EXPECT_EQ(FormatStatus(status),
            R"(gpuosd 0.1.0, pid 4242, up 2 h 5 min, at /run/gpuosd/gpuosd.sock
1 session, 41 descriptors, 17 threads

DEVICE  STATE     RESIDENCE  WORKER    LAUNCHES  BATCHES  FAILED  IN FLIGHT  QUEUED   TASKS  RESTARTS
cuda:0  ready     elastic    resident        12    1,797       2          1       0  12,579         1
host:0  starting  dedicated  parked           0        0       0          0       0       0         0

cuda:0: a switch between contexts costs about 140 µs each way
cuda:0: its last executor was lost: killed by signal 9
)");
}

TEST(FormatTest, Devices) {
  EXPECT_EQ(
      FormatDevices(Parse<v1::ListDevicesResponse>(kTwoDevices)),
      R"(DEVICE  MODEL           MEMORY  STATE     EXECUTOR  SHARING   SEGMENTS   SHARED  PROGRAMS                ARENA  UUID
cuda:0  NVIDIA H200  140.0 GiB  ready     pid 4250  isolated         3  6.0 MiB         1  1.0 MiB of 64.0 MiB  GPU-1b5e
host:0  EPYC           1.0 GiB  starting  -         -                0      0 B         0           0 B of 0 B  -

cuda:0: a switch between contexts costs about 140 µs each way
cuda:0: its last executor was lost: killed by signal 9
)");
}

TEST(FormatTest, Clients) {
  EXPECT_EQ(
      FormatClients(Parse<v1::ListClientsResponse>(R"(
    clients { session: 3 client_name: "digits" pid: 99 uid: 1000 device: "host:0" segments: 2
              segment_bytes: 8192 programs: 1 batches_submitted: 1797 batches_completed: 1796
              age_seconds: 61 }
    clients { session: 12 pid: 100 device: "host:0" })")),
      R"(SESSION  CLIENT  PID   UID  DEVICE  SEGMENTS   SHARED  PROGRAMS  SUBMITTED  COMPLETED        AGE
      3  digits   99  1000  host:0         2  8.0 KiB         1      1,797      1,796  1 min 1 s
     12  -       100     0  host:0         0      0 B         0          0          0        0 s
)");
  EXPECT_EQ(FormatClients({}), "no open sessions\n");
}

TEST(FormatTest, OpsList) {
  EXPECT_EQ(FormatOpsList(Parse<v1::ListOperatorsResponse>(R"(
    operators { name: "add" version: 1 state: OPERATOR_STATE_LIVE calls: 1234 summary: "a + b." }
    operators { name: "softmax" version: 1 state: OPERATOR_STATE_LIVE summary: "Softmax." })")),
            R"(NAME     VERSION  STATE  CALLS  SUMMARY
add            1  live   1,234  a + b.
softmax        1  live       0  Softmax.
)");
  EXPECT_EQ(FormatOpsList({}), "no operators\n");
}

TEST(FormatTest, OpsShow) {
  EXPECT_EQ(FormatOpsShow(Parse<v1::OperatorInfo>(R"(
    name: "matmul" version: 2 state: OPERATOR_STATE_LIVE calls: 1797 builtin: true
    summary: "Matrix product." shape_rule: "[m, k] x [k, n] gives [m, n]"
    operands { name: "out" output: true dtypes: DTYPE_F32 }
    operands { name: "a" dtypes: [ DTYPE_F32, DTYPE_I64 ] }
    attributes { name: "transpose" default_value { b: false } }
    attributes { name: "scale" default_value { f: 0.5 } }
    attributes { name: "dim" default_value { i: -1 } })")),
            R"(matmul, version 2, live, built in, 1,797 calls
Matrix product.
Shape: [m, k] x [k, n] gives [m, n]

OPERAND  DIRECTION  DTYPES
out      output     f32
a        input      f32, i64

ATTRIBUTE  TYPE      DEFAULT
transpose  bool      false
scale      floating  0.5
dim        integer   -1
)");
  EXPECT_EQ(FormatOpsShow(Parse<v1::OperatorInfo>(R"(name: "neg" version: 1)")),
            R"(neg, version 1, unspecified, 0 calls

Shape: -

OPERAND  DIRECTION  DTYPES

no attributes
)");
}

}  // namespace
}  // namespace gpuos::cli
