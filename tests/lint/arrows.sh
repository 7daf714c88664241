#!/bin/bash
# The arrows between rooms, asked of Bazel: who may not reach whom, directly or through others.
# BAZEL names another bazel.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly bazel=${BAZEL:-bazel}

# FROM, TO, why. Targets marked testonly may cross: fakes and end-to-end tests do.
rules() {
  cat <<'TXT'
//daemon:gpuosd | //third_party/cuda/... | gpuosd links no CUDA, so a fault on a GPU cannot reach it
//daemon:gpuosd | //daemon/device/... | only executors know devices
//daemon:gpuosd | //daemon/executor/... | an executor is a process of its own
//daemon/control/... | //third_party/cuda/... | the control plane has no CUDA
//daemon/control/... | //daemon/device/... | the control plane has no devices
//daemon/executor/... | //third_party:grpc | gpuosd and libgpuos alone link gRPC
//daemon/device/... | //daemon/executor/... | includes point downwards
//daemon/device/... | //daemon/control/... | includes point downwards
//daemon/executor/... | //daemon/control/... | includes point downwards
//kernels/... | //daemon/... | includes point downwards
//kernels/... | //client/... | includes point downwards
//kernels/... | //third_party:grpc | gpuosd and libgpuos alone link gRPC
//kernels/abi/... | //kernels/worker/... | the ABI is the lowest room
//kernels/abi/... | //kernels/ops/... | the ABI is the lowest room
//client/... | //daemon/... | clients see proto and kernels/abi alone
TXT
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# path_between FROM TO: prints one path of targets, or nothing.
path_between() {
  "$bazel" query --noshow_progress --color=no "somepath($1, $2)" 2>"$log" || {
    grep -v '^INFO' "$log" >&2
    return 1
  }
}

trim() { sed 's/^ *//;s/ *$//'; }

bad=0
# An arrow that does exist must be seen, or the answers below mean nothing.
if [[ -z $(path_between //daemon/executor:gpuos-executor //kernels/abi/...) ]]; then
  echo "arrows: bazel does not see that the executor reaches kernels/abi; this check is blind" >&2
  bad=1
fi
while IFS='|' read -r from to why; do
  from=$(trim <<<"$from") to=$(trim <<<"$to") why=$(trim <<<"$why")
  shipped="($from except attr(testonly, 1, $from))"
  if ! path=$(path_between "$shipped" "$to"); then
    echo "arrows: bazel cannot answer whether $from reaches $to" >&2
    bad=1
  elif [[ -n $path ]]; then
    echo "arrows: $from reaches $to, but ${why}:" >&2
    sed 's/^/    /' <<<"$path" >&2
    bad=1
  fi
done < <(rules)
exit "$bad"
