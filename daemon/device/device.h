// What a device is to the executor: memory, segments of clients, and a worker to launch.
// device/host and device/cuda implement it; one conformance suite (device_conformance.h) holds for
// both.
#ifndef GPUOS_DAEMON_DEVICE_DEVICE_H_
#define GPUOS_DAEMON_DEVICE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/abi/queue.h"

namespace gpuos::device {

using abi::DeviceAddress;

struct Info {
  std::string name;   // "host:0", "cuda:0".
  std::string uuid;   // "GPU-..." as the driver says it; empty for host.
  std::string model;  // As the vendor calls it.
  std::uint64_t memory_bytes = 0;
  std::string sharing;  // "threads", "isolated" or "shared" (MPS).
  std::string remark;   // What that costs, in a sentence; may be empty.
};

// Memory of the executor's own, never visible to a client. All of it is given back when the device
// is destroyed; nothing is freed before, because freeing waits for the worker
// (docs/architecture.md).
class Memory {
 public:
  virtual ~Memory() = default;

  // Zeroed device memory, aligned to 256. RESOURCE_EXHAUSTED says how much was asked and is free;
  // INVALID_ARGUMENT for 0 bytes.
  // Does not wait for the worker.
  virtual absl::StatusOr<DeviceAddress> Allocate(std::size_t bytes) = 0;

  // Copies to device memory; when it returns, a running worker that learns of the bytes afterwards
  // (through the queue) sees them. Blocks for the copy, never for the worker.
  virtual absl::Status Write(DeviceAddress to, absl::Span<const std::byte> bytes) = 0;

  // Copies from device memory. Bytes that a running worker writes at the same time may be torn.
  virtual absl::Status Read(DeviceAddress from, absl::Span<std::byte> bytes) = 0;
};

// The same memory, seen by the CPU and by the worker.
struct SharedBytes {
  std::byte* host = nullptr;
  DeviceAddress device = 0;
};

// A client's memory, mapped.
struct Segment {
  DeviceAddress address = 0;
  std::uint64_t size = 0;  // As the kernel or the driver says.
  std::uint64_t id = 0;    // For Release; unique in the device.
};

class Segments {
 public:
  virtual ~Segments() = default;

  // Maps a sealed memory file; takes its own reference, the caller keeps `descriptor`.
  // INVALID_ARGUMENT says what the descriptor is instead (a pipe, a directory, unsealed, empty).
  // UNIMPLEMENTED where the device cannot.
  virtual absl::StatusOr<Segment> ImportMemoryFile(int descriptor) = 0;

  // Maps an allocation of another process by its legacy CUDA IPC handle (64 bytes) on the GPU named
  // by `uuid`. INVALID_ARGUMENT for another GPU, a handle that the driver refuses, memory of this
  // process. UNIMPLEMENTED where the device cannot.
  virtual absl::StatusOr<Segment> ImportCudaIpc(absl::Span<const std::byte> handle,
                                                const std::string& uuid) = 0;

  // Lets a segment go. REQUIRES: no running batch uses it, and no worker is resident unless
  // ReleaseWaitsForWorker() is false.
  virtual absl::Status Release(const Segment& segment) = 0;

  // Whether Release would block while a worker is resident.
  virtual bool ReleaseWaitsForWorker() const = 0;
};

// The persistent worker. Its state lies in device memory (abi::WorkerState); a launch runs until
// the worker obeys a PARK entry.
class Worker {
 public:
  virtual ~Worker() = default;

  // Queues launch number `launch` (1, 2, ... over one state) behind earlier launches. Does not
  // block, except in a tool that makes launches synchronous (then a PARK must already be in the
  // queue).
  virtual absl::Status Launch(DeviceAddress state, std::uint64_t launch) = 0;

  // Launches that have ended. An error is the device's fault (a trap, an illegal address): the
  // worker and its memory are lost and the executor must be replaced. Does not block.
  virtual absl::StatusOr<std::uint64_t> FinishedLaunches() = 0;

  // Address of the operators' code addresses, in the order of ops::Builtins(): abi table.
  virtual DeviceAddress BuiltinTable() const = 0;

  // Blocks that run operators; a task wider than this gains nothing.
  virtual std::uint32_t runner_blocks() const = 0;
};

// Owner of all three; they live as long as it. Thread-compatible: one thread, the executor's.
// REQUIRES at destruction: no worker is resident.
class Device {
 public:
  virtual ~Device() = default;

  virtual const Info& info() const = 0;
  virtual Memory& memory() = 0;
  virtual Segments& segments() = 0;
  virtual Worker& worker() = 0;

  // Zeroed memory that CPU and worker both see, aligned to 4096; given back with the device. Errors
  // as of Memory::Allocate.
  virtual absl::StatusOr<SharedBytes> AllocateShared(std::size_t bytes) = 0;

  // A descriptor that becomes readable (an eventfd, to be drained by the caller) when a batch has
  // completed or a launch ended, or -1 if the executor has to poll.
  virtual int completion_descriptor() const = 0;
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_DEVICE_H_
