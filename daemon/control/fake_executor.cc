// A stand-in for gpuos-executor: speaks executor.proto, keeps its state in maps, runs nothing. What
// a batch does is said by the operator of its program's first task: "die" (SIGKILL), "goodbye",
// "hang" (no answer to anything any more), "garbage", "fail" (INTERNAL); any other completes at
// once.
//
// Flags: --list-devices, --refuse-start (Start fails), --exit-at-once, --ignore-stop.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/link/frame_reader.h"
#include "daemon/link/framing.h"
#include "daemon/link/status_codes.h"
#include "daemon/link/unique_fd.h"
#include "gpuos/v1/executor.pb.h"

namespace gpuos::control {
namespace {

constexpr int kLink = 3;

class FakeExecutor {
 public:
  explicit FakeExecutor(std::set<std::string> flags)
      : flags_(std::move(flags)), channel_(link::UniqueFd(kLink)) {}

  int Run() {
    for (;;) {
      absl::StatusOr<link::Received> received = channel_.Receive();
      v1::ExecutorRequest request;
      if (!received.ok() || !link::Parse(*received, request).ok()) return 0;
      v1::ExecutorResponse response;
      response.set_id(request.id());
      link::SetStatus(Handle(request, *received, response), response);
      if (!channel_.Send(response).ok()) return 0;
      if (request.has_stop() && flags_.count("--ignore-stop") == 0) return 0;
    }
  }

 private:
  absl::Status Handle(const v1::ExecutorRequest& request, link::Received& received,
                      v1::ExecutorResponse& response) {
    switch (request.kind_case()) {
      case v1::ExecutorRequest::kStart:
        return Start(response);
      case v1::ExecutorRequest::kOpenSession:
        sessions_.insert(request.open_session().session());
        return absl::OkStatus();
      case v1::ExecutorRequest::kCloseSession:
        return Erase(sessions_, request.close_session().session(), "session");
      case v1::ExecutorRequest::kImportSegment:
        return Import(request.import_segment(), received, response);
      case v1::ExecutorRequest::kDropSegment:
        return Erase(segments_, request.drop_segment().segment(), "segment");
      case v1::ExecutorRequest::kLoadProgram:
        return Load(request.load_program());
      case v1::ExecutorRequest::kDropProgram:
        return Erase(programs_, request.drop_program().program_id(), "program");
      case v1::ExecutorRequest::kRunBatch:
        return RunBatch(request.run_batch());
      case v1::ExecutorRequest::kStatus:
        response.mutable_status()->mutable_counters()->set_batches_completed(completed_);
        response.mutable_status()->mutable_counters()->set_sessions(
            static_cast<std::uint32_t>(sessions_.size()));
        response.mutable_status()->mutable_counters()->set_segments(
            static_cast<std::uint32_t>(segments_.size()));
        return absl::OkStatus();
      default:
        return absl::OkStatus();
    }
  }

  absl::Status Start(v1::ExecutorResponse& response) {
    if (flags_.count("--refuse-start") != 0) return absl::InternalError("the device is on fire");
    response.mutable_start()->mutable_device()->set_name("host:0");
    response.mutable_start()->mutable_device()->set_model("fake");
    response.mutable_start()->set_sharing("threads");
    response.mutable_start()->add_operators()->set_name("add");
    return absl::OkStatus();
  }

  template <typename Container>
  absl::Status Erase(Container& container, std::uint64_t id, const char* what) {
    if (container.erase(id) != 0) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat(what, " ", id, " is not known"));
  }

  absl::Status Import(const v1::ImportSegment& request, link::Received& received,
                      v1::ExecutorResponse& response) {
    if (sessions_.count(request.session()) == 0) return absl::NotFoundError("no such session");
    if (request.has_memory_file() && !received.fd.valid()) {
      return absl::InvalidArgumentError("no descriptor came");
    }
    segments_[request.segment()] = std::move(received.fd);
    response.mutable_segment_imported()->set_size(4096);
    return absl::OkStatus();
  }

  absl::Status Load(const v1::LoadProgram& request) {
    if (sessions_.count(request.session()) == 0) return absl::NotFoundError("no such session");
    const v1::Program& program = request.program();
    programs_[request.program_id()] = program.tasks().empty() ? "" : program.tasks(0).op();
    return absl::OkStatus();
  }

  absl::Status RunBatch(const v1::RunBatch& request) {
    auto program = programs_.find(request.program_id());
    if (program == programs_.end()) return absl::NotFoundError("no such program");
    for (const v1::Binding& binding : request.bindings()) {
      if (segments_.count(binding.segment()) == 0) return absl::NotFoundError("no such segment");
    }
    const std::string& op = program->second;
    if (op == "die") kill(getpid(), SIGKILL);
    if (op == "fail") return absl::InternalError("this batch fails");
    if (op == "goodbye") SayGoodbye();
    if (op == "garbage") {
      // A length of more than any message may have.
      (void)!write(channel_.fd(), "\xff\xff\xff\xff", 4);
    }
    while (op == "hang") pause();
    ++completed_;
    return absl::OkStatus();
  }

  [[noreturn]] void SayGoodbye() {
    v1::ExecutorResponse goodbye;
    link::SetStatus(absl::InternalError("the worker made no progress for 10 s"), goodbye);
    goodbye.mutable_goodbye();
    channel_.Send(goodbye).IgnoreError();
    _exit(70);
  }

  const std::set<std::string> flags_;
  link::Channel channel_;
  std::set<std::uint64_t> sessions_;
  std::map<std::uint64_t, link::UniqueFd> segments_;
  std::map<std::uint64_t, std::string> programs_;
  std::uint64_t completed_ = 0;
};

int Main(int argc, char** argv) {
  const std::set<std::string> flags(argv + 1, argv + argc);
  if (flags.count("--list-devices") != 0) {
    std::cout << R"({"name":"host:0","uuid":"","model":"fake","memory_bytes":1024})"
              << "\n";
    return 0;
  }
  if (flags.count("--exit-at-once") != 0) return 3;
  return FakeExecutor(flags).Run();
}

}  // namespace
}  // namespace gpuos::control

int main(int argc, char** argv) { return gpuos::control::Main(argc, argv); }
