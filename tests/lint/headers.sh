#!/bin/bash
# Every header compiles alone: it includes what it uses. Needs the generated headers of a build.
# GPUOS_BIN_DIR names another folder than bazel-bin.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/lib/sources.sh
readonly bin=${GPUOS_BIN_DIR:-bazel-bin}

# The folders that BUILD files put on the include path, sources and generated ones.
include_paths() {
  local folder
  for folder in kernels/include client/include proto/gpuos/v1/include third_party/cuda/include; do
    echo "-I$folder"
    echo "-isystem"
    echo "$bin/$folder"
  done
}

mapfile -t flags < <(include_paths)
flags+=(-I. -I"$bin" -std=c++20 -Wall -Wextra -Werror -Wno-pragma-once-outside-header -fsyntax-only -x c++
  -DFMT_HEADER_ONLY -DSPDLOG_FMT_EXTERNAL -DSPDLOG_HEADER_ONLY)
mapfile -t headers < <(own_files '*.h')
if ((${#headers[@]} == 0)); then
  echo "no header found below $PWD" >&2
  exit 1
fi
printf '%s\0' "${headers[@]}" |
  xargs -0 -P "$(nproc)" -I{} sh -c 'header=$1; shift
    clang++-14 "$@" "$header" || { echo "headers: $header does not compile alone" >&2; exit 1; }' check {} "${flags[@]}" ||
  exit 1
echo "    ${#headers[@]} headers compile alone"
