// The version of libgpuos and gpuosctl.
#ifndef GPUOS_CLIENT_INTERNAL_VERSION_H_
#define GPUOS_CLIENT_INTERNAL_VERSION_H_

namespace gpuos::internal {

// "major.minor.patch". The daemon has its own; the wire contract keeps them able to talk.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace gpuos::internal

#endif  // GPUOS_CLIENT_INTERNAL_VERSION_H_
