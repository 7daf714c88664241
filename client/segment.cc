#include "gpuos/segment.h"

#include <sys/mman.h>

namespace gpuos {

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace gpuos
