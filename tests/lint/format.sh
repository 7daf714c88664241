#!/bin/bash
# Every C++ and CUDA source is formatted as .clang-format says.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/lib/sources.sh

mapfile -t files < <(own_files '*.h' '*.cc' '*.cu' '*.cuh' '*.inc')
if ((${#files[@]} == 0)); then
  echo "no source found below $PWD" >&2
  exit 1
fi
if ! clang-format-14 --dry-run -Werror "${files[@]}"; then
  echo "format: mend with: clang-format-14 -i FILE" >&2
  exit 1
fi
echo "    ${#files[@]} files are formatted"
