#include "daemon/control/device_reports.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/control/executor_supervisor.h"

namespace gpuos::control {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(1);

// Shared by the answers and the timer; whoever completes it calls `done`. Thread-safe.
class Gathering {
 public:
  Gathering(const Devices& devices, std::function<void(std::vector<DeviceReport>)> done)
      : devices_(devices),
        missing_(devices.all().size()),
        responses_(devices.all().size()),
        done_(std::move(done)) {}

  void Answer(std::size_t device, absl::StatusOr<v1::ExecutorResponse> response) {
    if (response.ok()) {
      devices_.all()[device]->NoteCounters(response->status().counters());
    }
    bool complete = false;
    {
      absl::MutexLock lock(&mutex_);
      if (response.ok()) responses_[device] = std::move(*response->mutable_status());
      complete = --missing_ == 0;
    }
    if (complete) Finish();
  }

  void Finish() {
    std::function<void(std::vector<DeviceReport>)> done;
    std::vector<DeviceReport> reports;
    {
      absl::MutexLock lock(&mutex_);
      done.swap(done_);
      if (!done) return;
      for (std::size_t i = 0; i < responses_.size(); ++i) {
        reports.push_back({devices_.all()[i]->status(), std::move(responses_[i])});
      }
      responses_.clear();
      responses_.resize(reports.size());
    }
    done(std::move(reports));
  }

 private:
  const Devices& devices_;
  absl::Mutex mutex_;
  std::size_t missing_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::StatusResponse> responses_ ABSL_GUARDED_BY(mutex_);
  std::function<void(std::vector<DeviceReport>)> done_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

void GatherReports(const Devices& devices, const Later& later,
                   std::function<void(std::vector<DeviceReport>)> done) {
  auto gathering = std::make_shared<Gathering>(devices, std::move(done));
  for (std::size_t i = 0; i < devices.all().size(); ++i) {
    v1::ExecutorRequest request;
    request.mutable_status();
    devices.all()[i]->Call(std::move(request), nullptr,
                           [gathering, i](absl::StatusOr<v1::ExecutorResponse> response) {
                             gathering->Answer(i, std::move(response));
                           });
  }
  later(kPatience, [weak = std::weak_ptr<Gathering>(gathering)] {
    if (auto late = weak.lock()) late->Finish();
  });
}

}  // namespace gpuos::control
