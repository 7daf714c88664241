// The exporter's side.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/device/cuda/context.h"
#include "daemon/device/cuda/cuda_memory.h"
#include "daemon/device/cuda/device_info.h"
#include "daemon/device/cuda/driver.h"
#include "daemon/device/cuda/testing/exporter.h"
#include "daemon/device/cuda/testing/exporter_protocol.h"

namespace gpuos::device::testing {
namespace {

constexpr std::size_t kStackBytes = 1024;

template <typename T>
T Check(absl::StatusOr<T> value) {
  if (!value.ok()) throw std::runtime_error(value.status().ToString());
  return *std::move(value);
}

// The executor never exports, so this is in no table of its own.
CUipcMemHandle Export(const std::string& library, DeviceAddress address) {
  void* driver = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto get_handle =
      reinterpret_cast<decltype(&::cuIpcGetMemHandle)>(dlsym(driver, "cuIpcGetMemHandle"));
  CUipcMemHandle handle{};
  if (get_handle == nullptr || get_handle(&handle, address) != CUDA_SUCCESS) {
    throw std::runtime_error("cuIpcGetMemHandle failed");
  }
  return handle;
}

bool Serve(const ExporterRequest& request, CudaMemory& memory, DeviceAddress address) {
  std::vector<std::byte> bytes(request.size);
  if (request.kind == ExporterRequest::Kind::kWrite) {
    const char done = 1;
    return ReceiveAll(kExporterSocket, bytes.data(), bytes.size()) &&
           memory.Write(address + request.offset, bytes).ok() && SendAll(kExporterSocket, &done, 1);
  }
  return memory.Read(address + request.offset, absl::MakeSpan(bytes)).ok() &&
         SendAll(kExporterSocket, bytes.data(), bytes.size());
}

void ServeMemory(const std::string& library, std::size_t bytes) {
  const std::unique_ptr<Driver> driver = Check(Driver::Load(library));
  const Info info = Check(QueryInfo(*driver, 0));
  const std::unique_ptr<Context> context = Check(Context::Create(*driver, 0, kStackBytes));
  const std::unique_ptr<CudaMemory> memory = Check(CudaMemory::Create(*driver, info.name));
  // A neighbour in the same block of the driver, so that the handle's memory is not at its start.
  Check(memory->Allocate(4096));
  const DeviceAddress address = Check(memory->Allocate(bytes));
  const CUipcMemHandle handle = Export(library, address);
  ExporterHello hello{};
  static_assert(sizeof(hello.handle) == sizeof(handle));
  std::memcpy(hello.handle, &handle, sizeof(handle));
  std::snprintf(hello.uuid, sizeof(hello.uuid), "%s", info.uuid.c_str());
  SendAll(kExporterSocket, &hello, sizeof(hello));
  ExporterRequest request{};
  while (ReceiveAll(kExporterSocket, &request, sizeof(request)) &&
         Serve(request, *memory, address)) {
  }
}

}  // namespace

bool RunIfExporter(int argc, char** argv, int& status) {
  if (argc != 4 || std::strcmp(argv[1], kExporterFlag) != 0) return false;
  status = EXIT_SUCCESS;
  try {
    ServeMemory(argv[2], std::strtoull(argv[3], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exporter: %s\n", error.what());
    status = EXIT_FAILURE;
  }
  return true;
}

}  // namespace gpuos::device::testing
