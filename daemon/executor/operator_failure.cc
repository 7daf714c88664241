#include "daemon/executor/operator_failure.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/abi/program.h"
#include "kernels/abi/queue.h"

namespace gpuos::executor {
namespace {

template <typename T>
absl::StatusOr<T> ReadStruct(device::Memory& memory, device::DeviceAddress from) {
  T value;
  const absl::Status status =
      memory.Read(from, absl::MakeSpan(reinterpret_cast<std::byte*>(&value), sizeof(value)));
  if (!status.ok()) return status;
  return value;
}

// " (name)", or nothing if the device cannot be read.
std::string OperatorOf(std::uint32_t task, device::DeviceAddress address, device::Memory& memory,
                       absl::Span<const ops::Signature> catalog) {
  const auto program = ReadStruct<abi::Program>(memory, address);
  if (!program.ok() || task >= program->task_count) return "";
  const auto found =
      ReadStruct<abi::Task>(memory, address + program->tasks + task * sizeof(abi::Task));
  if (!found.ok() || found->op >= catalog.size()) return "";
  return absl::StrCat(" (", catalog[found->op].name, ")");
}

}  // namespace

absl::Status ResultOf(const device::CompletionView& completion, device::DeviceAddress program,
                      device::Memory& memory, absl::Span<const ops::Signature> catalog) {
  if (completion.code == abi::BatchCode::kOk) return absl::OkStatus();
  const auto task = static_cast<std::uint32_t>(completion.detail);
  return absl::InternalError(absl::StrCat("tasks[", task, "]",
                                          OperatorOf(task, program, memory, catalog),
                                          " failed with code ", completion.detail >> 32));
}

}  // namespace gpuos::executor
