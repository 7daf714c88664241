// Limits that the wire contract promises and the structs of the ABI rely on.
#ifndef GPUOS_KERNELS_ABI_LIMITS_H_
#define GPUOS_KERNELS_ABI_LIMITS_H_

#include <cstdint>

namespace gpuos::abi {

inline constexpr std::uint32_t kMaxDims = 8;
inline constexpr std::uint32_t kMaxOperands = 8;
inline constexpr std::uint32_t kMaxAttributes = 8;
// A task's index fits 16 bits of a ready item (ready_item.h).
inline constexpr std::uint32_t kMaxTasks = 65536;
inline constexpr std::uint32_t kMaxSlots = 4096;
// Batches published to a device at once. A window index fits 8 bits of a ready item.
inline constexpr std::uint32_t kWindow = 64;
// Entries of the device queue: every published batch, a PARK behind each, and slack. Power of two.
inline constexpr std::uint32_t kQueueEntries = 256;
// Bindings start at multiples of this, so that operators may assume it of a slot's address.
inline constexpr std::uint64_t kBindingAlignment = 16;
// Shared memory that the worker gives an operator, bytes.
inline constexpr std::uint32_t kScratchBytes = 32768;

}  // namespace gpuos::abi

#endif  // GPUOS_KERNELS_ABI_LIMITS_H_
