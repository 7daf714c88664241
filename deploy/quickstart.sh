#!/bin/bash
# From a checkout to a job done, in one command: installs what is missing, builds, starts a gpuosd of its own,
# classifies 1,797 scanned digits through it, shows its status and operators, and stops it.
# Ends non-zero if a result differs from PyTorch's or anything else fails. Run it as often as you like.
# GPUOS_DEVICE chooses the device (auto, host, cuda:0; default auto). BAZEL names another bazel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
export HOME

readonly bazel=${BAZEL:-bazel}
readonly ready_seconds=120
readonly stop_seconds=30
run_directory=
daemon=

say() { echo "quickstart: $*"; }
fail() { echo "quickstart: $*" >&2; exit 1; }

# Stops gpuosd whatever happened, and keeps the exit status.
finish() {
  local status=$?
  trap - EXIT INT TERM
  if [[ -n $daemon ]] && kill -0 "$daemon" 2>/dev/null; then
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null || true
  fi
  if ((status != 0)) && [[ -s $run_directory/gpuosd.log ]]; then
    echo "quickstart: the last lines of gpuosd's log:" >&2
    tail -n 20 "$run_directory/gpuosd.log" >&2
  fi
  [[ -z $run_directory ]] || rm -rf "$run_directory"
  exit "$status"
}

build() {
  say "building gpuosd, its executor, gpuosctl and libgpuos.so with Bazel (minutes the first time)"
  "$bazel" build --color=no --curses=no --noshow_loading_progress --show_progress_rate_limit=30 \
    //daemon:gpuosd //daemon/executor:gpuos-executor //client/cli:gpuosctl //client:libgpuos.so ||
    fail "the build failed; Bazel's message is above"
  binaries=$("$bazel" info bazel-bin 2>/dev/null) || fail "bazel does not say where it puts binaries"
}

gpuosctl() { "$binaries/client/cli/gpuosctl" --target="$target" "$@"; }

start_gpuosd() {
  run_directory=$(mktemp -d)
  target=unix://$run_directory/gpuosd.sock
  say "starting gpuosd (device ${GPUOS_DEVICE:-auto})"
  "$binaries/daemon/gpuosd" --socket="$run_directory/gpuosd.sock" --device="${GPUOS_DEVICE:-auto}" \
    --executor="$binaries/daemon/executor/gpuos-executor" >"$run_directory/gpuosd.log" 2>&1 &
  daemon=$!
  local deadline=$((SECONDS + ready_seconds))
  until gpuosctl status >/dev/null 2>&1; do
    kill -0 "$daemon" 2>/dev/null || fail "gpuosd ended before it was ready"
    ((SECONDS < deadline)) || fail "gpuosd was not ready within $ready_seconds s: $(gpuosctl status 2>&1 | tail -n 1)"
    sleep 0.1
  done
}

stop_gpuosd() {
  say "stopping gpuosd"
  kill -TERM "$daemon"
  local deadline=$((SECONDS + stop_seconds)) status=0
  while kill -0 "$daemon" 2>/dev/null; do
    ((SECONDS < deadline)) || fail "gpuosd did not stop within $stop_seconds s"
    sleep 0.1
  done
  wait "$daemon" || status=$?
  daemon=
  ((status == 0)) || fail "gpuosd ended with status $status"
}

trap finish EXIT
trap 'exit 130' INT TERM
deploy/setup.sh || fail "setup failed; its message is above"
build
start_gpuosd
say "classifying the digits, one image at a time, from a second process"
GPUOS_LIBRARY="$binaries/client/libgpuos.so" .venv/bin/python python_client/examples/digits.py --target="$target" ||
  fail "the job failed or differs from PyTorch; its message is above"
say "gpuosctl status"
gpuosctl status || fail "gpuosctl status failed"
say "gpuosctl ops list"
gpuosctl ops list || fail "gpuosctl ops list failed"
stop_gpuosd
say "done: every row agrees with PyTorch"
