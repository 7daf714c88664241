// Test only: a device with a worker state, a queue and programs written down by hand: what the
// executor does, without its policies.
#ifndef GPUOS_DAEMON_DEVICE_TESTING_DEVICE_RIG_H_
#define GPUOS_DAEMON_DEVICE_TESTING_DEVICE_RIG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "daemon/device/device.h"
#include "daemon/device/queue_writer.h"
#include "kernels/abi/limits.h"
#include "kernels/abi/program.h"
#include "kernels/abi/worker_state.h"
#include "kernels/worker/hand_made_image.h"

namespace gpuos::device::testing {

// A contiguous vector of floats at `slot`, `offset` bytes in.
abi::View Floats(std::uint32_t slot, std::int64_t elements, std::uint64_t offset = 0);
// The same of 64-bit integers and of booleans.
abi::View Integers(std::uint32_t slot, std::int64_t elements, std::uint64_t offset = 0);
abi::View Booleans(std::uint32_t slot, std::int64_t elements, std::uint64_t offset = 0);

// A call of the built-in operator `name`, planned as the executor plans it. Throws std::logic_error
// when the operator is unknown or refuses the views: the test itself is wrong then.
worker::HandMadeTask MakeTask(const std::string& name, std::vector<abi::View> views,
                              const std::vector<std::int64_t>& attributes = {},
                              std::vector<std::uint32_t> successors = {});

// A program on the device.
struct LoadedProgram {
  DeviceAddress address = 0;
  std::uint32_t slots = 0;
};

// Owns the queue and the memory it made on the device, which must outlive it. One thread. Every
// failure of the device throws std::runtime_error with its status; every wait ends after 20
// seconds.
class DeviceRig {
 public:
  static constexpr std::uint32_t kMaxTasks = 1024;
  static constexpr std::uint32_t kMaxSlots = 16;

  explicit DeviceRig(Device& device);
  DeviceRig(const DeviceRig&) = delete;
  DeviceRig& operator=(const DeviceRig&) = delete;
  // Parks what is resident and waits for its end; ends the process if it does not come, since
  // nothing of the device could be freed.
  ~DeviceRig();

  Device& device() { return device_; }
  QueueWriter& queue() { return *queue_; }

  // Copies a program of at most kMaxTasks tasks and kMaxSlots slots to the device.
  LoadedProgram Load(const std::vector<worker::HandMadeTask>& tasks, std::uint32_t slots);

  // Publishes a batch in an idle window and returns its id.
  std::uint64_t Publish(const LoadedProgram& program, const std::vector<DeviceAddress>& bindings,
                        std::uint32_t window = 0);
  // Publishes a PARK.
  void Park() { queue_->PublishPark(); }
  // Queues the next launch.
  void Launch();

  // The completion of the batch in `window`.
  CompletionView Await(std::uint32_t window = 0);
  // Publishes a batch, waits for it. REQUIRES: a worker is resident.
  CompletionView Run(const LoadedProgram& program, const std::vector<DeviceAddress>& bindings);
  // Waits until so many launches have ended.
  void AwaitFinished(std::uint64_t launches);
  // Publishes the PARKs that are missing, waits until no worker is resident.
  void ParkAll();

  std::uint64_t launches() const { return launches_; }

  // Device memory, filled.
  DeviceAddress NewFloats(const std::vector<float>& values);
  DeviceAddress NewBytes(std::size_t bytes);
  std::vector<float> ReadFloats(DeviceAddress from, std::size_t count);
  std::vector<std::byte> ReadBytes(DeviceAddress from, std::size_t count);

 private:
  // Returns whether `done` became true in time.
  static bool WaitUntil(const std::function<bool()>& done);

  Device& device_;
  std::optional<QueueWriter> queue_;
  DeviceAddress state_ = 0;
  DeviceAddress batch_states_ = 0;  // kWindow of them.
  SharedBytes bindings_;            // kWindow times kMaxSlots addresses.
  std::uint64_t last_id_ = 0;
  std::uint64_t launches_ = 0;
};

}  // namespace gpuos::device::testing

#endif  // GPUOS_DAEMON_DEVICE_TESTING_DEVICE_RIG_H_
