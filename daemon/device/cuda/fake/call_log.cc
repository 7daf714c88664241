#include "daemon/device/cuda/fake/call_log.h"

#include <algorithm>

namespace gpuos::device::fake {
namespace {

bool LosesContext(CUresult error) {
  return error == CUDA_ERROR_ILLEGAL_ADDRESS || error == CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace

CUresult CallLog::Enter(const char* name, Waits waits, bool worker_runs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.push_back(name);
  if (lost_ != CUDA_SUCCESS) return lost_;
  const CUresult planned = TakePlannedFailure(name);
  if (LosesContext(planned)) lost_ = planned;
  if (planned != CUDA_SUCCESS) return planned;
  if (waits == Waits::kForKernels && worker_runs) {
    violations_.push_back(std::string(name) + " was called while the worker was running");
    return CUDA_ERROR_NOT_PERMITTED;
  }
  return CUDA_SUCCESS;
}

CUresult CallLog::TakePlannedFailure(const std::string& name) {
  const auto planned = failures_.find(name);
  if (planned == failures_.end()) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (auto& [calls_left, error] : planned->second) {
    if (--calls_left == 0) result = error;
  }
  auto& all = planned->second;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto& failure) { return failure.first == 0; }),
            all.end());
  if (all.empty()) failures_.erase(planned);
  return result;
}

void CallLog::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.clear();
  violations_.clear();
  failures_.clear();
  lost_ = CUDA_SUCCESS;
}

void CallLog::PlanFailure(const std::string& name, std::uint64_t nth, CUresult error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failures_[name].emplace_back(nth, error);
}

std::uint64_t CallLog::CountCalls(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (name.empty()) return calls_.size();
  return static_cast<std::uint64_t>(std::count(calls_.begin(), calls_.end(), name));
}

const char* CallLog::Call(std::uint64_t index) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return index < calls_.size() ? calls_[index] : nullptr;
}

std::uint64_t CallLog::CountViolations() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return violations_.size();
}

const char* CallLog::Violation(std::uint64_t index) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return index < violations_.size() ? violations_[index].c_str() : nullptr;
}

}  // namespace gpuos::device::fake
