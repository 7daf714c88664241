// The programs of one session.
#ifndef GPUOS_DAEMON_CONTROL_PROGRAM_TABLE_H_
#define GPUOS_DAEMON_CONTROL_PROGRAM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace gpuos::control {

// Knows a session's programs by id and by their bytes (hash, then equality), and keeps the bytes so
// that a new executor can load them again. States: loading (the executor is asked; further requests
// for the same bytes wait with it) -> ready -> gone.
//
// Thread-safe. Callbacks run without the lock, on the thread of Finish or Request. Does not block.
class ProgramTable {
 public:
  // Told the id. Returns whether anybody still wanted it.
  using Callback = std::function<bool(absl::StatusOr<std::uint64_t>)>;
  using Bytes = std::shared_ptr<const std::string>;

  struct Restorable {
    std::uint64_t id = 0;
    Bytes bytes;
  };

  // Asks for the program `bytes` (a serialized v1::Program). Returns true if the caller has to load
  // it as `id` and then call Finish; false if it is known or being loaded: then `callback` is, or
  // will be, called with the id that it has. RESOURCE_EXHAUSTED with kMaxProgramsOfSession or
  // kMaxProgramBytesOfSession; then `callback` is not called.
  absl::StatusOr<bool> Request(std::uint64_t id, Bytes bytes, Callback callback);

  // The executor's answer for `id`. Returns whether the program stays: false if it failed, or
  // nobody wanted it any more (then it is forgotten here, and the caller drops it in the executor).
  bool Finish(std::uint64_t id, const absl::Status& result);

  // `why` a new executor does not have it; empty if it has.
  void SetLost(std::uint64_t id, const std::string& why);

  // NOT_FOUND for an id that is not a ready program of this session; FAILED_PRECONDITION if it is
  // lost.
  absl::Status CheckReady(std::uint64_t id) const;
  // Forgets a ready program. NOT_FOUND as in CheckReady.
  absl::Status Remove(std::uint64_t id);
  // Forgets all; callbacks that wait are told ABORTED.
  void Clear();

  std::vector<Restorable> restorable() const;
  std::size_t count() const;

 private:
  struct Program {
    Bytes bytes;
    bool ready = false;
    bool wanted = false;  // Its id was told to one who did not wait.
    std::string lost;     // Why, if it is.
    std::vector<Callback> waiting;
  };

  bool KeepIfWanted(std::uint64_t id, bool wanted);
  void Forget(std::map<std::uint64_t, Program>::iterator program)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::uint64_t, Program> programs_ ABSL_GUARDED_BY(mutex_);
  // Views into Program::bytes.
  std::unordered_map<std::string_view, std::uint64_t> by_bytes_ ABSL_GUARDED_BY(mutex_);
  std::size_t total_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_PROGRAM_TABLE_H_
