// Every call of the fake driver passes here: counted, failed on demand, refused if it would block.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_FAKE_CALL_LOG_H_
#define GPUOS_DAEMON_DEVICE_CUDA_FAKE_CALL_LOG_H_

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gpuos::device::fake {

// Whether the real call waits until running kernels end.
enum class Waits { kNo, kForKernels };

// Thread-safe.
class CallLog {
 public:
  // Notes a call of `name`; CUDA_SUCCESS lets it go on. `worker_runs`: a kernel is running.
  CUresult Enter(const char* name, Waits waits, bool worker_runs);

  void Reset();
  void PlanFailure(const std::string& name, std::uint64_t nth, CUresult error);
  std::uint64_t CountCalls(const std::string& name) const;
  const char* Call(std::uint64_t index) const;
  std::uint64_t CountViolations() const;
  const char* Violation(std::uint64_t index) const;

 private:
  // The error planned for this call, or CUDA_SUCCESS.
  CUresult TakePlannedFailure(const std::string& name);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<const char*> calls_;
  std::deque<std::string> violations_;  // Stay where they are when more come.
  std::map<std::string, std::vector<std::pair<std::uint64_t, CUresult>>> failures_;
  CUresult lost_ = CUDA_SUCCESS;
};

}  // namespace gpuos::device::fake

#endif  // GPUOS_DAEMON_DEVICE_CUDA_FAKE_CALL_LOG_H_
