// The device queue: how the executor hands batches to the worker and hears of their end.
//
// QueuePage lies in memory that both sides see (pinned memory of the executor on a GPU). Each word
// has one writer. Nothing in it is ever mapped by a client. docs/queue-format.md describes it.
#ifndef GPUOS_KERNELS_ABI_QUEUE_H_
#define GPUOS_KERNELS_ABI_QUEUE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/abi/limits.h"

namespace gpuos::abi {

// An address that the worker can use.
using DeviceAddress = std::uint64_t;

enum class EntryKind : std::uint32_t {
  kNone = 0,  // Zeroed memory is harmless: the worker skips it.
  kBatch = 1,
  // The worker leaves once every batch published before has finished. Entries behind it wait for
  // the next launch.
  kPark = 2,
};

struct QueueEntry {
  EntryKind kind;
  std::uint32_t window;  // Index of the batch's Completion; free until that is read.
  std::uint64_t id;      // Of the batch, from 1 upwards.
  DeviceAddress program;
  DeviceAddress state;  // BatchStateBytes() of device memory, contents irrelevant.
  DeviceAddress table;  // Code addresses, by Task::op.
  // slot_count addresses, in the queue's own memory or any that the worker sees. Copied when the
  // entry is taken; must stay until the batch's completion.
  DeviceAddress bindings;
  std::uint64_t reserved[2];
};
static_assert(sizeof(QueueEntry) == 64);

// How a batch ended.
enum class BatchCode : std::uint32_t {
  kOk = 0,
  kOperatorFailed = 1,  // An operator reported a failure: detail is operator's code << 32 | task.
};

struct Completion {
  std::uint64_t id;  // Written last: release, system scope.
  BatchCode code;
  std::uint32_t reserved;
  std::uint64_t detail;
  std::uint64_t pad[5];
};
static_assert(sizeof(Completion) == 64);

// What the worker tells about itself while it is resident.
struct Heartbeat {
  std::uint64_t clock_ns;  // The device's own clock; changes while the scheduler block runs.
  std::uint64_t progress;  // Tiles finished since the state was made.
  std::uint64_t launch;    // Number of the launch that wrote this.
  std::uint64_t left;      // Number of the last launch that obeyed a PARK. Release, system scope.
  std::uint64_t pad[4];
};
static_assert(sizeof(Heartbeat) == 64);

struct QueuePage {
  alignas(64) std::uint64_t tail;  // Entries published so far. Written by the executor, release.
  std::uint64_t pad0[7];
  alignas(64) Heartbeat heartbeat;              // Written by the worker's scheduler block.
  alignas(64) Completion completions[kWindow];  // Written by the block that ends the batch.
  alignas(64) QueueEntry entries[kQueueEntries];
};
static_assert(sizeof(QueuePage) == 128 + kWindow * 64 + kQueueEntries * 64);
static_assert(offsetof(QueuePage, completions) == 128);

}  // namespace gpuos::abi

#endif  // GPUOS_KERNELS_ABI_QUEUE_H_
