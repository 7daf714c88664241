#!/bin/bash
# Every shell script parses, and those that are run are executable.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/lib/sources.sh

bad=0
while read -r script; do
  bash -n "$script" || bad=1
  if [[ $(head -c 2 "$script") == '#!' && ! -x $script ]]; then
    echo "scripts: $script starts with #! and is not executable: chmod +x it" >&2
    bad=1
  fi
done < <(own_files '*.sh'; echo .ci/run)
exit "$bad"
