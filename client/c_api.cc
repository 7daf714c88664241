// Sessions, segments and batches of the C ABI: translation and nothing else.
#include "gpuos/c_api.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/c_api_error.h"
#include "client/c_api_session.h"
#include "gpuos/session.h"
#include "version.h"

using gpuos::internal::Guarded;
using gpuos::internal::MustNotBeNull;

namespace {

// Bytes of a legacy CUDA IPC handle.
constexpr std::size_t kIpcHandleBytes = 64;

std::string TextOrEmpty(const char* text) { return text != nullptr ? text : ""; }

gpuos::SegmentId IdOf(std::uint64_t segment) { return gpuos::SegmentId{segment}; }

absl::Status Give(const absl::StatusOr<gpuos::Segment>& made, std::uint64_t* segment,
                  std::uint64_t* size) {
  if (!made.ok()) return made.status();
  *segment = static_cast<std::uint64_t>(made->id);
  *size = made->size;
  return absl::OkStatus();
}

std::vector<gpuos::Binding> Bindings(const gpuos_binding* bindings, std::uint32_t count) {
  std::vector<gpuos::Binding> out;
  out.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    out.push_back({IdOf(bindings[i].segment), bindings[i].offset});
  }
  return out;
}

}  // namespace

const char* gpuos_version(void) { return gpuos::kVersion; }
const char* gpuos_last_error(void) { return gpuos::internal::LastError(); }

int gpuos_connect(const char* target, const char* device, const char* client_name,
                  int64_t timeout_us, gpuos_session** session) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    gpuos::Session::Options options;
    options.target = TextOrEmpty(target);
    options.device = TextOrEmpty(device);
    options.client_name = TextOrEmpty(client_name);
    if (timeout_us > 0) options.connect_timeout = absl::Microseconds(timeout_us);
    auto opened = gpuos::Session::Connect(std::move(options));
    if (!opened.ok()) return opened.status();
    *session = new gpuos_session{*std::move(opened)};
    return absl::OkStatus();
  });
}

void gpuos_close(gpuos_session* session) { delete session; }

const char* gpuos_session_device_name(const gpuos_session* session) {
  return session != nullptr ? session->session->device_name().c_str() : "";
}

const char* gpuos_session_device_uuid(const gpuos_session* session) {
  return session != nullptr ? session->session->device_uuid().c_str() : "";
}

uint64_t gpuos_session_id(const gpuos_session* session) {
  return session != nullptr ? session->session->id() : 0;
}

int gpuos_segment_create(gpuos_session* session, uint64_t size, uint64_t* segment, void** address,
                         uint64_t* mapped_size) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    if (segment == nullptr) return MustNotBeNull("segment");
    if (address == nullptr) return MustNotBeNull("address");
    if (mapped_size == nullptr) return MustNotBeNull("mapped_size");
    auto made = session->session->CreateSegment(size);
    if (!made.ok()) return made.status();
    *segment = static_cast<std::uint64_t>(made->segment.id);
    *mapped_size = made->mapping.size();
    *address = made->mapping.Release();
    return absl::OkStatus();
  });
}

int gpuos_segment_unmap(void* address, uint64_t mapped_size) {
  return Guarded([&]() -> absl::Status {
    if (::munmap(address, mapped_size) == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("address and mapped_size ", mapped_size,
                     " are not what gpuos_segment_create gave: ", std::strerror(errno)));
  });
}

int gpuos_segment_register_fd(gpuos_session* session, int descriptor, uint64_t* segment,
                              uint64_t* size) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    if (segment == nullptr) return MustNotBeNull("segment");
    if (size == nullptr) return MustNotBeNull("size");
    return Give(session->session->RegisterMemoryFile(descriptor), segment, size);
  });
}

int gpuos_segment_register_cuda_ipc(gpuos_session* session, const void* handle,
                                    const char* device_uuid, uint64_t* segment, uint64_t* size) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    if (handle == nullptr) return MustNotBeNull("handle");
    if (segment == nullptr) return MustNotBeNull("segment");
    if (size == nullptr) return MustNotBeNull("size");
    const absl::string_view bytes(static_cast<const char*>(handle), kIpcHandleBytes);
    return Give(session->session->RegisterCudaIpc(bytes, TextOrEmpty(device_uuid)), segment, size);
  });
}

int gpuos_segment_register_cuda_pointer(gpuos_session* session, uint64_t pointer, uint64_t* segment,
                                        uint64_t* offset, uint64_t* size) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    if (segment == nullptr) return MustNotBeNull("segment");
    if (offset == nullptr) return MustNotBeNull("offset");
    if (size == nullptr) return MustNotBeNull("size");
    auto position = session->session->RegisterCudaPointer(pointer);
    if (!position.ok()) return position.status();
    *offset = position->offset;
    return Give(position->segment, segment, size);
  });
}

int gpuos_segment_release(gpuos_session* session, uint64_t segment) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    return session->session->Release(IdOf(segment));
  });
}

int gpuos_submit(gpuos_session* session, uint64_t program, const gpuos_binding* bindings,
                 uint32_t binding_count, int wait, uint64_t* value) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    if (bindings == nullptr && binding_count > 0) return MustNotBeNull("bindings");
    auto submitted = session->session->Submit(gpuos::ProgramId{program},
                                              Bindings(bindings, binding_count), wait != 0);
    if (!submitted.ok()) return submitted.status();
    if (value != nullptr) *value = *submitted;
    return absl::OkStatus();
  });
}

int gpuos_wait(gpuos_session* session, uint64_t value, int64_t timeout_us) {
  return Guarded([&]() -> absl::Status {
    if (session == nullptr) return MustNotBeNull("session");
    return session->session->Wait(
        value, timeout_us < 0 ? absl::InfiniteDuration() : absl::Microseconds(timeout_us));
  });
}
