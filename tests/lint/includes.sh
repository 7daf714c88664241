#!/bin/bash
# System headers are outside of layering_check, so who may include which is checked here by text.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/lib/sources.sh

bad=0
# including PATTERN: files that include a header whose name starts like PATTERN (an extended expression).
including() { own_files '*.h' '*.cc' '*.cu' '*.cuh' '*.inc' | xargs grep -lE "^ *# *include *[<\"]$1"; }

# starts_with_one_of FILE FOLDER...
starts_with_one_of() {
  local file=$1 folder
  shift
  for folder in "$@"; do
    [[ $file == "$folder"* ]] && return 0
  done
  return 1
}

complain() {
  echo "includes: $1 includes $2, but $3" >&2
  bad=1
}

# only_in PATTERN WHY FOLDER...: such includes stand in these folders alone.
only_in() {
  local pattern=$1 why=$2 file
  shift 2
  while read -r file; do
    starts_with_one_of "$file" "$@" || complain "$file" "$pattern" "$why"
  done < <(including "$pattern")
}

# not_in PATTERN WHY FOLDER...: such includes stand in none of these folders.
not_in() {
  local pattern=$1 why=$2 file
  shift 2
  while read -r file; do
    ! starts_with_one_of "$file" "$@" || complain "$file" "$pattern" "$why"
  done < <(including "$pattern")
}

only_in 'grpc(pp)?/' 'gpuosd and libgpuos alone use gRPC' daemon/control/ daemon/gpuosd client/ tests/
only_in 'cuda(\.h|_runtime)' "cuda.h belongs to the CUDA device and to the client's CUDA file" daemon/device/cuda/ client/ tests/
not_in 'absl/' 'what runs on the device depends on nothing but the compiler' kernels/abi/ kernels/worker/ kernels/include/
exit "$bad"
