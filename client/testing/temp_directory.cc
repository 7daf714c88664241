#include "client/testing/temp_directory.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

namespace gpuos::testing {

TempDirectory::TempDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "gpuos.XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace gpuos::testing
