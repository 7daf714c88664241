# Lists the project's own files, with or without git. Sourced, not run.

# own_files PATTERN...: files whose names match a pattern, without build products and the environment.
own_files() {
  local pattern words=()
  for pattern in "$@"; do
    words+=(-o -name "$pattern")
  done
  find . \( -name .git -o -name .cache -o -name .venv -o -name 'bazel-*' \) -prune -o \
    -type f \( "${words[@]:1}" \) -print | sed 's#^\./##' | sort
}
