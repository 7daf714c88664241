// Entry points: modules, functions, launches, streams, events.
#include <cstring>

#include "daemon/device/cuda/fake/exports.h"
#include "kernels/abi/worker_state.h"
#include "kernels/ops/builtins.h"

namespace {

using gpuos::device::fake::Event;
using gpuos::device::fake::Machine;
using gpuos::device::fake::Stream;

constexpr unsigned kThreadsPerBlock = 256;

// Handles of things that have no state here: addresses that are theirs alone.
char module_thing;
char worker_function_thing;

CUmodule TheModule() { return reinterpret_cast<CUmodule>(&module_thing); }
CUfunction TheWorker() { return reinterpret_cast<CUfunction>(&worker_function_thing); }

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  GPUOS_FAKE_ENTER_WAITING(cuModuleLoadData)
  if (std::memcmp(image, "\177ELF", 4) != 0) return CUDA_ERROR_INVALID_IMAGE;
  ++Machine::Get().objects;
  *module = TheModule();
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  GPUOS_FAKE_ENTER_WAITING(cuModuleUnload)
  if (module != TheModule()) return CUDA_ERROR_INVALID_HANDLE;
  --Machine::Get().objects;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  GPUOS_FAKE_ENTER(cuModuleGetFunction)
  if (module != TheModule()) return CUDA_ERROR_INVALID_HANDLE;
  if (std::strcmp(name, "gpuos_worker") != 0) return CUDA_ERROR_NOT_FOUND;
  *function = TheWorker();
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name) {
  GPUOS_FAKE_ENTER(cuModuleGetGlobal)
  if (module != TheModule()) return CUDA_ERROR_INVALID_HANDLE;
  if (std::strcmp(name, "gpuos_builtin_table") != 0) return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(gpuos::ops::HostTable());
  if (bytes != nullptr) *bytes = gpuos::ops::Builtins().size() * sizeof(void*);
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function) {
  GPUOS_FAKE_ENTER_WAITING(cuFuncLoad)
  return function == TheWorker() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  GPUOS_FAKE_ENTER(cuFuncSetAttribute)
  const bool known = function == TheWorker() &&
                     attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
                     value >= 0 && value <= 100;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z,
                        unsigned /*shared_bytes*/, CUstream stream, void** parameters,
                        void** /*extra*/) {
  GPUOS_FAKE_ENTER(cuLaunchKernel)
  if (function != TheWorker() || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (grid_y != 1 || grid_z != 1 || block_x != kThreadsPerBlock || block_y != 1 || block_z != 1) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  reinterpret_cast<Stream*>(stream)->has_kernels = true;
  return Machine::Get().LaunchWorker(grid_x, *static_cast<gpuos::abi::WorkerState**>(parameters[0]),
                                     *static_cast<std::uint64_t*>(parameters[1]));
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  GPUOS_FAKE_ENTER(cuStreamCreate)
  // A blocking stream would wait for the default one.
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  ++Machine::Get().objects;
  *stream = reinterpret_cast<CUstream>(new Stream());
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
  GPUOS_FAKE_ENTER(cuStreamDestroy)
  --Machine::Get().objects;
  delete reinterpret_cast<Stream*>(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  auto& stream = *reinterpret_cast<Stream*>(handle);
  if (stream.has_kernels) {
    GPUOS_FAKE_ENTER_WAITING(cuStreamSynchronize)
  } else {
    GPUOS_FAKE_ENTER(cuStreamSynchronize)
  }
  stream.Flush();
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned /*flags*/) {
  GPUOS_FAKE_ENTER(cuEventCreate)
  ++Machine::Get().objects;
  *event = reinterpret_cast<CUevent>(new Event());
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  GPUOS_FAKE_ENTER(cuEventDestroy)
  --Machine::Get().objects;
  delete reinterpret_cast<Event*>(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  GPUOS_FAKE_ENTER(cuEventRecord)
  auto& event = *reinterpret_cast<Event*>(handle);
  event.stream = reinterpret_cast<Stream*>(stream);
  event.launches = event.stream->has_kernels ? Machine::Get().launched() : 0;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle) {
  GPUOS_FAKE_ENTER(cuEventQuery)
  const auto& event = *reinterpret_cast<Event*>(handle);
  if (event.launches > Machine::Get().finished()) return CUDA_ERROR_NOT_READY;
  if (event.stream != nullptr) event.stream->Flush();
  return CUDA_SUCCESS;
}

}  // extern "C"
