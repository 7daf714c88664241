// Numbers and names as people read them.
#ifndef GPUOS_CLIENT_CLI_UNITS_H_
#define GPUOS_CLIENT_CLI_UNITS_H_

#include <cstdint>
#include <string>

#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/operators.pb.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::cli {

// 1234567 -> "1,234,567".
std::string Count(std::uint64_t value);
// "512 B", "1.5 KiB", "139.8 GiB".
std::string Bytes(std::uint64_t bytes);
// The two largest units: "12 s", "3 min 5 s", "2 h 5 min", "40 d 3 h".
std::string Duration(double seconds);
// "EXECUTOR_STATE_READY" -> "ready"; a number that this version does not know stays a number.
std::string Name(v1::ExecutorState state);
std::string Name(v1::Residence residence);
std::string Name(v1::OperatorState state);
std::string Name(v1::DType dtype);
// `text`, or "-" for nothing.
std::string OrDash(const std::string& text);
// "DEVICE: what the mode costs others" and why the last executor was lost: lines below a table,
// empty if there is nothing to say.
std::string Remarks(const v1::DeviceStatus& device);

}  // namespace gpuos::cli

#endif  // GPUOS_CLIENT_CLI_UNITS_H_
