#!/bin/bash
# Every header compiles alone: it includes what it uses. A header that its own source includes first is shown to
# do so by every build; the others are compiled here. Needs the generated headers of a build.
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
# first_include FILE: what its first #include names.
first_include() { sed -n '/^ *# *include/{s/^[^<"]*[<"]\([^>"]*\)[>"].*/\1/p;q}' "$1"; }

# shown_by_its_source HEADER: whether NAME.cc or NAME_test.cc beside it includes it before anything else.
shown_by_its_source() {
  local source first
  for source in "${1%.h}.cc" "${1%.h}_test.cc"; do
    [[ -f $source ]] || continue
    first=$(first_include "$source")
    [[ -n $first && $1 == *"$first" ]] && return 0
  done
  return 1
}

headers=()
count=0
while read -r header; do
  count=$((count + 1))
  shown_by_its_source "$header" || headers+=("$header")
done < <(own_files '*.h')
if ((count == 0 || ${#headers[@]} == 0)); then
  echo "headers: found $count headers, ${#headers[@]} to compile below $PWD: this check is blind" >&2
  exit 1
fi
printf '%s\0' "${headers[@]}" |
  xargs -0 -P "$(nproc)" -I{} sh -c 'header=$1; shift
    clang++-14 "$@" "$header" || { echo "headers: $header does not compile alone" >&2; exit 1; }' check {} "${flags[@]}" ||
  exit 1
echo "    $count headers stand alone, ${#headers[@]} of them compiled here"
