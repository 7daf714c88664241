#include "daemon/control/process_counts.h"

#include <dirent.h>

namespace gpuos::control {
namespace {

// Entries of a directory without "." and "..".
std::uint32_t CountEntries(const char* path) {
  DIR* directory = opendir(path);
  if (directory == nullptr) return 0;
  std::uint32_t count = 0;
  while (const dirent* entry = readdir(directory)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(directory);
  return count;
}

}  // namespace

std::uint32_t CountDescriptors() {
  const std::uint32_t count = CountEntries("/proc/self/fd");
  return count == 0 ? 0 : count - 1;
}

std::uint32_t CountThreads() { return CountEntries("/proc/self/task"); }

}  // namespace gpuos::control
