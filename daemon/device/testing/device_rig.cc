#include "daemon/device/testing/device_rig.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/ops/signature.h"

namespace gpuos::device::testing {
namespace {

constexpr std::uint64_t kReadyCapacity = 16384;
constexpr std::chrono::seconds kPatience(20);
constexpr std::uint64_t kBatchStateStride =
    (abi::BatchStateBytes(DeviceRig::kMaxSlots, DeviceRig::kMaxTasks) + 255) / 256 * 256;

void Check(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <typename T>
T Check(absl::StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

template <typename T>
absl::Span<const std::byte> BytesOf(const T* items, std::size_t count) {
  return {reinterpret_cast<const std::byte*>(items), count * sizeof(T)};
}

abi::View VectorOf(abi::DType dtype, std::uint32_t slot, std::int64_t elements,
                   std::uint64_t offset) {
  abi::View view{};
  view.slot = slot;
  view.dtype = dtype;
  view.dims = 1;
  view.offset = offset;
  view.elements = elements;
  for (std::int64_t& size : view.sizes) size = 1;
  view.sizes[0] = elements;
  view.strides[0] = 1;
  return view;
}

std::uint32_t IndexOf(const std::string& name) {
  const auto& operators = ops::Builtins();
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].name == name) return static_cast<std::uint32_t>(i);
  }
  throw std::logic_error("no built-in operator is called " + name);
}

}  // namespace

abi::View Floats(std::uint32_t slot, std::int64_t elements, std::uint64_t offset) {
  return VectorOf(abi::DType::kF32, slot, elements, offset);
}
abi::View Integers(std::uint32_t slot, std::int64_t elements, std::uint64_t offset) {
  return VectorOf(abi::DType::kI64, slot, elements, offset);
}
abi::View Booleans(std::uint32_t slot, std::int64_t elements, std::uint64_t offset) {
  return VectorOf(abi::DType::kBool, slot, elements, offset);
}

worker::HandMadeTask MakeTask(const std::string& name, std::vector<abi::View> views,
                              const std::vector<std::int64_t>& attributes,
                              std::vector<std::uint32_t> successors) {
  worker::HandMadeTask task;
  task.op = IndexOf(name);
  const absl::StatusOr<ops::Plan> plan =
      ops::PlanTask(ops::Builtins()[task.op], absl::MakeSpan(views));
  if (!plan.ok()) throw std::logic_error(plan.status().ToString());
  task.tiles = plan->tiles;
  task.tile_size = plan->tile_size;
  task.views = std::move(views);
  task.successors = std::move(successors);
  for (std::size_t i = 0; i < attributes.size(); ++i) task.attributes[i] = attributes[i];
  return task;
}

DeviceRig::DeviceRig(Device& device) : device_(device) {
  const SharedBytes page = Check(device.AllocateShared(sizeof(abi::QueuePage)));
  queue_.emplace(*reinterpret_cast<abi::QueuePage*>(page.host));
  bindings_ = Check(device.AllocateShared(abi::kWindow * kMaxSlots * sizeof(DeviceAddress)));
  batch_states_ = Check(device.memory().Allocate(abi::kWindow * kBatchStateStride));
  state_ = Check(device.memory().Allocate(sizeof(abi::WorkerState)));
  abi::WorkerState state{};
  state.queue = page.device;
  state.ready = Check(device.memory().Allocate(kReadyCapacity * sizeof(abi::ReadyItem)));
  state.ready_capacity = kReadyCapacity;
  Check(device.memory().Write(state_, BytesOf(&state, 1)));
}

DeviceRig::~DeviceRig() {
  try {
    ParkAll();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the worker cannot be parked: %s\n", error.what());
    std::_Exit(EXIT_FAILURE);
  }
}

LoadedProgram DeviceRig::Load(const std::vector<worker::HandMadeTask>& tasks, std::uint32_t slots) {
  if (tasks.size() > kMaxTasks || slots > kMaxSlots) throw std::logic_error("program too large");
  const std::vector<std::uint64_t> image =
      worker::MakeImage(tasks, slots, device_.worker().runner_blocks());
  LoadedProgram program{.address = NewBytes(image.size() * sizeof(std::uint64_t)), .slots = slots};
  Check(device_.memory().Write(program.address, BytesOf(image.data(), image.size())));
  return program;
}

std::uint64_t DeviceRig::Publish(const LoadedProgram& program,
                                 const std::vector<DeviceAddress>& bindings, std::uint32_t window) {
  if (bindings.size() != program.slots) throw std::logic_error("wrong number of bindings");
  const std::size_t at = window * kMaxSlots * sizeof(DeviceAddress);
  if (!bindings.empty()) {
    std::memcpy(bindings_.host + at, bindings.data(), bindings.size() * sizeof(DeviceAddress));
  }
  abi::QueueEntry entry{};
  entry.kind = abi::EntryKind::kBatch;
  entry.window = window;
  entry.id = ++last_id_;
  entry.program = program.address;
  entry.state = batch_states_ + window * kBatchStateStride;
  entry.table = device_.worker().BuiltinTable();
  entry.bindings = bindings_.device + at;
  queue_->Publish(entry);
  return entry.id;
}

void DeviceRig::Launch() {
  ++launches_;
  Check(device_.worker().Launch(state_, launches_));
}

bool DeviceRig::WaitUntil(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

CompletionView DeviceRig::Await(std::uint32_t window) {
  std::optional<CompletionView> completion;
  const bool came = WaitUntil([&] {
    completion = queue_->TakeCompletion(window);
    return completion.has_value();
  });
  if (!came) {
    Check(device_.worker().FinishedLaunches().status());
    throw std::runtime_error("no completion in window " + std::to_string(window));
  }
  return *completion;
}

CompletionView DeviceRig::Run(const LoadedProgram& program,
                              const std::vector<DeviceAddress>& bindings) {
  Publish(program, bindings);
  return Await();
}

void DeviceRig::AwaitFinished(std::uint64_t launches) {
  const bool came =
      WaitUntil([&] { return Check(device_.worker().FinishedLaunches()) >= launches; });
  if (!came) throw std::runtime_error("launch " + std::to_string(launches) + " has not ended");
}

void DeviceRig::ParkAll() {
  while (queue_->parks_published() < launches_) Park();
  AwaitFinished(launches_);
}

DeviceAddress DeviceRig::NewBytes(std::size_t bytes) {
  return Check(device_.memory().Allocate(bytes));
}

DeviceAddress DeviceRig::NewFloats(const std::vector<float>& values) {
  const DeviceAddress address = NewBytes(values.size() * sizeof(float));
  Check(device_.memory().Write(address, BytesOf(values.data(), values.size())));
  return address;
}

std::vector<float> DeviceRig::ReadFloats(DeviceAddress from, std::size_t count) {
  std::vector<float> values(count);
  Check(device_.memory().Read(
      from, {reinterpret_cast<std::byte*>(values.data()), count * sizeof(float)}));
  return values;
}

std::vector<std::byte> DeviceRig::ReadBytes(DeviceAddress from, std::size_t count) {
  std::vector<std::byte> bytes(count);
  Check(device_.memory().Read(from, absl::MakeSpan(bytes)));
  return bytes;
}

}  // namespace gpuos::device::testing
