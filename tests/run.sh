#!/bin/bash
# Usage: tests/run.sh [--long]
# Runs every test that needs no GPU and says what it does. The last line is `N passed, N failed`: each Bazel test
# target counts once a configuration, each pytest test once, each other check once. Exits non-zero if any failed.
# --long adds the suites tagged soak, every sanitized test and the whole build with GCC. BAZEL names another bazel.
set -uo pipefail
export PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
export HOME
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source tests/lib/count.sh

readonly bazel=${BAZEL:-bazel}
export BAZEL=$bazel
readonly logs=.cache/tests
readonly quiet=(--keep_going --color=no --curses=no --noshow_loading_progress --show_progress_rate_limit=30)
long=0
case ${1:-} in
  "") ;;
  --long) long=1 ;;
  *)
    echo "tests/run.sh knows the argument --long, not '$1'" >&2
    exit 2
    ;;
esac
if ((long)); then
  left_out=-requires-gpu,-benchmark
  left_out_marks="not requires_gpu and not benchmark"
else
  left_out=-requires-gpu,-benchmark,-soak
  left_out_marks="not requires_gpu and not benchmark and not soak"
fi

# bazel_tests NAME LIMIT ARGUMENT...: runs test targets for at most LIMIT seconds and counts them.
bazel_tests() {
  local name=$1 limit=$2 log status
  shift 2
  log=$logs/${name// /-}.log
  say "Bazel tests, $name"
  timeout --kill-after=30 "$limit" "$bazel" test "${quiet[@]}" "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  count_bazel "$name" "$status" "$log"
}

# python_tests NAME FOLDER: runs the pytest tests of a folder and counts them.
python_tests() {
  local name=$1 folder=$2 report=$logs/${1// /-}.xml status
  say "Python tests, $name ($folder)"
  rm -f "$report"
  timeout --kill-after=30 600 .venv/bin/python -m pytest -c pytest.ini --rootdir . -p no:cacheprovider -q \
    -m "$left_out_marks" --junitxml "$report" "$folder"
  status=$?
  count_pytest "$name" "$status" "$report"
}

# Under ThreadSanitizer of Clang 14 a program starts only where addresses are randomized by at most 28 bits.
tsan_flags() {
  if (($(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28) > 28)); then
    echo "--run_under=/usr/bin/setarch -R"
  fi
}

build_with_gcc() {
  # The worker, and what reads untrusted bytes; the tests and the rest with --long.
  local targets=(//kernels/worker:host_worker //daemon/program:program_image //daemon/link:framing)
  ((long)) && targets=(//...)
  timeout --kill-after=30 900 "$bazel" build --config=gcc "${quiet[@]}" "${targets[@]}"
}

list_compile_commands() {
  deploy/compile_commands.sh && [[ -s compile_commands.json ]]
}

main() {
  mkdir -p "$logs"
  trap print_summary EXIT
  check "setup: packages, Python environment, archives" deploy/setup.sh
  if ((failed)); then
    exit 1
  fi

  check "format: clang-format over every source" tests/lint/format.sh
  check "scripts: every shell script parses" tests/lint/scripts.sh
  check "includes: who includes which system headers" tests/lint/includes.sh
  check "arrows: no room reaches a room that it must not" tests/lint/arrows.sh
  check "units: systemd accepts the unit files" tests/lint/units.sh

  bazel_tests "default" 3000 --test_tag_filters="$left_out" //...
  GPUOS_BIN_DIR=$("$bazel" info bazel-bin 2>/dev/null)
  export GPUOS_BIN_DIR
  check "headers: each header compiles alone" tests/lint/headers.sh
  check "compile_commands: one command lists how each file is compiled" list_compile_commands
  python_tests "python client" python_client/tests
  python_tests "end to end" tests
  check "quickstart: the job through a fresh gpuosd" deploy/quickstart.sh

  # A normal run takes the tests of what handles untrusted bytes and of what runs at once; --long takes all.
  local sanitized=(//...)
  ((long)) || mapfile -t sanitized <tests/lib/sanitized.txt
  bazel_tests "asan and ubsan" 1500 --config=asan-ubsan --test_tag_filters="sanitize,$left_out" "${sanitized[@]}"
  mapfile -t run_under < <(tsan_flags)
  bazel_tests "tsan" 1200 --config=tsan --test_tag_filters="tsan,$left_out" "${run_under[@]}" //...
  check "gcc: the second compiler builds it" build_with_gcc
  ((failed == 0))
}

main
