#!/bin/bash
# Writes compile_commands.json at the root of the tree, for clangd and other tools: how Bazel compiles each C++
# source in the default configuration. Builds nothing. BAZEL names another bazel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

actions=$(mktemp)
trap 'rm -f "$actions" "$actions.log" compile_commands.json.new' EXIT
"${BAZEL:-bazel}" aquery --noshow_progress --color=no --output=jsonproto 'mnemonic("CppCompile", //...)' \
  >"$actions" 2>"$actions.log" || {
  grep -v '^INFO' "$actions.log" >&2
  echo "compile_commands: bazel cannot list its compile actions" >&2
  exit 1
}
/usr/bin/python3 deploy/compile_commands.py "$actions" "$PWD" >compile_commands.json.new
mv compile_commands.json.new compile_commands.json
echo "compile_commands.json lists $(grep -c '"file"' compile_commands.json) sources"
