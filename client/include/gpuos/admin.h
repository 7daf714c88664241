// What gpuosd says about itself: status, devices, clients, operators. gpuosctl prints these.
#ifndef GPUOS_ADMIN_H_
#define GPUOS_ADMIN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gpuos/v1/admin.pb.h"
#include "gpuos/v1/operators.pb.h"

namespace gpuos {

namespace internal {
class AdminState;
}  // namespace internal

// Owns a connection of its own to gpuosd and asks questions over it; opens no session and changes
// nothing there.
//
// Thread-safe. Each call blocks at most Options::timeout. Errors: UNAVAILABLE when the daemon does
// not answer or is gone (the message names the address, the cause and what to do),
// FAILED_PRECONDITION in a forked child, NOT_FOUND for names that there are not.
class Admin {
 public:
  struct Options {
    // "unix:///path" or a path; empty: $GPUOS_TARGET, else the well-known socket.
    std::string target;
    // Bounds Connect and each call.
    absl::Duration timeout = absl::Seconds(10);
  };

  static absl::StatusOr<std::unique_ptr<Admin>> Connect(Options options);
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  // The daemon, its devices and their counters.
  absl::StatusOr<v1::GetStatusResponse> GetStatus();
  absl::StatusOr<v1::ListDevicesResponse> ListDevices();
  // Open sessions, sorted by their number.
  absl::StatusOr<v1::ListClientsResponse> ListClients();
  // Sorted by name.
  absl::StatusOr<v1::ListOperatorsResponse> ListOperators();
  // NOT_FOUND names the closest names there are.
  absl::StatusOr<v1::OperatorInfo> GetOperator(const std::string& name);

 private:
  explicit Admin(std::unique_ptr<internal::AdminState> state);
  std::unique_ptr<internal::AdminState> state_;
};

}  // namespace gpuos

#endif  // GPUOS_ADMIN_H_
