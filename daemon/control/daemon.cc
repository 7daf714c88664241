#include "daemon/control/daemon.h"

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "daemon/control/admin_service.h"
#include "daemon/control/attach_server.h"
#include "daemon/control/control_service.h"
#include "daemon/control/devices.h"
#include "daemon/control/event_loop.h"
#include "daemon/control/executor_supervisor.h"
#include "daemon/control/grpc_acceptor.h"
#include "daemon/control/later.h"
#include "daemon/control/limits.h"
#include "daemon/control/notify.h"
#include "daemon/control/operators_service.h"
#include "daemon/control/peer_table.h"
#include "daemon/control/readiness.h"
#include "daemon/control/session.h"
#include "daemon/control/session_life.h"
#include "daemon/control/session_restore.h"
#include "daemon/control/sessions.h"
#include "daemon/control/sockets.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/server_posix.h"

namespace gpuos::control {
namespace {

// What calls that still wait get, after the executors have ended, before they are cancelled.
constexpr absl::Duration kShutdownTimeout = absl::Seconds(1);
constexpr absl::Duration kDrainStep = absl::Milliseconds(2);

Later LaterOn(EventLoop* loop) {
  return [loop](absl::Duration delay, std::function<void()> work) {
    loop->Post([loop, delay, work = std::move(work)] { loop->After(delay, work); });
  };
}

class WiredDaemon final : public Daemon {
 public:
  WiredDaemon(Options options, Sockets sockets, std::unique_ptr<EventLoop> loop);
  ~WiredDaemon() override;

  // Once, before anything else.
  absl::Status Run();

  const std::string& socket_path() const override { return sockets_.grpc.path(); }
  void Stop() override;
  void Hurry() override;

 private:
  std::unique_ptr<Devices> MakeDevices();
  absl::Status StartServer();
  absl::Status StartSockets();
  void SendWatchdog();
  void WaitForBatches();
  // Runs `work` on the loop's thread and waits for it.
  void OnLoop(std::function<void()> work);

