#include "daemon/device/cuda/testing/fake_control.h"

#include <dlfcn.h>

#include <stdexcept>

namespace gpuos::device::testing {
namespace {

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
}

}  // namespace

FakeControl::FakeControl(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  Find(handle, "gpuos_fake_reset", reset);
  Find(handle, "gpuos_fake_calls", calls);
  Find(handle, "gpuos_fake_call", call);
  Find(handle, "gpuos_fake_violations", violations);
  Find(handle, "gpuos_fake_violation", violation);
  Find(handle, "gpuos_fake_fail", fail);
  Find(handle, "gpuos_fake_live_objects", live_objects);
}

std::vector<std::string> FakeControl::AllCalls() const {
  std::vector<std::string> names;
  for (unsigned long i = 0; const char* name = call(i); ++i) names.emplace_back(name);
  return names;
}

}  // namespace gpuos::device::testing
