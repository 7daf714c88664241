#!/bin/bash
# systemd accepts the unit files: systemd-analyze verify over copies whose programs exist.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT
for unit in deploy/systemd/gpuosd.service deploy/systemd/gpuosd-mps.service; do
  if [[ ! -f $unit ]]; then
    echo "units: $unit is missing" >&2
    exit 1
  fi
  # The installed programs need not be on this machine; verify looks whether they are executable.
  sed -E 's#^(Exec[A-Za-z]+=[-+!]*)/usr/bin/(gpuosd|nvidia-[a-z-]+)#\1/bin/true#' "$unit" >"$copies/$(basename "$unit")"
done
output=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$copies"/*.service 2>&1)
status=$?
# Words about other units of this machine are not ours.
if ((status != 0)) || grep -q gpuosd <<<"$output"; then
  echo "$output" >&2
  exit 1
fi
