// The executor's end of the device queue (kernels/abi/queue.h): publishes entries, reads
// completions.
#ifndef GPUOS_DAEMON_DEVICE_QUEUE_WRITER_H_
#define GPUOS_DAEMON_DEVICE_QUEUE_WRITER_H_

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/abi/limits.h"
#include "kernels/abi/queue.h"

namespace gpuos::device {

// How a batch ended: a copy of its Completion.
struct CompletionView {
  std::uint64_t id = 0;
  abi::BatchCode code = abi::BatchCode::kOk;
  std::uint64_t detail = 0;  // See abi::BatchCode.

  bool operator==(const CompletionView&) const = default;
};

// Does not own the page, which must outlive it and must be zeroed when the writer is made: there is
// one writer a page, for the page's whole life. Thread-compatible: one thread, the executor's; the
// worker may use the page at the same time. Nothing blocks, nothing fails.
//
// The writer keeps no count of what the worker has taken. The caller bounds what is published and
// not taken to abi::kQueueEntries: at most abi::kWindow batches wait for their completions, and at
// most one PARK stands behind each, plus some to stop the worker.
class QueueWriter {
 public:
  explicit QueueWriter(abi::QueuePage& page) : page_(page) {}
  QueueWriter(const QueueWriter&) = delete;
  QueueWriter& operator=(const QueueWriter&) = delete;

  // Publishes a batch. What the caller wrote before (bindings, program, state) is visible to the
  // worker when it takes the entry. REQUIRES: entry.kind is kBatch, entry.window < abi::kWindow and
  // idle(entry.window), entry.id larger than every earlier one and not 0.
  void Publish(const abi::QueueEntry& entry);

  // Publishes a PARK: one launch of the worker leaves here, and entries behind wait for the next
  // launch. The n-th PARK is obeyed by launch n, then heartbeat().left is n.
  void PublishPark();

  // Entries published since the page was made, PARKs included.
  std::uint64_t published() const { return published_; }
  std::uint64_t parks_published() const { return parks_published_; }

  // The completion of the batch that was published in `window`, once: after it the window is idle,
  // and the batch's results are visible to the caller and to copies that the caller starts. nullopt
  // while the batch runs and when none was published there.
  std::optional<CompletionView> TakeCompletion(std::uint32_t window);

  // Whether a batch may be published in `window`.
  bool idle(std::uint32_t window) const { return running_[window] == 0; }

  // What the worker last told about itself. Words are read one by one: each is whole, together they
  // may stem from two beats. All that the worker did before it set `left` is visible.
  abi::Heartbeat heartbeat() const;

 private:
  // Puts `entry` where the worker looks next and lets it see it.
  void Append(const abi::QueueEntry& entry);

  abi::QueuePage& page_;
  std::uint64_t published_ = 0;
  std::uint64_t parks_published_ = 0;
  // Id of the batch whose completion stands out, by window; 0 if none does.
  std::array<std::uint64_t, abi::kWindow> running_{};
};

}  // namespace gpuos::device

#endif  // GPUOS_DAEMON_DEVICE_QUEUE_WRITER_H_
