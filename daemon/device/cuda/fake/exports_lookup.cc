// Entry points: looking up the others; and the tests' own (control.h).
#include <cstring>

#include "daemon/device/cuda/fake/control.h"
#include "daemon/device/cuda/fake/exports.h"

namespace {

using gpuos::device::fake::Machine;

struct EntryPoint {
  const char* name;
  void* function;
};

// The plain name finds the newest form, as cuGetProcAddress does: <cuda.h> renames the function.
#define GPUOS_FAKE_ENTRY_POINT(name) {#name, reinterpret_cast<void*>(&::name)},
const EntryPoint kEntryPoints[] = {
    GPUOS_FAKE_ENTRY_POINT(cuCtxGetCurrent)            //
    GPUOS_FAKE_ENTRY_POINT(cuCtxGetDevice)             //
    GPUOS_FAKE_ENTRY_POINT(cuCtxSetCurrent)            //
    GPUOS_FAKE_ENTRY_POINT(cuCtxSetLimit)              //
    GPUOS_FAKE_ENTRY_POINT(cuCtxSynchronize)           //
    GPUOS_FAKE_ENTRY_POINT(cuDeviceGet)                //
    GPUOS_FAKE_ENTRY_POINT(cuDeviceGetAttribute)       //
    GPUOS_FAKE_ENTRY_POINT(cuDeviceGetCount)           //
    GPUOS_FAKE_ENTRY_POINT(cuDeviceGetName)            //
    GPUOS_FAKE_ENTRY_POINT(cuDeviceGetUuid)            //
    GPUOS_FAKE_ENTRY_POINT(cuDevicePrimaryCtxRelease)  //
    GPUOS_FAKE_ENTRY_POINT(cuDevicePrimaryCtxRetain)   //
    GPUOS_FAKE_ENTRY_POINT(cuDeviceTotalMem)           //
    GPUOS_FAKE_ENTRY_POINT(cuDriverGetVersion)         //
    GPUOS_FAKE_ENTRY_POINT(cuEventCreate)              //
    GPUOS_FAKE_ENTRY_POINT(cuEventDestroy)             //
    GPUOS_FAKE_ENTRY_POINT(cuEventQuery)               //
    GPUOS_FAKE_ENTRY_POINT(cuEventRecord)              //
    GPUOS_FAKE_ENTRY_POINT(cuFuncLoad)                 //
    GPUOS_FAKE_ENTRY_POINT(cuFuncSetAttribute)         //
    GPUOS_FAKE_ENTRY_POINT(cuGetErrorName)             //
    GPUOS_FAKE_ENTRY_POINT(cuGetErrorString)           //
    GPUOS_FAKE_ENTRY_POINT(cuInit)                     //
    GPUOS_FAKE_ENTRY_POINT(cuIpcCloseMemHandle)        //
    GPUOS_FAKE_ENTRY_POINT(cuIpcGetMemHandle)          //
    GPUOS_FAKE_ENTRY_POINT(cuIpcOpenMemHandle)         //
    GPUOS_FAKE_ENTRY_POINT(cuLaunchKernel)             //
    GPUOS_FAKE_ENTRY_POINT(cuMemAlloc)                 //
    GPUOS_FAKE_ENTRY_POINT(cuMemFree)                  //
    GPUOS_FAKE_ENTRY_POINT(cuMemFreeHost)              //
    GPUOS_FAKE_ENTRY_POINT(cuMemGetAddressRange)       //
    GPUOS_FAKE_ENTRY_POINT(cuMemGetInfo)               //
    GPUOS_FAKE_ENTRY_POINT(cuMemHostAlloc)             //
    GPUOS_FAKE_ENTRY_POINT(cuMemHostGetDevicePointer)  //
    GPUOS_FAKE_ENTRY_POINT(cuMemHostRegister)          //
    GPUOS_FAKE_ENTRY_POINT(cuMemHostUnregister)        //
    GPUOS_FAKE_ENTRY_POINT(cuMemcpyDtoH)               //
    GPUOS_FAKE_ENTRY_POINT(cuMemcpyDtoHAsync)          //
    GPUOS_FAKE_ENTRY_POINT(cuMemcpyHtoD)               //
    GPUOS_FAKE_ENTRY_POINT(cuMemcpyHtoDAsync)          //
    GPUOS_FAKE_ENTRY_POINT(cuModuleGetFunction)        //
    GPUOS_FAKE_ENTRY_POINT(cuModuleGetGlobal)          //
    GPUOS_FAKE_ENTRY_POINT(cuModuleLoadData)           //
    GPUOS_FAKE_ENTRY_POINT(cuModuleUnload)             //
    GPUOS_FAKE_ENTRY_POINT(cuPointerGetAttribute)      //
    GPUOS_FAKE_ENTRY_POINT(cuStreamCreate)             //
    GPUOS_FAKE_ENTRY_POINT(cuStreamDestroy)            //
    GPUOS_FAKE_ENTRY_POINT(cuStreamSynchronize)        //
};
#undef GPUOS_FAKE_ENTRY_POINT

}  // namespace

extern "C" {

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t /*flags*/,
                          CUdriverProcAddressQueryResult* found) {
  GPUOS_FAKE_ENTER(cuGetProcAddress)
  *function = nullptr;
  if (found != nullptr) *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (version > Machine::Get().setting().version) return CUDA_ERROR_NOT_FOUND;
  for (const EntryPoint& entry : kEntryPoints) {
    if (std::strcmp(entry.name, name) != 0) continue;
    *function = entry.function;
    if (found != nullptr) *found = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

void gpuos_fake_reset(void) { Machine::Get().calls().Reset(); }

unsigned long gpuos_fake_calls(const char* name) { return Machine::Get().calls().CountCalls(name); }

const char* gpuos_fake_call(unsigned long index) { return Machine::Get().calls().Call(index); }

unsigned long gpuos_fake_violations(void) { return Machine::Get().calls().CountViolations(); }

const char* gpuos_fake_violation(unsigned long index) {
  return Machine::Get().calls().Violation(index);
}

void gpuos_fake_fail(const char* name, unsigned long nth, int error) {
  Machine::Get().calls().PlanFailure(name, nth, static_cast<CUresult>(error));
}

unsigned long gpuos_fake_live_objects(void) {
  return static_cast<unsigned long>(Machine::Get().objects.load()) + Machine::Get().heap().live();
}

}  // extern "C"
