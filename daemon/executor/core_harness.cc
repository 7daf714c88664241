#include "daemon/executor/core_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "absl/status/statusor.h"
#include "daemon/device/host/host_device.h"
#include "gtest/gtest.h"
#include "kernels/ops/builtins.h"
#include "kernels/ops/signature.h"

namespace gpuos::executor {
namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  ADD_FAILURE() << what;
  std::abort();
}

}  // namespace

MemoryFile::MemoryFile(std::size_t bytes)
    : bytes_(bytes), fd_(memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  Require(fd_ >= 0, "memfd_create");
  Require(ftruncate(fd_, static_cast<off_t>(bytes)) == 0, "ftruncate");
  Require(fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0, "F_ADD_SEALS");
  address_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  Require(address_ != MAP_FAILED, "mmap");
}

MemoryFile::~MemoryFile() {
  munmap(address_, bytes_);
  close(fd_);
}

v1::View MakeView(std::uint32_t slot, std::vector<std::int64_t> sizes, v1::DType dtype,
                  std::uint64_t offset) {
  v1::View view;
  view.set_slot(slot);
  view.set_offset(offset);
  view.set_dtype(dtype);
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i > 0; --i) {
    strides[i - 1] = stride;
    stride *= sizes[i - 1];
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    view.add_sizes(sizes[i]);
    view.add_strides(strides[i]);
  }
  return view;
}

std::uint32_t ProgramBuilder::Slot(std::uint64_t length) {
  program_.add_slots()->set_length(length);
  return static_cast<std::uint32_t>(program_.slots_size()) - 1;
}

ProgramBuilder& ProgramBuilder::Task(
    const std::string& op, std::initializer_list<v1::View> operands,
    std::initializer_list<std::pair<std::string, std::int64_t>> integers) {
  v1::Task& task = *program_.add_tasks();
  task.set_op(op);
  for (const v1::View& operand : operands) *task.add_operands() = operand;
  for (const auto& [name, value] : integers) {
    v1::Attribute& attribute = *task.add_attributes();
    attribute.set_name(name);
    attribute.mutable_value()->set_i(value);
  }
  return *this;
}

std::unique_ptr<device::Device> MakeTestDevice(std::uint32_t threads) {
  absl::StatusOr<std::unique_ptr<device::Device>> device = device::CreateHostDevice(
      {.threads = threads,
       .blocks = 0,
       .seed = 1,
       .memory_bytes = 0,
       .table = reinterpret_cast<device::DeviceAddress>(ops::HostTable())});
  Require(device.ok(), "CreateHostDevice");
  return *std::move(device);
}

CoreHarness::CoreHarness(const CoreOptions& options, std::uint32_t threads)
    : CoreHarness(MakeTestDevice(threads), options) {}

CoreHarness::CoreHarness(std::unique_ptr<device::Device> device, const CoreOptions& options)
    : device_(std::move(device)) {
  absl::StatusOr<std::unique_ptr<Core>> core = Core::Create(*device_, ops::Builtins(), options);
  if (!core.ok()) ADD_FAILURE() << core.status();
  Require(core.ok(), "Core::Create");
  core_ = *std::move(core);
}

CoreHarness::~CoreHarness() {
  core_->Stop(std::nullopt).IgnoreError();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!core_->stopped() && std::chrono::steady_clock::now() < deadline) {
    Step();
    if (!core_->stopped()) Sleep();
  }
  // The device's destructor would wait for ever.
  Require(core_->stopped(), "the worker did not park");
}

void CoreHarness::OpenSession(std::uint64_t session, const MemoryFile& file) {
  EXPECT_TRUE(core_->OpenSession(session).ok());
  const auto size = core_->ImportMemoryFile(session, 1, file.fd());
  EXPECT_TRUE(size.ok()) << size.status();
}

void CoreHarness::Load(std::uint64_t session, std::uint64_t id, const ProgramBuilder& builder) {
  const auto loaded = core_->LoadProgram(session, id, builder.program());
  EXPECT_TRUE(loaded.ok()) << loaded.status();
}

Ticket CoreHarness::Run(std::uint64_t session, std::uint64_t program,
                        const std::vector<Binding>& bindings) {
  const Ticket ticket = NewTicket();
  const absl::Status submitted = core_->RunBatch(ticket, session, program, bindings);
  EXPECT_TRUE(submitted.ok()) << submitted;
  return ticket;
}

void CoreHarness::Step() {
  Core::StepResult step = core_->Step(std::chrono::steady_clock::now());
  for (Finished& finished : step.finished) {
    EXPECT_FALSE(answered(finished.ticket)) << "answered twice: " << finished.ticket;
    order_.push_back(finished.ticket);
    answers_[finished.ticket] = std::move(finished.status);
  }
  if (!step.health.ok()) health_ = step.health;
}

bool CoreHarness::StepUntil(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    Step();
    if (done()) return true;
    if (!health_.ok() || std::chrono::steady_clock::now() > deadline) return false;
    Sleep();
  }
}

void CoreHarness::Sleep() {
  pollfd signal{.fd = device_->completion_descriptor(), .events = POLLIN, .revents = 0};
  poll(&signal, 1, 1);
  std::uint64_t count;
  while (read(signal.fd, &count, sizeof(count)) > 0) continue;
}

absl::Status CoreHarness::Wait(Ticket ticket) {
  if (!StepUntil([&] { return answered(ticket); })) {
    return absl::DeadlineExceededError("not answered");
  }
  return answers_.at(ticket);
}

}  // namespace gpuos::executor
