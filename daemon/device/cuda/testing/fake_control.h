// Test only: the fake driver's controls (fake/control.h), found in the library.
#ifndef GPUOS_DAEMON_DEVICE_CUDA_TESTING_FAKE_CONTROL_H_
#define GPUOS_DAEMON_DEVICE_CUDA_TESTING_FAKE_CONTROL_H_

#include <string>
#include <vector>

#include "daemon/device/cuda/fake/control.h"

namespace gpuos::device::testing {

// The functions of fake/control.h, by the library's path. Throws std::runtime_error if it is not
// there.
class FakeControl {
 public:
  // Where the build puts the library, from a test's working directory.
  static constexpr char kLibrary[] = "daemon/device/cuda/fake/libcuda.so.1";

  explicit FakeControl(const std::string& library = kLibrary);

  decltype(&gpuos_fake_reset) reset;
  decltype(&gpuos_fake_calls) calls;
  decltype(&gpuos_fake_call) call;
  decltype(&gpuos_fake_violations) violations;
  decltype(&gpuos_fake_violation) violation;
  decltype(&gpuos_fake_fail) fail;
  decltype(&gpuos_fake_live_objects) live_objects;

  // Names of all calls since the last reset.
  std::vector<std::string> AllCalls() const;
};

}  // namespace gpuos::device::testing

#endif  // GPUOS_DAEMON_DEVICE_CUDA_TESTING_FAKE_CONTROL_H_
