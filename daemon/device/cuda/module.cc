#include "daemon/device/cuda/module.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/device/cuda/device_info.h"

namespace gpuos::device {
namespace {

constexpr char kWorkerName[] = "gpuos_worker";
constexpr char kTableName[] = "gpuos_builtin_table";

absl::Status WrongArchitecture(const Driver& driver, int ordinal) {
  const absl::StatusOr<int> major =
      QueryAttribute(driver, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const absl::StatusOr<int> minor =
      QueryAttribute(driver, ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return absl::FailedPreconditionError(absl::StrCat(
      DeviceName(ordinal), " has compute capability ", major.value_or(0), ".", minor.value_or(0),
      "; this worker was built for another (9.0 unless the build says otherwise)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Module::Load(const Driver& driver, int ordinal,
                                                     absl::Span<const std::byte> image) {
  CUmodule handle = nullptr;
  const CUresult result = driver.api().cuModuleLoadData(&handle, image.data());
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) return WrongArchitecture(driver, ordinal);
  absl::Status status = driver.Check(
      result, "cuModuleLoadData",
      absl::StrCat("of the worker's image (", image.size(), " bytes) on ", DeviceName(ordinal)));
  if (!status.ok()) return status;
  // From here on the destructor unloads it.
  auto module = std::unique_ptr<Module>(new Module(driver, handle));
  status = module->FindParts();
  if (!status.ok()) return status;
  status = module->MakeReady();
  if (!status.ok()) return status;
  return module;
}

Module::~Module() { driver_.api().cuModuleUnload(handle_); }

absl::Status Module::FindParts() {
  const absl::Status status =
      driver_.Check(driver_.api().cuModuleGetFunction(&worker_, handle_, kWorkerName),
                    "cuModuleGetFunction", absl::StrCat("of ", kWorkerName));
  if (!status.ok()) return status;
  CUdeviceptr table = 0;
  std::size_t bytes = 0;
  const CUresult result = driver_.api().cuModuleGetGlobal(&table, &bytes, handle_, kTableName);
  builtin_table_ = table;
  return driver_.Check(result, "cuModuleGetGlobal", absl::StrCat("of ", kTableName));
}

absl::Status Module::MakeReady() const {
  absl::Status status = driver_.Check(driver_.api().cuFuncLoad(worker_), "cuFuncLoad",
                                      absl::StrCat("of ", kWorkerName));
  if (!status.ok()) return status;
  // With the default carve-out a kernel that needs much shared memory never starts beside the
  // worker.
  return driver_.Check(
      driver_.api().cuFuncSetAttribute(worker_, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                       CU_SHAREDMEM_CARVEOUT_MAX_SHARED),
      "cuFuncSetAttribute", "of the shared-memory carve-out");
}

}  // namespace gpuos::device
