// Session's segments: memory made by the daemon, memory files and CUDA allocations of this process.
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/internal/lib_cuda.h"
#include "client/internal/session_state.h"
#include "gpuos/session.h"
#include "gpuos/v1/control.pb.h"

namespace gpuos {

using internal::SessionState;
using internal::UniqueFd;
using Control = v1::Control::Stub;

namespace {

// Maps the memory file of a new segment.
absl::StatusOr<Mapping> Map(const UniqueFd& file, std::uint64_t size) {
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) < size) {
    // Touching what lies behind the end of a file is a SIGBUS, which a library must not risk.
    return absl::InternalError(absl::StrCat("gpuosd sent a memory file of ", facts.st_size,
                                            " bytes for a segment of ", size, " bytes"));
  }
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot map a segment of ", size,
                                                     " bytes: ", std::strerror(errno),
                                                     "; release segments or make a smaller one"));
  }
  return Mapping(data, size);
}

absl::Status ReleaseAtDaemon(SessionState& state, SegmentId segment) {
  v1::ReleaseSegmentRequest request;
  request.set_segment(static_cast<std::uint64_t>(segment));
  v1::ReleaseSegmentResponse response;
  return state.Call(&Control::ReleaseSegment, std::move(request), &response, state.CallDeadline());
}

absl::StatusOr<Segment> RegisterAtDaemon(SessionState& state, v1::RegisterSegmentRequest request) {
  v1::RegisterSegmentResponse response;
  if (absl::Status status = state.Call(&Control::RegisterSegment, std::move(request), &response,
                                       state.CallDeadline());
      !status.ok()) {
    return status;
  }
  return Segment{SegmentId{response.segment()}, response.size()};
}

absl::StatusOr<Segment> RegisterHandle(SessionState& state, absl::string_view handle,
                                       absl::string_view device_uuid) {
  v1::RegisterSegmentRequest request;
  request.mutable_cuda_ipc()->set_handle(handle.data(), handle.size());
  request.mutable_cuda_ipc()->set_device_uuid(device_uuid.data(), device_uuid.size());
  return RegisterAtDaemon(state, std::move(request));
}

}  // namespace

absl::StatusOr<MappedSegment> Session::CreateSegment(std::uint64_t size) {
  v1::CreateSegmentRequest request;
  request.set_size(size);
  v1::CreateSegmentResponse response;
  const absl::Time deadline = state_->CallDeadline();
  if (absl::Status status =
          state_->Call(&Control::CreateSegment, std::move(request), &response, deadline);
      !status.ok()) {
    return status;
  }
  const Segment segment{SegmentId{response.segment()}, response.size()};
  absl::StatusOr<UniqueFd> file = state_->attach().TakeMemory(response.cookie(), deadline);
  absl::StatusOr<Mapping> mapping =
      file.ok() ? Map(*file, segment.size) : absl::StatusOr<Mapping>(file.status());
  if (!mapping.ok()) {
    // The caller never learns its number, so nobody else would release it.
    ReleaseAtDaemon(*state_, segment.id).IgnoreError();
    return mapping.status();
  }
  return MappedSegment{segment, *std::move(mapping)};
}

absl::StatusOr<Segment> Session::RegisterMemoryFile(int descriptor) {
  if (absl::Status status = state_->Check(); !status.ok()) return status;
  absl::StatusOr<std::uint64_t> cookie =
      state_->attach().SendMemory(descriptor, state_->CallDeadline());
  if (!cookie.ok()) return cookie.status();
  v1::RegisterSegmentRequest request;
  request.set_descriptor_cookie(*cookie);
  return RegisterAtDaemon(*state_, std::move(request));
}

absl::StatusOr<Segment> Session::RegisterCudaIpc(absl::string_view handle,
                                                 absl::string_view device_uuid) {
  return RegisterHandle(*state_, handle, device_uuid);
}

absl::StatusOr<SegmentPosition> Session::RegisterCudaPointer(std::uint64_t pointer) {
  if (absl::Status status = state_->Check(); !status.ok()) return status;
  absl::StatusOr<internal::CudaDriver*> driver = internal::LoadLibCuda();
  if (!driver.ok()) return driver.status();
  return state_->cuda_segments().Locate(
      **driver, pointer,
      [this](const std::string& handle, const std::string& uuid) {
        return RegisterHandle(*state_, handle, uuid);
      },
      [this](SegmentId segment) { return ReleaseAtDaemon(*state_, segment); });
}

absl::Status Session::Release(SegmentId segment) {
  if (absl::Status status = state_->Check(); !status.ok()) return status;
  state_->cuda_segments().Forget(segment);
  return ReleaseAtDaemon(*state_, segment);
}

}  // namespace gpuos
