#include "client/internal/program_cache.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <utility>

namespace gpuos::internal {

std::string CanonicalBytes(const v1::Program& program) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  program.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::optional<ProgramId> ProgramCache::Find(const std::string& bytes) const {
  absl::MutexLock lock(&mutex_);
  const auto found = programs_.find(bytes);
  if (found == programs_.end()) return std::nullopt;
  return found->second;
}

void ProgramCache::Insert(std::string bytes, ProgramId program) {
  absl::MutexLock lock(&mutex_);
  programs_.insert_or_assign(std::move(bytes), program);
}

void ProgramCache::Forget(ProgramId program) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(programs_, [program](const auto& entry) { return entry.second == program; });
}

}  // namespace gpuos::internal
