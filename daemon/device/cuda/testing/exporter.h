// Test only: another process that shares GPU memory by a legacy CUDA IPC handle. The test program
// is its own exporter: it starts itself again with kExporterFlag, so that it needs no file beside
// it.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_TESTING_EXPORTER_H_
#define GPUOS_DAEMON_DEVICE_CUDA_TESTING_EXPORTER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/device/testing/foreign_memory.h"

namespace gpuos::device::testing {

// First argument of an exporter; then come the driver's library and the number of bytes.
inline constexpr char kExporterFlag[] = "--export-memory";

// For main(): if the arguments are an exporter's, serves the parent until it closes its end, and
// returns true with the program's exit status in `status`.
bool RunIfExporter(int argc, char** argv, int& status);

// Starts an exporter of `bytes` of device 0's memory by `driver_library`; it ends with the object.
std::unique_ptr<ForeignMemory> StartExporter(const std::string& driver_library,
                                             std::uint64_t bytes);

}  // namespace gpuos::device::testing

#endif  // GPUOS_DAEMON_DEVICE_CUDA_TESTING_EXPORTER_H_
