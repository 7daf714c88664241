// Which CUDA allocations of this process a session has registered already.
#ifndef GPUOS_CLIENT_INTERNAL_CUDA_SEGMENTS_H_
#define GPUOS_CLIENT_INTERNAL_CUDA_SEGMENTS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/internal/cuda_driver.h"
#include "gpuos/segment.h"

namespace gpuos::internal {

// One allocation is one segment, however many tensors lie in it. Allocations are known by address
// and by the driver's buffer id, which tells a block from another one that came to lie at its
// address.
//
// Thread-safe; callers take turns, so that two threads never register one allocation twice.
class CudaSegments {
 public:
  // Registers an allocation by its 64-byte handle and its GPU's UUID.
  using Register =
      std::function<absl::StatusOr<Segment>(const std::string& handle, const std::string& uuid)>;
  // Lets a segment go.
  using Release = std::function<absl::Status(SegmentId)>;

  // The segment of the allocation around `pointer`, registered if need be. If another allocation
  // lay at its address, that one's segment is released first. Blocks as the functions do.
  absl::StatusOr<SegmentPosition> Locate(CudaDriver& driver, std::uint64_t pointer,
                                         const Register& register_segment,
                                         const Release& release_segment);
  // The segment is gone: the next Locate registers its allocation again.
  void Forget(SegmentId segment);

 private:
  struct Known {
    std::uint64_t buffer_id = 0;
    Segment segment;
  };

  absl::Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, Known> by_base_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_CUDA_SEGMENTS_H_
