#include "daemon/control/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace gpuos::control {

Session::Session(Identity identity, ExecutorClient* executor)
    : identity_(std::move(identity)), executor_(executor) {}

bool Session::SetOpened() {
  absl::MutexLock lock(&mutex_);
  if (state_ != State::kOpening) return false;
  state_ = State::kWaiting;
  return true;
}

bool Session::opened() const {
  absl::MutexLock lock(&mutex_);
  return state_ == State::kWaiting || state_ == State::kAttached;
}

absl::Status Session::Attach(std::shared_ptr<AttachChannel> channel) {
  absl::MutexLock lock(&mutex_);
  if (state_ == State::kAttached) {
    return absl::FailedPreconditionError(
        absl::StrCat("session ", id(), " is attached already; open another session"));
  }
  if (state_ != State::kWaiting) {
    return absl::FailedPreconditionError(
        absl::StrCat("session ", id(), " has ended; open another session"));
  }
  state_ = State::kAttached;
  channel_ = std::move(channel);
  return absl::OkStatus();
}

bool Session::attached() const {
  absl::MutexLock lock(&mutex_);
  return state_ == State::kAttached;
}

absl::Status Session::CheckAttached() const {
  if (attached()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "session ", id(),
      " is not attached; connect to GetInfoResponse.attach_path and send AttachHello"));
}

absl::Status Session::SendMemoryFile(std::uint64_t cookie, const link::UniqueFd& file) const {
  std::shared_ptr<AttachChannel> channel;
  {
    absl::MutexLock lock(&mutex_);
    channel = channel_;
  }
  if (channel == nullptr) return CheckAttached();
  v1::AttachServerMessage message;
  message.mutable_memory()->set_cookie(cookie);
  return channel->Send(message, file.get());
}

bool Session::End() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(state_, State::kEnded) != State::kEnded;
}

void Session::Dispose(const absl::Status& reason) {
  std::shared_ptr<AttachChannel> channel;
  {
    absl::MutexLock lock(&mutex_);
    channel.swap(channel_);
  }
  if (channel != nullptr) channel->Shutdown();
  descriptors_.Close();
  segments_.Clear();
  programs_.Clear();
  batches_.End(reason);
}

v1::ClientInfo Session::Describe() const {
  v1::ClientInfo info;
  info.set_session(id());
  info.set_client_name(identity_.client_name);
  info.set_pid(identity_.owner.pid);
  info.set_uid(identity_.owner.uid);
  info.set_device(identity_.device);
  info.set_segments(static_cast<std::uint32_t>(segments_.count()));
  info.set_segment_bytes(segments_.bytes());
  info.set_programs(static_cast<std::uint32_t>(programs_.count()));
  const BatchLedger::Counts counts = batches_.counts();
  info.set_batches_submitted(counts.submitted);
  info.set_batches_completed(counts.completed);
  info.set_age_seconds(absl::ToDoubleSeconds(absl::Now() - identity_.opened));
  return info;
}

}  // namespace gpuos::control
