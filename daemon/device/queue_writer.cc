#include "daemon/device/queue_writer.h"

#include <atomic>

namespace gpuos::device {
namespace {

std::uint64_t Load(std::uint64_t& word, std::memory_order order) {
  return std::atomic_ref<std::uint64_t>(word).load(order);
}

}  // namespace

void QueueWriter::Publish(const abi::QueueEntry& entry) {
  running_[entry.window] = entry.id;
  Append(entry);
}

void QueueWriter::PublishPark() {
  ++parks_published_;
  abi::QueueEntry park{};
  park.kind = abi::EntryKind::kPark;
  Append(park);
}

void QueueWriter::Append(const abi::QueueEntry& entry) {
  page_.entries[published_ % abi::kQueueEntries] = entry;
  ++published_;
  // Release: the entry and everything it names, for the acquire of the worker's scheduler.
  std::atomic_ref<std::uint64_t>(page_.tail).store(published_, std::memory_order_release);
}

std::optional<CompletionView> QueueWriter::TakeCompletion(std::uint32_t window) {
  if (idle(window)) return std::nullopt;
  abi::Completion& completion = page_.completions[window];
  // Acquire: the completion's other words and the batch's results, written before its id.
  const std::uint64_t id = Load(completion.id, std::memory_order_acquire);
  if (id != running_[window]) return std::nullopt;
  running_[window] = 0;
  return CompletionView{.id = id, .code = completion.code, .detail = completion.detail};
}

abi::Heartbeat QueueWriter::heartbeat() const {
  abi::Heartbeat& words = page_.heartbeat;
  abi::Heartbeat beat{};
  // Acquire: pairs with the release when a launch leaves.
  beat.left = Load(words.left, std::memory_order_acquire);
  beat.clock_ns = Load(words.clock_ns, std::memory_order_relaxed);
  beat.progress = Load(words.progress, std::memory_order_relaxed);
  beat.launch = Load(words.launch, std::memory_order_relaxed);
  return beat;
}

}  // namespace gpuos::device
