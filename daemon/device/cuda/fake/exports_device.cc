// Entry points: initialization, devices, contexts, errors.
#include <cstring>
#include <string>

#include "daemon/device/cuda/fake/exports.h"

namespace {

using gpuos::device::fake::DeviceHeap;
using gpuos::device::fake::Machine;

// No context has content: what matters is who retained it and on which thread it is current.
int contexts[16];
thread_local CUcontext current_context = nullptr;

bool IsDevice(CUdevice device) { return device >= 0 && device < Machine::Get().setting().devices; }

CUcontext ContextOf(CUdevice device) { return reinterpret_cast<CUcontext>(&contexts[device]); }

struct ErrorWords {
  CUresult error;
  const char* name;
  const char* text;
};
constexpr ErrorWords kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
};

const ErrorWords* FindError(CUresult error) {
  for (const ErrorWords& words : kErrors) {
    if (words.error == error) return &words;
  }
  return nullptr;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  GPUOS_FAKE_ENTER(cuInit)
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return Machine::Get().setting().devices == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  GPUOS_FAKE_ENTER(cuDriverGetVersion)
  *version = Machine::Get().setting().version;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  GPUOS_FAKE_ENTER(cuDeviceGetCount)
  *count = Machine::Get().setting().devices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  GPUOS_FAKE_ENTER(cuDeviceGet)
  if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  GPUOS_FAKE_ENTER(cuDeviceGetName)
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  GPUOS_FAKE_ENTER(cuDeviceGetUuid)
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(0xf0 + i);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  GPUOS_FAKE_ENTER(cuDeviceTotalMem)
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = DeviceHeap::kTotalBytes;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  GPUOS_FAKE_ENTER(cuDeviceGetAttribute)
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = Machine::Get().setting().multiprocessors;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
      *value = Machine::Get().setting().mps;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  GPUOS_FAKE_ENTER(cuDevicePrimaryCtxRetain)
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  ++contexts[device];
  ++Machine::Get().objects;
  *context = ContextOf(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  GPUOS_FAKE_ENTER_WAITING(cuDevicePrimaryCtxRelease)
  if (!IsDevice(device) || contexts[device] == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --contexts[device];
  --Machine::Get().objects;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  GPUOS_FAKE_ENTER(cuCtxSetCurrent)
  current_context = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  GPUOS_FAKE_ENTER(cuCtxGetCurrent)
  *context = current_context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  GPUOS_FAKE_ENTER(cuCtxGetDevice)
  if (current_context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = static_cast<CUdevice>(reinterpret_cast<int*>(current_context) - contexts);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t bytes) {
  GPUOS_FAKE_ENTER_WAITING(cuCtxSetLimit)
  if (current_context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return limit == CU_LIMIT_STACK_SIZE && bytes != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxSynchronize() {
  GPUOS_FAKE_ENTER_WAITING(cuCtxSynchronize)
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  const ErrorWords* words = FindError(error);
  *name = words == nullptr ? nullptr : words->name;
  return words == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  const ErrorWords* words = FindError(error);
  *text = words == nullptr ? nullptr : words->text;
  return words == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // extern "C"
