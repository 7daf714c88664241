#!/bin/bash
# Runs the parts that only a GPU can show, on a machine with one: tests/gpu/run.sh BINARIES OUTPUT
#   BINARIES  folder with gpuosd, gpuos-executor, gpuos-executor-test, gpuosctl, libgpuos.so and
#             conformance_gpu, as tests/gpu/pack.sh makes it
#   OUTPUT    folder for the raw output
# Needs python3 with PyTorch (CUDA), NumPy and scikit-learn, and compute-sanitizer. Each step is
# bounded in time; a failed step is listed at the end and the exit status says how many failed.
set -uo pipefail
cd "$(dirname "$0")/../.."
[[ $# == 2 && -d $1 ]] || { echo "usage: tests/gpu/run.sh BINARIES OUTPUT" >&2; exit 2; }
binaries=$(cd "$1" && pwd)
mkdir -p "$2" && output=$(cd "$2" && pwd)
scratch=$(mktemp -d)
export GPUOS_LIBRARY=$binaries/libgpuos.so
export GPUOS_TARGET=$scratch/gpuosd.sock
daemon=
failed=()

# start_daemon FLAG...: a private gpuosd on cuda:0; waits until it serves.
start_daemon() {
  "$binaries/gpuosd" --socket="$scratch/gpuosd.sock" --device=cuda:0 "$@" 2>>"$output/gpuosd.log" &
  daemon=$!
  for _ in $(seq 300); do
    "$binaries/gpuosctl" status >"$scratch/status" 2>/dev/null && grep -q '^cuda:0  *ready' "$scratch/status" && return 0
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.2
  done
  echo "gpuosd does not serve; the end of its log:" && tail -n 20 "$output/gpuosd.log"
  return 1
}

stop_daemon() {
  [[ -n $daemon ]] && kill "$daemon" 2>/dev/null && timeout 20 tail --pid="$daemon" -f /dev/null
  [[ -n $daemon ]] && kill -KILL "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  daemon=
}
trap 'stop_daemon; rm -rf "$scratch"' EXIT

# step SECONDS NAME COMMAND...: runs it with its output in OUTPUT/NAME.txt, the command on top.
step() {
  local seconds=$1 name=$2
  shift 2
  echo "== $name"
  { echo "\$ $*" | sed "s|$binaries|BINARIES|g; s|$output|OUTPUT|g; s|$scratch|SCRATCH|g"
    timeout --kill-after=5 "$seconds" "$@" 2>&1; } >"$output/$name.txt"
  local status=$?
  tail -n 12 "$output/$name.txt"
  if ((status != 0)); then failed+=("$name (exit status $status)"); fi
}

machine() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  nvcc --version | tail -n 1
  python3 -c 'import torch; print("PyTorch", torch.__version__)'
}

conformance() { step 150 conformance "$binaries/conformance_gpu"; }

digits() {
  start_daemon || { failed+=("digits (no daemon)"); return; }
  for i in 1 2 3; do step 60 "digits-$i" python3 python_client/examples/digits.py; done
  step 10 status "$binaries/gpuosctl" status
  step 10 operators "$binaries/gpuosctl" ops list
  stop_daemon
}

# The launches block under the tool, so each batch gets a launch with its PARK already in the queue.
sanitizer() {
  cat >"$scratch/executor-under-memcheck" <<END
#!/bin/bash
[[ \$1 == --list-devices ]] && exec "$binaries/gpuos-executor-test" "\$@"
exec compute-sanitizer --tool memcheck --log-file "\$MEMCHECK_LOG" --error-exitcode 9 \
  "$binaries/gpuos-executor-test" --synchronous-launch --watchdog-ms=120000 "\$@"
END
  chmod +x "$scratch/executor-under-memcheck"
  # One log a process (%p): the planted write ends its executor, and gpuosd starts another.
  export MEMCHECK_LOG=$output/memcheck-planted-%p.txt
  start_daemon --executor="$scratch/executor-under-memcheck" || failed+=("memcheck (no daemon)")
  step 60 planted python3 tests/gpu/out_of_bounds.py
  stop_daemon
  cat "$output"/memcheck-planted-*.txt >"$output/memcheck-planted.txt" && rm "$output"/memcheck-planted-*.txt
  grep -q 'Invalid __global__ write' "$output/memcheck-planted.txt" ||
    failed+=("memcheck did not see the planted write")
  export MEMCHECK_LOG=$output/memcheck-digits.txt
  start_daemon --executor="$scratch/executor-under-memcheck" || failed+=("memcheck (no daemon)")
  step 240 digits-under-memcheck python3 python_client/examples/digits.py
  stop_daemon
  tail -n 3 "$MEMCHECK_LOG"
  grep -q 'ERROR SUMMARY: 0 errors' "$MEMCHECK_LOG" || failed+=("memcheck reports errors in the digits job")
}

benchmark() {
  for residence in elastic dedicated; do
    start_daemon --residence="$residence" || { failed+=("benchmark (no daemon)"); return; }
    step 100 "benchmark-$residence" python3 tests/benchmarks/digits.py \
      --workload="digits, $residence, isolated" --output="$output/digits-$residence.csv"
    stop_daemon
  done
}

# The same under MPS, where the worker runs beside the clients' own kernels.
shared() {
  export CUDA_MPS_PIPE_DIRECTORY=$scratch/mps CUDA_MPS_LOG_DIRECTORY=$scratch/mps-log
  mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  if nvidia-cuda-mps-control -d; then
    start_daemon && step 100 benchmark-shared python3 tests/benchmarks/digits.py \
      --workload="digits, elastic, shared" --output="$output/digits-shared.csv"
    step 10 status-shared "$binaries/gpuosctl" status
    stop_daemon
    echo quit | timeout 20 nvidia-cuda-mps-control
  else
    failed+=("shared (MPS does not start)")
  fi
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

residence() {
  start_daemon --residence=dedicated --executor="$binaries/gpuos-executor-test" || return
  step 120 residence-dedicated python3 tests/gpu/two_clients.py --batches=5000 --expect=dedicated
  stop_daemon
  start_daemon --executor="$binaries/gpuos-executor-test" || return
  step 60 residence-elastic python3 tests/gpu/two_clients.py --batches=200 --expect=elastic
  stop_daemon
}

machine | tee "$output/machine.txt"
for part in ${GPU_PARTS:-conformance digits residence sanitizer benchmark shared}; do "$part"; done
for name in "${failed[@]}"; do echo "FAILED: $name"; done
echo "${#failed[@]} steps failed"
exit "${#failed[@]}"
