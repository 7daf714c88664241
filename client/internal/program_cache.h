// Which programs a session has created already.
#ifndef GPUOS_CLIENT_INTERNAL_PROGRAM_CACHE_H_
#define GPUOS_CLIENT_INTERNAL_PROGRAM_CACHE_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "gpuos/program.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::internal {

// The bytes by which programs are compared: equal programs give equal bytes in every process.
std::string CanonicalBytes(const v1::Program& program);

// Programs by their canonical bytes: found by hash, taken only if every byte is equal. Holds the
// bytes of each program until it is forgotten. Thread-safe; never blocks on anything but other
// callers.
class ProgramCache {
 public:
  std::optional<ProgramId> Find(const std::string& bytes) const;
  void Insert(std::string bytes, ProgramId program);
  void Forget(ProgramId program);

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, ProgramId> programs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_PROGRAM_CACHE_H_
