// The daemon's log.
#ifndef GPUOS_DAEMON_CONTROL_LOG_H_
#define GPUOS_DAEMON_CONTROL_LOG_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace gpuos::control {

// Sends the log to standard error, from `level` on: "debug", "info", "warn", "error" or "off".
// Before other threads. Without it the logging library's defaults hold.
void SetUpLog(const std::string& level);

enum class LogLevel { kInfo, kWarning, kError };

// Writes one line to the default logger. Thread-safe; blocks for the write only. The one place of
// the control plane that includes the logging library, whose headers cost every file seconds.
void WriteLog(LogLevel level, const std::string& line);

// The line is what absl::StrCat makes of the arguments.
template <typename... Args>
void LogInfo(const Args&... args) {
  WriteLog(LogLevel::kInfo, absl::StrCat(args...));
}
template <typename... Args>
void LogWarning(const Args&... args) {
  WriteLog(LogLevel::kWarning, absl::StrCat(args...));
}
template <typename... Args>
void LogError(const Args&... args) {
  WriteLog(LogLevel::kError, absl::StrCat(args...));
}

}  // namespace gpuos::control

#endif  // GPUOS_DAEMON_CONTROL_LOG_H_
