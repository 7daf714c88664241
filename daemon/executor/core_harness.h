// For tests: a core over a host device with the test operators, and short ways to ask it for
// things.
#ifndef GPUOS_DAEMON_EXECUTOR_CORE_HARNESS_H_
#define GPUOS_DAEMON_EXECUTOR_CORE_HARNESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/device/device.h"
#include "daemon/executor/core.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::executor {

// A sealed memory file as a client has it: mapped here, its descriptor for the executor. Ends the
// test program if the kernel refuses.
class MemoryFile {
 public:
  explicit MemoryFile(std::size_t bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  template <typename T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(address_) + offset);
  }

 private:
  std::size_t bytes_;
  int fd_;
  void* address_;
};

// A contiguous view of `sizes` at `offset` bytes of `slot`.
v1::View MakeView(std::uint32_t slot, std::vector<std::int64_t> sizes,
                  v1::DType dtype = v1::DTYPE_F32, std::uint64_t offset = 0);

// Builds a program; a slot's index is the order of its Slot call.
class ProgramBuilder {
 public:
  std::uint32_t Slot(std::uint64_t length);
  ProgramBuilder& Task(const std::string& op, std::initializer_list<v1::View> operands,
                       std::initializer_list<std::pair<std::string, std::int64_t>> integers = {});
  const v1::Program& program() const { return program_; }

 private:
  v1::Program program_;
};

// Thread-compatible. Stops the core and checks that it parks when it is destroyed.
class CoreHarness {
 public:
  static constexpr std::chrono::seconds kPatience{20};

  explicit CoreHarness(const CoreOptions& options, std::uint32_t threads = 2);
  // Over a device of the caller's (a decorated one), whose operators are ops::Builtins().
  CoreHarness(std::unique_ptr<device::Device> device, const CoreOptions& options);
  ~CoreHarness();

  Core& core() { return *core_; }
  Ticket NewTicket() { return next_ticket_++; }

  // Opens a session with `file` as its segment 1.
  void OpenSession(std::uint64_t session, const MemoryFile& file);
  // Loads a program; fails the test if that is refused.
  void Load(std::uint64_t session, std::uint64_t id, const ProgramBuilder& builder);
  // Hands a batch over; the ticket, or the test fails.
  Ticket Run(std::uint64_t session, std::uint64_t program, const std::vector<Binding>& bindings);

  // Steps once and keeps the answers.
  void Step();
  // Steps until `done`, sleeping on the device's descriptor; false after kPatience or on an error
  // of the device, which health() then says.
  bool StepUntil(const std::function<bool()>& done);
  bool answered(Ticket ticket) const { return answers_.count(ticket) > 0; }
  // The answer, stepping until it comes. DEADLINE_EXCEEDED if it does not.
  absl::Status Wait(Ticket ticket);
  // Tickets in the order in which they were answered.
  const std::vector<Ticket>& order() const { return order_; }
  const absl::Status& health() const { return health_; }
  Counters counters() { return core_->counters(std::chrono::steady_clock::now()); }

 private:
  void Sleep();

  std::unique_ptr<device::Device> device_;
  std::unique_ptr<Core> core_;
  Ticket next_ticket_ = 1;
  std::map<Ticket, absl::Status> answers_;
  std::vector<Ticket> order_;
  absl::Status health_;
};

// A host device with the test operators.
std::unique_ptr<device::Device> MakeTestDevice(std::uint32_t threads);

}  // namespace gpuos::executor

#endif  // GPUOS_DAEMON_EXECUTOR_CORE_HARNESS_H_
