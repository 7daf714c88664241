#!/bin/sh
# gpuosd must not know CUDA: it needs no library of it and names none of its functions.
set -eu
gpuosd="$TEST_SRCDIR/$TEST_WORKSPACE/daemon/gpuosd"
if ldd "$gpuosd" | grep -Ei 'libcuda|libcudart|libnvrtc|libnvJitLink'; then
  echo "gpuosd needs a CUDA library (above)"
  exit 1
fi
# Driver, runtime, NVRTC and linker functions: cuInit, cudaMalloc, nvrtcCompileProgram, nvJitLinkCreate.
if nm -C "$gpuosd" | grep -E ' (cu[A-Z][A-Za-z0-9_]*|cuda[A-Z][A-Za-z0-9_]*|nvrtc[A-Z][A-Za-z]*|nvJitLink[A-Za-z]*)$'; then
  echo "gpuosd names CUDA functions (above)"
  exit 1
fi
nm "$gpuosd" | grep -q ' main$' || { echo "gpuosd has no symbols to look at"; exit 1; }
echo "gpuosd links no CUDA"
