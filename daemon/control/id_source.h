// Numbers for segments and programs.
#ifndef GPUOS_DAEMON_CONTROL_ID_SOURCE_H_
#define GPUOS_DAEMON_CONTROL_ID_SOURCE_H_

#include <atomic>
#include <cstdint>

namespace gpuos::control {

// 1, 2, ...: none is used twice in the daemon's life, so that an id of the past, or of another
// session, is never mistaken for one of today. Thread-safe.
class IdSource {
 public:
  std::uint64_t Next() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> next_ = 1;
};

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_ID_SOURCE_H_
