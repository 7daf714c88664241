// A directory for one test.
#ifndef GPUOS_CLIENT_TESTING_TEMP_DIRECTORY_H_
#define GPUOS_CLIENT_TESTING_TEMP_DIRECTORY_H_

#include <string>

namespace gpuos::testing {

// Makes an empty directory with a path short enough for unix sockets in it (Bazel's own directory
// for a test is not) and removes it with all that lies in it when destroyed. Thread-compatible.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file in it.
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace gpuos::testing

#endif  // GPUOS_CLIENT_TESTING_TEMP_DIRECTORY_H_
