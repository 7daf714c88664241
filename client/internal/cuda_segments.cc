#include "client/internal/cuda_segments.h"

namespace gpuos::internal {

absl::StatusOr<SegmentPosition> CudaSegments::Locate(CudaDriver& driver, std::uint64_t pointer,
                                                     const Register& register_segment,
                                                     const Release& release_segment) {
  absl::StatusOr<PointerFacts> facts = driver.Inspect(pointer);
  if (!facts.ok()) return facts.status();
  if (absl::Status status = CheckExportable(pointer, *facts); !status.ok()) return status;
  const std::uint64_t offset = pointer - facts->base;
  absl::MutexLock lock(&mutex_);
  if (const auto found = by_base_.find(facts->base); found != by_base_.end()) {
    const Known known = found->second;
    if (known.buffer_id == facts->buffer_id) return SegmentPosition{known.segment, offset};
    by_base_.erase(found);
    // The program freed that allocation without saying so. NOT_FOUND: it was released by its
    // number.
    const absl::Status status = release_segment(known.segment.id);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  absl::StatusOr<std::string> handle = driver.ExportHandle(facts->base);
  if (!handle.ok()) return handle.status();
  absl::StatusOr<Segment> segment = register_segment(*handle, facts->device_uuid);
  if (!segment.ok()) return segment.status();
  by_base_[facts->base] = Known{facts->buffer_id, *segment};
  return SegmentPosition{*segment, offset};
}

void CudaSegments::Forget(SegmentId segment) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(by_base_,
                 [segment](const auto& entry) { return entry.second.segment.id == segment; });
}

}  // namespace gpuos::internal
