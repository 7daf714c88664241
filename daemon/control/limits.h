// How much one client may hold of the daemon. Beyond a limit a request gets RESOURCE_EXHAUSTED with
// a sentence that names it; nothing else changes.
#ifndef GPUOS_DAEMON_CONTROL_LIMITS_H_
#define GPUOS_DAEMON_CONTROL_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace gpuos::control {

// Connections to either socket.
inline constexpr std::size_t kMaxConnections = 4096;
// Sessions of the daemon, attached or not.
inline constexpr std::size_t kMaxSessions = 1024;
// Between OpenSession and AttachHello.
inline constexpr absl::Duration kAttachDeadline = absl::Seconds(10);
// Descriptors of a session that were sent and not yet named by RegisterSegment.
inline constexpr std::size_t kMaxKeptDescriptors = 64;
inline constexpr std::size_t kMaxSegmentsOfSession = 4096;
inline constexpr std::size_t kMaxProgramsOfSession = 4096;
// The descriptions of a session's programs, which gpuosd keeps to load them again, in bytes.
inline constexpr std::size_t kMaxProgramBytesOfSession = std::size_t{256} << 20;
// Batches of a session submitted and not done.
inline constexpr std::size_t kMaxBatchesInFlight = 4096;
// Failures of a session's batches that nobody has asked for yet.
inline constexpr std::size_t kMaxKeptFailures = 4096;
// WaitBatch calls of a session at once.
inline constexpr std::size_t kMaxWaits = 4096;
// Requests that wait for one device's executor to be started again.
inline constexpr std::size_t kMaxHeldRequests = 4096;
// A gRPC message, and one between gpuosd and an executor.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;
// A packet on the attach socket.
inline constexpr std::size_t kMaxAttachPacketBytes = 4096;
inline constexpr std::size_t kMaxClientNameBytes = 128;
inline constexpr std::uint64_t kMaxSegmentBytes = std::uint64_t{1} << 40;
// sockaddr_un::sun_path without the terminating zero.
inline constexpr std::size_t kMaxSocketPathBytes = 107;

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_LIMITS_H_