  // In the order in which one needs another; they go in the other.
  const Options options_;
  Sockets sockets_;
  const std::unique_ptr<EventLoop> loop_;
  const Later later_;
  const Notifier notifier_;
  PeerTable peers_;
  Sessions sessions_;
  SessionLife life_;
  const std::unique_ptr<Devices> devices_;
  ControlService control_;
  OperatorsService operators_;
  AdminService admin_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Readiness> readiness_;
  // On the loop's thread.
  std::unique_ptr<GrpcAcceptor> acceptor_;
  std::unique_ptr<AttachServer> attach_server_;
  std::thread loop_thread_;
  absl::Notification hurry_;
  bool stopped_ = false;
};

WiredDaemon::WiredDaemon(Options options, Sockets sockets, std::unique_ptr<EventLoop> loop)
    : options_(std::move(options)),
      sockets_(std::move(sockets)),
      loop_(std::move(loop)),
      later_(LaterOn(loop_.get())),
      notifier_(options_.notify_socket),
      life_(&sessions_, later_),
      devices_(MakeDevices()),
      control_({.peers = &peers_,
                .devices = devices_.get(),
                .sessions = &sessions_,
                .life = &life_,
                .attach_path = sockets_.attach.path()}),
      operators_(devices_.get(), later_),
      admin_({.devices = devices_.get(),
              .sessions = &sessions_,
              .later = later_,
              .socket_path = sockets_.grpc.path(),
              .started = absl::Now()}) {}

WiredDaemon::~WiredDaemon() {
  Hurry();
  Stop();
}

std::unique_ptr<Devices> WiredDaemon::MakeDevices() {
  std::vector<std::unique_ptr<ExecutorSupervisor>> supervisors;
  for (const v1::DeviceInfo& device : options_.devices) {
    std::vector<std::string> arguments = {"--device=" + device.name(), "--link-fd=3"};
    arguments.insert(arguments.end(), options_.executor_arguments.begin(),
                     options_.executor_arguments.end());
    supervisors.push_back(std::make_unique<ExecutorSupervisor>(ExecutorSupervisor::Options{
        .device = device,
        .program = options_.executor,
        .arguments = std::move(arguments),
        .residence = options_.residence,
        .restore = [this, name = device.name()](
                       const auto& call) { RestoreSessions(sessions_, name, call); },
        .on_change = [this] { readiness_->Update(devices_->CheckReady()); }}));
  }
  return std::make_unique<Devices>(std::move(supervisors));
}

absl::Status WiredDaemon::Run() {
  if (absl::Status status = StartServer(); !status.ok()) return status;
  if (absl::Status status = StartSockets(); !status.ok()) return status;
  if (options_.watchdog_period > absl::ZeroDuration()) SendWatchdog();
  loop_thread_ = std::thread([this] { loop_->Run(); });
  devices_->Start();
  return absl::OkStatus();
}

absl::Status WiredDaemon::StartServer() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
  builder.SetMaxSendMessageSize(static_cast<int>(kMaxMessageBytes));
  builder.RegisterService(&control_);
  builder.RegisterService(&operators_);
  builder.RegisterService(&admin_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC did not start; see its log above");
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus(false);
  readiness_ = std::make_unique<Readiness>(
      &notifier_, [health](bool serving) { health->SetServingStatus(serving); });
  return absl::OkStatus();
}

absl::Status WiredDaemon::StartSockets() {
  acceptor_ = std::make_unique<GrpcAcceptor>(
      loop_.get(), &peers_,
      GrpcAcceptor::Options{
          .listening = sockets_.grpc.descriptor(),
          .max_connections = kMaxConnections,
          .hand_over = [this](int fd) { grpc::AddInsecureChannelFromFd(server_.get(), fd); }});
  attach_server_ = std::make_unique<AttachServer>(loop_.get(), sockets_.attach.descriptor(),
                                                  kMaxConnections, &life_);
  if (absl::Status status = acceptor_->Start(); !status.ok()) return status;
  return attach_server_->Start();
}

void WiredDaemon::SendWatchdog() {
  // From the loop: what the service manager watches is the thread that everybody needs.
  notifier_.Send("WATCHDOG=1");
  loop_->After(options_.watchdog_period, [this] { SendWatchdog(); });
}

void WiredDaemon::Stop() {
  if (std::exchange(stopped_, true)) return;
  if (readiness_ != nullptr) readiness_->Stop();
  if (loop_thread_.joinable()) {
    OnLoop([this] {
      acceptor_->Stop();
      attach_server_->Stop();
    });
  }
  devices_->Drain();
  WaitForBatches();
  if (hurry_.HasBeenNotified()) devices_->KillNow();
  devices_->Stop();
  if (server_ != nullptr) {
    server_->Shutdown(absl::ToChronoTime(absl::Now() + kShutdownTimeout));
    server_->Wait();
  }
  loop_->Stop();
  if (loop_thread_.joinable()) loop_thread_.join();
  attach_server_.reset();
  acceptor_.reset();
}

void WiredDaemon::Hurry() {
  if (!hurry_.HasBeenNotified()) hurry_.Notify();
  devices_->KillNow();
}

void WiredDaemon::WaitForBatches() {
  const absl::Time deadline = absl::Now() + options_.drain_timeout;
  while (absl::Now() < deadline && !hurry_.HasBeenNotified()) {
    std::uint64_t running = 0;
    for (const std::shared_ptr<Session>& session : sessions_.all()) {
      const BatchLedger::Counts counts = session->batches().counts();
      running += counts.submitted - counts.completed;
    }
    if (running == 0) return;
    hurry_.WaitForNotificationWithTimeout(kDrainStep);
  }
}

void WiredDaemon::OnLoop(std::function<void()> work) {
  absl::Notification done;
  loop_->Post([&] {
    work();
    done.Notify();
  });
  done.WaitForNotification();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(Options options) {
  absl::StatusOr<Sockets> sockets = OpenSockets(options.socket, options.socket_mode);
  if (!sockets.ok()) return sockets.status();
  absl::StatusOr<std::unique_ptr<EventLoop>> loop = EventLoop::Create();
  if (!loop.ok()) return loop.status();
  auto daemon =
      std::make_unique<WiredDaemon>(std::move(options), *std::move(sockets), *std::move(loop));
  if (absl::Status status = daemon->Run(); !status.ok()) return status;
  return std::unique_ptr<Daemon>(std::move(daemon));
}

}  // namespace gpuos::control
