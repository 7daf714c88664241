#!/bin/bash
# Usage: nvcc_cubin.sh CUDA_HOME ARCH CUBIN RESOURCES FLAGS SOURCE...
# Compiles each source as relocatable device code, links them to one cubin, and writes what both steps
# say of registers, stack, spills and barriers to RESOURCES.
set -euo pipefail
cuda_home=$1 arch=$2 cubin=$3 resources=$4 flags=$5
shift 5
nvcc=$cuda_home/bin/nvcc
if [[ ! -x $nvcc ]]; then
  echo "no nvcc at $nvcc: install the CUDA 13 toolkit there, or say where it is with --define=cuda_home=DIR" >&2
  exit 1
fi
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
: >"$resources"
parts=()
for source in "$@"; do
  part=$objects/${#parts[@]}.cubin
  # shellcheck disable=SC2086  # the flags are words
  if ! "$nvcc" -ccbin /usr/bin/g++ -cubin -rdc=true -I. -Xptxas -v -Werror all-warnings $flags \
      -o "$part" "$source" >"$objects/log" 2>&1; then
    cat "$objects/log" >&2
    exit 1
  fi
  echo "# ptxas: $source" >>"$resources"
  cat "$objects/log" >>"$resources"
  parts+=("$part")
done
echo "# linked" >>"$resources"
if ! "$cuda_home/bin/nvlink" --verbose -arch="$arch" -o "$cubin" "${parts[@]}" >"$objects/log" 2>&1; then
  cat "$objects/log" >&2
  exit 1
fi
cat "$objects/log" >>"$resources"
