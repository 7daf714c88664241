# Counting for tests/run.sh: how many tests passed and failed, and which steps did. Sourced, not run.

passed=0
failed=0
failed_names=()

say() { echo "==> $*"; }

add_passed() { passed=$((passed + $1)); }

# add_failed COUNT NAME...: NAMEs are listed at the end.
add_failed() {
  failed=$((failed + $1))
  shift
  failed_names+=("$@")
}

# The last lines of every run, also of one that ends early.
print_summary() {
  local name
  for name in "${failed_names[@]}"; do
    echo "FAILED: $name"
  done
  echo "$passed passed, $failed failed"
}

# check NAME COMMAND...: one check, counted as one test.
check() {
  local name=$1 started=$SECONDS
  shift
  say "$name"
  if "$@"; then
    echo "    $name: passed in $((SECONDS - started)) s"
    add_passed 1
  else
    echo "    $name: FAILED in $((SECONDS - started)) s"
    add_failed 1 "$name"
  fi
}

# count_bazel NAME STATUS LOG: adds the test targets that Bazel's summary names. A run that did not come to its
# end (Bazel's exit code 0: all passed, 3: some failed) is a failure more: a build that failed, no test
# found, a limit of time that ended it.
count_bazel() {
  local name=$1 status=$2 log=$3 target good bad=()
  good=$(grep -cE '^//[^ ]+ +(\(cached\) )?PASSED' "$log")
  while read -r target; do
    bad+=("$name: $target")
  done < <(grep -E '^//[^ ]+ +(\(cached\) )?(FAILED|TIMEOUT|NO STATUS|FLAKY|REMOTE FAILURE|FAILED TO BUILD)' "$log" |
    awk '{print $1}' | sort -u)
  if ((status != 0 && (status != 3 || ${#bad[@]} == 0))); then
    bad+=("$name: the run did not come to its end (exit code $status)")
  fi
  add_passed "$good"
  add_failed "${#bad[@]}" "${bad[@]}"
  echo "    $name: $good passed, ${#bad[@]} failed"
}

# count_pytest NAME STATUS JUNIT_XML: adds the tests of pytest's report. No report, or no test in it, is one
# failure.
count_pytest() {
  local name=$1 status=$2 report=$3 good bad case_name bad_names=()
  good=$(python3 "$(dirname "${BASH_SOURCE[0]}")/junit.py" passed "$report" || echo 0)
  while read -r case_name; do
    bad_names+=("$name: $case_name")
  done < <(python3 "$(dirname "${BASH_SOURCE[0]}")/junit.py" failed "$report")
  bad=${#bad_names[@]}
  # pytest's exit code 1 is that tests failed; any other but 0 is a run that did not come to its end.
  if ((status != 0 && (status != 1 || bad == 0))); then
    bad_names+=("$name: the run did not come to its end (exit code $status)")
    bad=$((bad + 1))
  fi
  add_passed "$good"
  add_failed "$bad" "${bad_names[@]}"
  echo "    $name: $good passed, $bad failed"
}
