#include "daemon/executor/program_memory.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/abi/worker_state.h"

namespace gpuos::executor {

absl::StatusOr<std::shared_ptr<const LoadedProgram>> ProgramMemory::Load(
    const program::Image& image) {
  const std::optional<device::DeviceAddress> address = arena_.Allocate(image.bytes.size());
  if (!address) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "program takes ", image.bytes.size(), " bytes of the device's program memory, of which ",
        arena_.used(), " of ", arena_.total(), " are taken; release programs that are not needed"));
  }
  // Owns the stretch from here on.
  std::shared_ptr<LoadedProgram> loaded(new LoadedProgram, [this](LoadedProgram* gone) {
    arena_.Free(gone->address);
    delete gone;
  });
  loaded->address = *address;
  if (absl::Status written = memory_.Write(*address, image.bytes); !written.ok()) return written;
  loaded->slots = image.slots;
  loaded->tasks = image.tasks;
  loaded->edges = image.edges;
  loaded->ready_items = image.ready_items;
  loaded->calls = image.calls;
  loaded->state_bytes =
      abi::BatchStateBytes(static_cast<std::uint32_t>(image.slots.size()), image.tasks);
  return loaded;
}

}  // namespace gpuos::executor
