#include "client/internal/cuda_driver.h"

#include "absl/strings/str_cat.h"

namespace gpuos::internal {
namespace {

std::string Named(std::uint64_t pointer) { return absl::StrCat("pointer 0x", absl::Hex(pointer)); }

absl::Status CannotShare(std::uint64_t pointer, absl::string_view what, absl::string_view way_out) {
  return absl::FailedPreconditionError(
      absl::StrCat(Named(pointer), " lies in ", what,
                   ", which the driver shares with no other process: ", way_out));
}

}  // namespace

absl::Status CheckExportable(std::uint64_t pointer, const PointerFacts& facts) {
  if (facts.kind == PointerFacts::Kind::kUnknown) {
    return absl::InvalidArgumentError(
        absl::StrCat(Named(pointer),
                     " is not memory that the CUDA driver of this process knows: pass the "
                     "address of a CUDA tensor (a CPU tensor needs a session on a host device)"));
  }
  if (facts.managed) {
    return CannotShare(pointer, "managed memory (cudaMallocManaged)",
                       "copy the tensor into memory of cudaMalloc");
  }
  if (facts.kind == PointerFacts::Kind::kHost) {
    return absl::InvalidArgumentError(absl::StrCat(
        Named(pointer), " is host memory: copy the tensor to the session's GPU first"));
  }
  if (facts.pooled) {
    return CannotShare(pointer, "a cudaMallocAsync pool",
                       "allocate with cudaMalloc; in PyTorch unset backend:cudaMallocAsync in "
                       "PYTORCH_CUDA_ALLOC_CONF");
  }
  if (!facts.legacy_ipc) {
    return CannotShare(pointer,
                       "memory mapped by cuMemMap, such as an expandable segment of PyTorch",
                       "allocate with cudaMalloc; in PyTorch set expandable_segments:False in "
                       "PYTORCH_CUDA_ALLOC_CONF");
  }
  return absl::OkStatus();
}

}  // namespace gpuos::internal
