#include "daemon/executor/residence.h"

namespace gpuos::executor {

void Residence::BatchPublished(Time now) {
  lingers_ = running_ > 0 || now - idle_since_ <= options_.linger;
  ++running_;
  ++behind_park_;
}

void Residence::BatchCompleted(Time now) {
  --running_;
  idle_since_ = now;
}

void Residence::RequestPark(Time now) {
  if (!park_requested_) park_requested_ = now;
}

Residence::Action Residence::Next(Time now) {
  if (launches_ < parks_ ||
      (launches_ == parks_ && WantsLaunch() && !options_.synchronous_launch)) {
    ++launches_;
    return Action::kLaunch;
  }
  if (launches_ > parks_ ? WantsPark(now) : options_.synchronous_launch && WantsLaunch()) {
    ++parks_;
    behind_park_ = 0;
    return Action::kPublishPark;
  }
  return Action::kNothing;
}

std::optional<Time> Residence::wake_at() const {
  if (launches_ <= parks_) return std::nullopt;
  if (park_requested_) return *park_requested_ + options_.patience;
  if (options_.dedicated || running_ > 0) return std::nullopt;
  return idle_since_ + options_.linger;
}

// REQUIRES: launches_ == parks_.
bool Residence::WantsLaunch() const {
  if (park_requested_) return false;
  if (behind_park_ > 0) return true;
  return options_.dedicated && !options_.synchronous_launch && !stopping_;
}

// REQUIRES: launches_ > parks_.
bool Residence::WantsPark(Time now) const {
  if (stopping_) return true;
  if (park_requested_) return running_ == 0 || now - *park_requested_ >= options_.patience;
  if (options_.dedicated) return false;
  if (!lingers_ || options_.linger == Duration(0)) return true;
  return running_ == 0 && now - idle_since_ >= options_.linger;
}

}  // namespace gpuos::executor
