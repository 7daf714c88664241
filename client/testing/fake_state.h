// What a FakeDaemon remembers and what a test has told it to do.
#ifndef GPUOS_CLIENT_TESTING_FAKE_STATE_H_
#define GPUOS_CLIENT_TESTING_FAKE_STATE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/internal/unique_fd.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/attach.pb.h"
#include "gpuos/v1/control.pb.h"
#include "gpuos/v1/operators.pb.h"
#include "gpuos/v1/types.pb.h"

namespace gpuos::testing {

// Thread-safe. Only BatchDone blocks.
class FakeState {
 public:
  // Called for each batch, in the order of submission, with the mapped start of each slot (null for
  // CUDA segments). Its status is the batch's.
  using Runner =
      std::function<absl::Status(const v1::Program& program, const std::vector<std::byte*>& slots)>;

  // The script: what to answer instead, once each, in order.
  void FailNext(const std::string& method, absl::Status status);
  // Takes what the script says for a call of `method`, and counts it.
  absl::Status Scripted(const std::string& method);
  int Calls(const std::string& method) const;
  void SetRunner(Runner runner);
  // While held, batches do not finish.
  void HoldBatches(bool held);

  v1::OpenSessionResponse OpenSession(const v1::OpenSessionRequest& request,
                                      const v1::DeviceInfo& device);
  // NOT_FOUND or PERMISSION_DENIED for a handle that is not one.
  absl::Status CheckSession(std::uint64_t id, const std::string& token) const;
  void CloseSession(std::uint64_t id);
  std::vector<std::string> ClientNames() const;

  // Keeps the memory (none for CUDA) and returns the segment's number.
  std::uint64_t AddSegment(std::uint64_t session, internal::UniqueFd memory, std::uint64_t size);
  absl::Status DropSegment(std::uint64_t session, std::uint64_t segment);
  int SegmentCount() const;
  std::uint64_t AddProgram(std::uint64_t session, const v1::Program& program);
  absl::Status DropProgram(std::uint64_t session, std::uint64_t program);
  // Runs a batch and returns its value.
  absl::StatusOr<std::uint64_t> Run(const v1::SubmitBatchRequest& request);
  // Whether the session's batch `value` is done; waits up to `patience` for it.
  bool BatchDone(std::uint64_t session, std::uint64_t value, absl::Duration patience) const;
  // The first error among the session's batches 1 .. value.
  absl::Status BatchError(std::uint64_t session, std::uint64_t value) const;

 private:
  struct Segment {
    internal::UniqueFd memory;
    std::uint64_t size = 0;
  };
  struct Session {
    std::string token;
    std::string client_name;
    std::map<std::uint64_t, Segment> segments;
    std::map<std::uint64_t, v1::Program> programs;
    std::vector<absl::Status> batches;
  };

  absl::Status RunProgram(const Session& session, const v1::Program& program,
                          const v1::SubmitBatchRequest& request) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::string, std::deque<absl::Status>> script_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Session> sessions_ ABSL_GUARDED_BY(mutex_);
  Runner runner_ ABSL_GUARDED_BY(mutex_);
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_FAKE_STATE_H_
