// A session: one client's right to use one device through gpuosd.
#ifndef GPUOS_SESSION_H_
#define GPUOS_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gpuos/program.h"
#include "gpuos/segment.h"

namespace gpuos {

namespace internal {
class SessionState;
}  // namespace internal

// Owns the connection to gpuosd; segments and programs belong to it and end with it. Nothing that
// it returned must outlive it but Mapping.
//
// Thread-safe: any call from any thread, except that Close and the destructor come last. Calls
// block until the daemon has answered, at most Options::call_timeout unless said. No thread is
// started before Connect (gRPC starts its own there); libgpuos installs no handlers and starts no
// engine.
//
// Errors, besides those of each call: UNAVAILABLE when the daemon or the session is gone (connect
// again), FAILED_PRECONDITION after Close and in a forked child (also Connect, if the parent had
// connected: start such processes by exec), DEADLINE_EXCEEDED when the daemon does not answer in
// time. The message is a sentence that says what to do.
class Session {
 public:
  struct Options {
    // "unix:///path" or a path; empty: $GPUOS_TARGET, else the well-known socket.
    std::string target;
    // "host:0", "cuda:0", ...; empty: the daemon's first device.
    std::string device;
    // Shown by `gpuosctl clients`; at most 128 bytes. Empty: this program's name.
    std::string client_name;
    // Bounds Connect.
    absl::Duration connect_timeout = absl::Seconds(10);
    // Bounds every other call, but Wait and Submit with `wait`.
    absl::Duration call_timeout = absl::Seconds(60);
  };

  // Opens a session. UNAVAILABLE or PERMISSION_DENIED name the address, the cause and what to do;
  // NOT_FOUND names the devices there are.
  static absl::StatusOr<std::unique_ptr<Session>> Connect(Options options);
  // As Close; in a forked child it only lets the child's copies go and leaves the parent alone.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  std::uint64_t id() const;
  // "host:0" or "cuda:N" as the daemon counts. Borrowed, as the next.
  const std::string& device_name() const;
  // "GPU-...", empty for host: the same for every process, whatever it calls the GPU.
  const std::string& device_uuid() const;

  // Host devices: makes a sealed memory file of at least `size` bytes (1 to 2^40), zeroed.
  absl::StatusOr<MappedSegment> CreateSegment(std::uint64_t size);
  // Host devices: registers a memory file (memfd_create) with F_SEAL_SHRINK. The caller keeps the
  // descriptor and may close it afterwards.
  absl::StatusOr<Segment> RegisterMemoryFile(int descriptor);
  // CUDA devices: registers a whole allocation by the 64 bytes of cuIpcGetMemHandle, on the GPU
  // that `device_uuid` names.
  absl::StatusOr<Segment> RegisterCudaIpc(absl::string_view handle, absl::string_view device_uuid);
  // CUDA devices: registers the allocation around a device pointer of this process, once however
  // often it is asked, and says where in it the pointer lies. Loads libcuda.so.1.
  // FAILED_PRECONDITION names memory that cannot be shared and the way out.
  absl::StatusOr<SegmentPosition> RegisterCudaPointer(std::uint64_t pointer);
  // Detaches; returns when no batch uses the segment and the executor has let the memory go.
  absl::Status Release(SegmentId segment);

  // Sends a program to the device; the same program again gives the same id without asking.
  absl::StatusOr<ProgramId> CreateProgram(const ProgramBuilder& builder);
  // Forgets a program for everyone in this session; batches already submitted still run.
  absl::Status ReleaseProgram(ProgramId program);

  // Runs a program once, over one binding for each of its slots. Returns the batch's number in the
  // session, from 1 upwards. With `wait`: when it is done, or its error if it failed; without a
  // limit of time. ABORTED: the batch was lost and its outputs are undefined.
  absl::StatusOr<std::uint64_t> Submit(ProgramId program, absl::Span<const Binding> bindings,
                                       bool wait = false);
  // Waits until batches 1 .. value are done: OK, or the error of the first of them that failed.
  // DEADLINE_EXCEEDED: not done within `timeout` (at least 5 ms); they go on, wait again.
  absl::Status Wait(std::uint64_t value, absl::Duration timeout = absl::InfiniteDuration());

  // Ends the session: returns when running batches have finished and the daemon has let the
  // segments go. What is wrong with the daemon is returned, but the session is over in any case.
  // Again: OK.
  absl::Status Close();

 private:
  explicit Session(std::unique_ptr<internal::SessionState> state);
  std::unique_ptr<internal::SessionState> state_;
};

}  // namespace gpuos

#endif  // GPUOS_SESSION_H_
