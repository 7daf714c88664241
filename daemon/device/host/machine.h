// What the host device says about the machine.
#ifndef GPUOS_DAEMON_DEVICE_HOST_MACHINE_H_
#define GPUOS_DAEMON_DEVICE_HOST_MACHINE_H_

#include <cstdint>
#include <string>

namespace gpuos::device {

// The processor's name as its vendor gives it, "unknown processor" if the kernel does not say.
std::string ProcessorModel();

// Physical memory, bytes.
std::uint64_t MachineMemoryBytes();

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_HOST_MACHINE_H_
