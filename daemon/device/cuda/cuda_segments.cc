#include "daemon/device/cuda/cuda_segments.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "daemon/device/cuda/cuda_status.h"

namespace gpuos::device {

CudaSegments::~CudaSegments() {
  for (const auto& [handle, opened] : handles_) {
    driver_.api().cuIpcCloseMemHandle(opened.address);
  }
}

absl::StatusOr<Segment> CudaSegments::ImportMemoryFile(int /*descriptor*/) {
  return absl::UnimplementedError(absl::StrCat(device_,
                                               " cannot use a memory file; share CUDA memory of ",
                                               uuid_, ", or use a host device"));
}

absl::StatusOr<CUdeviceptr> CudaSegments::Open(const std::string& handle) const {
  CUipcMemHandle ipc{};
  std::memcpy(&ipc, handle.data(), sizeof(ipc));
  CUdeviceptr address = 0;
  const CUresult result =
      driver_.api().cuIpcOpenMemHandle(&address, ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (result == CUDA_SUCCESS) return address;
  const absl::Status status =
      driver_.Check(result, "cuIpcOpenMemHandle", absl::StrCat("on ", device_));
  if (LosesContext(result) || absl::IsResourceExhausted(status)) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(status.message()),
                   "; the handle must come from cuIpcGetMemHandle in another process that is alive "
                   "and has not freed the memory"));
}

absl::StatusOr<std::uint64_t> CudaSegments::SizeFrom(CUdeviceptr address) const {
  CUdeviceptr base = 0;
  std::size_t size = 0;
  const absl::Status status =
      driver_.Check(driver_.api().cuMemGetAddressRange(&base, &size, address),
                    "cuMemGetAddressRange", absl::StrCat("of an imported handle on ", device_));
  if (!status.ok()) return status;
  return base + size - address;
}

absl::StatusOr<CudaSegments::Handles::iterator> CudaSegments::FindOrOpen(
    const std::string& handle) {
  auto place = handles_.find(handle);
  if (place == handles_.end()) {
    const absl::StatusOr<CUdeviceptr> address = Open(handle);
    if (!address.ok()) return address.status();
    place = handles_.emplace(handle, Opened{.address = *address}).first;
  }
  if (place->second.size == 0) {
    // On failure the handle stays open: closing it here could wait for the worker.
    const absl::StatusOr<std::uint64_t> size = SizeFrom(place->second.address);
    if (!size.ok()) return size.status();
    place->second.size = *size;
  }
  return place;
}

absl::StatusOr<Segment> CudaSegments::ImportCudaIpc(absl::Span<const std::byte> handle,
                                                    const std::string& uuid) {
  if (handle.size() != sizeof(CUipcMemHandle)) {
    return absl::InvalidArgumentError(absl::StrCat("the CUDA IPC handle has ", handle.size(),
                                                   " bytes; it must have ",
                                                   sizeof(CUipcMemHandle)));
  }
  if (uuid != uuid_) {
    return absl::InvalidArgumentError(absl::StrCat("the CUDA IPC handle's memory lies on '", uuid,
                                                   "'; ", device_, " is '", uuid_,
                                                   "': share memory of that GPU"));
  }
  const absl::StatusOr<Handles::iterator> place =
      FindOrOpen(std::string(reinterpret_cast<const char*>(handle.data()), handle.size()));
  if (!place.ok()) return place.status();
  Opened& opened = (*place)->second;
  ++opened.segments;
  segments_.emplace(++last_id_, *place);
  return Segment{.address = opened.address, .size = opened.size, .id = last_id_};
}

absl::Status CudaSegments::Release(const Segment& segment) {
  const auto found = segments_.find(segment.id);
  if (found == segments_.end()) {
    return absl::NotFoundError(absl::StrCat("segment ", segment.id, " is not held"));
  }
  const Handles::iterator place = found->second;
  Opened& opened = place->second;
  if (opened.segments > 1) {
    --opened.segments;
    segments_.erase(found);
    return absl::OkStatus();
  }
  if (worker_is_resident_()) {
    return absl::FailedPreconditionError(
        absl::StrCat("segment ", segment.id, " cannot be unmapped while the worker is resident on ",
                     device_, "; park it first"));
  }
  const CUdeviceptr address = opened.address;
  segments_.erase(found);
  handles_.erase(place);
  return driver_.Check(driver_.api().cuIpcCloseMemHandle(address), "cuIpcCloseMemHandle",
                       absl::StrCat("of segment ", segment.id, " on ", device_));
}

}  // namespace gpuos::device
