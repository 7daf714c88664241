#include "daemon/control/log.h"

#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace gpuos::control {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kInfo:
      break;
  }
  return spdlog::level::info;
}

}  // namespace

void SetUpLog(const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("gpuosd"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%f %^%l%$ gpuosd %v");
  spdlog::set_level(spdlog::level::from_str(level));
}

void WriteLog(LogLevel level, const std::string& line) {
  spdlog::default_logger_raw()->log(ToSpdlog(level), spdlog::string_view_t(line));
}

}  // namespace gpuos::control
