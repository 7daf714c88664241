#include "daemon/link/status_codes.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gpuos/v1/attach.pb.h"
#include "gpuos/v1/executor.pb.h"
#include "gtest/gtest.h"

namespace gpuos::link {
namespace {

TEST(StatusCodes, EveryCodeSurvivesTheWire) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "sizes[0] is -1");
    v1::ExecutorResponse response;
    SetStatus(status, response);
    EXPECT_EQ(response.code(), code);
    EXPECT_EQ(StatusOf(response), status);
  }
}

TEST(StatusCodes, OkClearsAnEarlierSentence) {
  v1::AttachAck ack;
  SetStatus(absl::NotFoundError("no such session"), ack);
  EXPECT_EQ(ack.message(), "no such session");
  SetStatus(absl::OkStatus(), ack);
  EXPECT_EQ(ack.code(), 0);
  EXPECT_EQ(ack.message(), "");
}

TEST(StatusCodes, NumbersThatAreNoCodeAreNotSuccess) {
  for (const std::int32_t code : {-1, 17, std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max()}) {
    const absl::Status status = ToStatus(code, "what");
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown);
    EXPECT_EQ(std::string(status.message()), "status code " + std::to_string(code) + ": what");
  }
}

}  // namespace
}  // namespace gpuos::link
