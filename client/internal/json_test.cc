#include "client/internal/json.h"

#include <gtest/gtest.h>

#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/operators.pb.h"

namespace gpuos::internal {
namespace {

TEST(JsonTest, WritesEveryFieldUnderItsProtoName) {
  v1::ListClientsResponse clients;
  v1::ClientInfo& client = *clients.add_clients();
  client.set_session(std::uint64_t{1} << 60);
  client.set_client_name("digits \"1\"");
  client.set_age_seconds(1.5);
  EXPECT_EQ(ToJson(clients),
            R"({"clients":[{"session":1152921504606846976,"client_name":"digits \"1\"","pid":0,)"
            R"("uid":0,"device":"","segments":0,"segment_bytes":0,"programs":0,)"
            R"("batches_submitted":0,"batches_completed":0,"age_seconds":1.5}]})");
}

TEST(JsonTest, NamesEnumsAndLeavesOutWhatIsNotSet) {
  v1::DeviceStatus device;
  device.set_residence(v1::RESIDENCE_ELASTIC);
  EXPECT_EQ(ToJson(device),
            R"({"state":"EXECUTOR_STATE_UNSPECIFIED","executor_pid":0,"executor_restarts":0,)"
            R"("residence":"RESIDENCE_ELASTIC","last_failure":"","sharing":"","remark":""})");
  v1::AttributeSignature attribute;
  attribute.set_name("dim");
  attribute.mutable_default_value()->set_i(0);
  EXPECT_EQ(ToJson(attribute), R"({"name":"dim","default_value":{"i":0}})");
}

TEST(JsonTest, WritesListsOfEnums) {
  v1::OperandSignature operand;
  operand.add_dtypes(v1::DTYPE_F32);
  operand.add_dtypes(v1::DTYPE_BOOL);
  EXPECT_EQ(ToJson(operand), R"({"name":"","output":false,"dtypes":["DTYPE_F32","DTYPE_BOOL"]})");
}

TEST(JsonTest, IndentsForPeople) {
  v1::ListDevicesResponse devices;
  EXPECT_EQ(ToJson(devices, 2), "{\n  \"devices\": []\n}");
}

}  // namespace
}  // namespace gpuos::internal
