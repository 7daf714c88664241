#include "daemon/control/descriptor_shelf.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/control/limits.h"

namespace gpuos::control {

absl::Status DescriptorShelf::Keep(std::uint64_t cookie, link::UniqueFd descriptor) {
  absl::MutexLock lock(&mutex_);
  if (closed_) return absl::FailedPreconditionError("the session has ended; open another");
  if (descriptors_.count(cookie) != 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("memory.cookie ", cookie,
                     " names a descriptor that waits for RegisterSegment; use another"));
  }
  if (descriptors_.size() >= kMaxKeptDescriptors) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the session has sent ", descriptors_.size(),
                     " descriptors that it has not registered, its limit; call RegisterSegment"));
  }
  descriptors_[cookie] = std::move(descriptor);
  return absl::OkStatus();
}

absl::StatusOr<link::UniqueFd> DescriptorShelf::Take(std::uint64_t cookie) {
  absl::MutexLock lock(&mutex_);
  auto found = descriptors_.find(cookie);
  if (found == descriptors_.end()) {
    return absl::NotFoundError(
        absl::StrCat("descriptor_cookie ", cookie,
                     " names no descriptor of the session; send it over the attach socket and wait "
                     "for its acknowledgement first"));
  }
  link::UniqueFd descriptor = std::move(found->second);
  descriptors_.erase(found);
  return descriptor;
}

void DescriptorShelf::Close() {
  absl::MutexLock lock(&mutex_);
  descriptors_.clear();
  closed_ = true;
}

}  // namespace gpuos::control
