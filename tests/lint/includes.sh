#!/bin/bash
# System headers are outside of layering_check, so who may include which is checked here by text.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/lib/sources.sh

bad=0
# only_in PATTERN WHY FOLDER...: includes that match PATTERN stand in these folders alone.
only_in() {
  local pattern=$1 why=$2 file folder allowed
  shift 2
  while read -r file; do
    allowed=0
    for folder in "$@"; do
      [[ $file == "$folder"* ]] && allowed=1
    done
    if ((!allowed)); then
      echo "includes: $file includes $pattern, but $why" >&2
      bad=1
    fi
  done < <(own_files '*.h' '*.cc' '*.cu' '*.cuh' '*.inc' | xargs grep -lE "^ *# *include *[<\"]$pattern")
}

only_in 'grpc(pp)?/' 'gpuosd and libgpuos alone use gRPC' daemon/control/ daemon/gpuosd client/ tests/
only_in 'cuda(\.h|_runtime)' 'cuda.h belongs to the CUDA device and to the client'"'"'s CUDA file' daemon/device/cuda/ client/ tests/
only_in 'absl/' 'what runs on the device depends on nothing but the compiler' daemon/ client/ tests/ kernels/ops/
exit "$bad"
