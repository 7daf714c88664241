#include "daemon/device/cuda/cuda_status.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpuos::device {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CudaStatusTest, TheSentenceHasTheCallItsPurposeAndTheDriversWords) {
  const absl::Status status =
      ToStatus(CUDA_ERROR_OUT_OF_MEMORY, {.call = "cuMemAlloc",
                                          .detail = "of 4096 bytes",
                                          .name = "CUDA_ERROR_OUT_OF_MEMORY",
                                          .text = "out of memory"});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(status.message()),
            "cuMemAlloc of 4096 bytes failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

TEST(CudaStatusTest, AnErrorThatLosesTheContextSaysSo) {
  for (const CUresult result : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED,
                                CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS}) {
    EXPECT_TRUE(LosesContext(result));
    const absl::Status status =
        ToStatus(result, {.call = "cuEventQuery", .detail = "", .name = "N", .text = "t"});
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr("cuEventQuery failed: N (t); the worker"));
  }
  EXPECT_FALSE(LosesContext(CUDA_ERROR_NOT_READY));
  EXPECT_THAT(std::string(ToStatus(CUDA_ERROR_UNKNOWN, {}).message()), Not(HasSubstr("lost")));
}

TEST(CudaStatusTest, CodesFollowTheKindOfTheError) {
  EXPECT_EQ(CodeOf(CUDA_SUCCESS), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf(CUDA_ERROR_NO_DEVICE), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf(CUDA_ERROR_MPS_SERVER_NOT_READY), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf(CUDA_ERROR_INVALID_VALUE), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(CUDA_ERROR_UNKNOWN), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace gpuos::device
