#include "daemon/control/readiness.h"

#include "absl/strings/str_cat.h"

namespace gpuos::control {

void Readiness::Update(const absl::Status& devices) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return;
  set_serving_(devices.ok());
  if (!devices.ok()) {
    notifier_->Send(absl::StrCat("STATUS=", devices.message()));
    return;
  }
  if (!told_ready_) notifier_->Send("READY=1");
  told_ready_ = true;
  notifier_->Send("STATUS=every device is ready");
}

void Readiness::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
  set_serving_(false);
  notifier_->Send("STOPPING=1\nSTATUS=finishing what runs");
}

}  // namespace gpuos::control
