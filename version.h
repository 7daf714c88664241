// The one place that says which version this is.
#ifndef GPUOS_VERSION_H_
#define GPUOS_VERSION_H_

namespace gpuos {

// "major.minor.patch" of gpuosd, libgpuos and the tools, which are released together.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace gpuos

#endif  // GPUOS_VERSION_H_
