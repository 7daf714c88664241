#include "daemon/control/devices.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gpuos::control {

absl::StatusOr<ExecutorSupervisor*> Devices::Find(const std::string& name) const {
  if (name.empty()) return supervisors_.front().get();
  std::vector<std::string> names;
  for (const auto& supervisor : supervisors_) {
    if (supervisor->device().name() == name) return supervisor.get();
    names.push_back(supervisor->device().name());
  }
  return absl::NotFoundError(absl::StrCat("device \"", name, "\" is not served here; there is ",
                                          absl::StrJoin(names, ", ")));
}

absl::Status Devices::CheckReady() const {
  for (const auto& supervisor : supervisors_) {
    if (absl::Status status = supervisor->CheckReady(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void Devices::Start() {
  for (const auto& supervisor : supervisors_) supervisor->Start();
}

void Devices::Drain() {
  for (const auto& supervisor : supervisors_) supervisor->Drain();
}

void Devices::KillNow() {
  for (const auto& supervisor : supervisors_) supervisor->KillNow();
}

void Devices::Stop() {
  std::vector<std::thread> stops;
  for (const auto& supervisor : supervisors_) {
    stops.emplace_back([&supervisor] { supervisor->Stop(); });
  }
  for (std::thread& stop : stops) stop.join();
}

}  // namespace gpuos::control
