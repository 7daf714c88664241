#include "daemon/device/host/host_segments.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gpuos::device {

absl::StatusOr<HostSegments::Files::iterator> HostSegments::FindOrMap(int descriptor) {
  const absl::StatusOr<MemoryFileIdentity> identity = InspectMemoryFile(descriptor, limit_);
  if (!identity.ok()) return identity.status();
  const auto known = files_.find(*identity);
  if (known != files_.end()) return known;
  absl::StatusOr<MemoryFileMapping> mapping = MemoryFileMapping::Map(descriptor, identity->size);
  if (!mapping.ok()) return mapping.status();
  return files_.emplace(*identity, Mapped{.mapping = *std::move(mapping)}).first;
}

absl::StatusOr<Segment> HostSegments::ImportMemoryFile(int descriptor) {
  const absl::StatusOr<Files::iterator> file = FindOrMap(descriptor);
  if (!file.ok()) return file.status();
  Mapped& mapped = (*file)->second;
  ++mapped.segments;
  segments_.emplace(++last_id_, *file);
  return Segment{.address = reinterpret_cast<DeviceAddress>(mapped.mapping.data()),
                 .size = mapped.mapping.size(),
                 .id = last_id_};
}

absl::StatusOr<Segment> HostSegments::ImportCudaIpc(absl::Span<const std::byte> /*handle*/,
                                                    const std::string& uuid) {
  return absl::UnimplementedError(
      absl::StrCat("a host device cannot use memory of GPU ", uuid,
                   "; share a sealed memory file, or use a cuda device"));
}

absl::Status HostSegments::Release(const Segment& segment) {
  const auto found = segments_.find(segment.id);
  if (found == segments_.end()) {
    return absl::NotFoundError(absl::StrCat("segment ", segment.id, " is not held"));
  }
  const Files::iterator file = found->second;
  segments_.erase(found);
  if (--file->second.segments == 0) files_.erase(file);
  return absl::OkStatus();
}

}  // namespace gpuos::device
