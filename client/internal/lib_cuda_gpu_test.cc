// The real driver on a real GPU: what it says about each kind of memory.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "client/internal/lib_cuda.h"
#include "client/testing/status_matchers.h"

namespace gpuos::internal {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr unsigned kAttachGlobal = 1;
constexpr std::size_t kSize = std::size_t{4} << 20;

// The driver's own allocators, by their binary interface.
class LibCudaGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = ::dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    ASSERT_EQ(Call<int(unsigned)>("cuInit")(0), 0);
    void* context = nullptr;
    ASSERT_EQ((Call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0)), 0);
    ASSERT_EQ(Call<int(void*)>("cuCtxSetCurrent")(context), 0);
    auto driver = LoadLibCuda();
    ASSERT_THAT(driver, IsOk());
    driver_ = *driver;
  }

  template <typename Function>
  Function* Call(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  std::uint64_t Allocate() {
    std::uint64_t pointer = 0;
    EXPECT_EQ((Call<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&pointer, kSize)), 0);
    return pointer;
  }
  void Free(std::uint64_t pointer) {
    EXPECT_EQ(Call<int(std::uint64_t)>("cuMemFree_v2")(pointer), 0);
  }
  absl::Status Exportable(std::uint64_t pointer) {
    absl::StatusOr<PointerFacts> facts = driver_->Inspect(pointer);
    return facts.ok() ? CheckExportable(pointer, *facts) : facts.status();
  }

  void* library_ = nullptr;
  CudaDriver* driver_ = nullptr;
};

TEST_F(LibCudaGpuTest, FindsTheAllocationAroundAPointerFromAThreadWithoutAContext) {
  const std::uint64_t block = Allocate();
  std::thread([&] {
    auto facts = driver_->Inspect(block + 4096);
    ASSERT_THAT(facts, IsOk());
    EXPECT_THAT(CheckExportable(block, *facts), IsOk());
    EXPECT_EQ(facts->base, block);
    EXPECT_EQ(facts->size, kSize);
    EXPECT_THAT(facts->device_uuid, ::testing::MatchesRegex("GPU-[0-9a-f-]{36}"));
    auto handle = driver_->ExportHandle(facts->base);
    ASSERT_THAT(handle, IsOk());
    EXPECT_EQ(handle->size(), 64u);
  }).join();
  Free(block);
}

TEST_F(LibCudaGpuTest, NewAllocationsHaveNewBufferIds) {
  const std::uint64_t first = Allocate();
  const auto before = driver_->Inspect(first);
  Free(first);
  const std::uint64_t second = Allocate();
  const auto after = driver_->Inspect(second);
  Free(second);
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  EXPECT_NE(before->buffer_id, after->buffer_id);
}

TEST_F(LibCudaGpuTest, NamesManagedMemory) {
  std::uint64_t pointer = 0;
  ASSERT_EQ((Call<int(std::uint64_t*, std::size_t, unsigned)>("cuMemAllocManaged")(&pointer, kSize,
                                                                                   kAttachGlobal)),
            0);
  EXPECT_THAT(Exportable(pointer),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cudaMallocManaged")));
  Free(pointer);
}

TEST_F(LibCudaGpuTest, NamesMemoryOfAPool) {
  std::uint64_t pointer = 0;
  ASSERT_EQ(
      (Call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync")(&pointer, kSize, nullptr)),
      0);
  ASSERT_EQ(Call<int()>("cuCtxSynchronize")(), 0);
  EXPECT_THAT(Exportable(pointer),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cudaMallocAsync pool")));
  Free(pointer);
}

TEST_F(LibCudaGpuTest, NamesHostMemory) {
  void* pinned = nullptr;
  ASSERT_EQ((Call<int(void**, std::size_t)>("cuMemAllocHost_v2")(&pinned, kSize)), 0);
  EXPECT_THAT(Exportable(reinterpret_cast<std::uint64_t>(pinned)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is host memory")));
  EXPECT_EQ(Call<int(void*)>("cuMemFreeHost")(pinned), 0);
  EXPECT_THAT(Exportable(reinterpret_cast<std::uint64_t>(&pinned)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("CUDA tensor")));
}

}  // namespace
}  // namespace gpuos::internal
