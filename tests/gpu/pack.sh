#!/bin/bash
# Builds what tests/gpu/run.sh needs and puts it, stripped, into a folder: tests/gpu/pack.sh FOLDER
# The binaries hold gRPC, Protobuf and Abseil, so that they run on another distribution.
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ $# == 1 ]] || { echo "usage: tests/gpu/pack.sh FOLDER" >&2; exit 2; }
targets=(//daemon:gpuosd //daemon/executor:gpuos-executor //daemon/executor:gpuos-executor-test
  //client/cli:gpuosctl //client:libgpuos.so //daemon/device/cuda:conformance_gpu)
bazel=${BAZEL:-bazel}
$bazel build "${targets[@]}"
mkdir -p "$1"
bin=$($bazel info bazel-bin 2>/dev/null)
for target in "${targets[@]}"; do
  path=${target#//}
  name=${path#*:}
  rm -f "$1/$name"
  strip -o "$1/$name" "$bin/${path%:*}/$name"
done
ls -l "$1"
