#!/bin/bash
# Usage: build_archives.sh OUTPUT_DIRECTORY
# Builds Abseil, Protobuf and RE2 from Debian's source packages, at the versions of the installed headers,
# as position-independent code: OUTPUT_DIRECTORY/lib{absl,protobuf,re2}_pic.a. The archives that Debian
# ships hold local-exec thread storage and copy relocations, so they cannot become part of a shared library
# such as libgpuos.so. (Debian's gRPC, c-ares, OpenSSL and zlib archives can.)
# Archives that are there at the right version are left alone.
set -euo pipefail

fail() { echo "build_archives: $*" >&2; exit 1; }

[[ $# == 1 ]] || fail "needs one argument, the output directory"
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The machine's own Debian sources, asked for source packages, with package lists of their own.
apt_options=(-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts"
  -o Dir::State::lists="$work/lists" -o APT::Sandbox::User=root)
update_source_lists() {
  [[ -d $work/lists ]] && return
  local file
  mkdir -p "$work/lists" "$work/parts"
  for file in /etc/apt/sources.list.d/*.sources; do
    if [[ -f $file ]] && grep -q debian "$file"; then
      sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/$(basename "$file")"
    fi
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [[ -f $file ]] && grep -q '^deb .*debian' "$file"; then
      sed -n 's/^deb \(.*debian.*\)/deb-src \1/p' "$file" >"$work/parts/$(basename "$file" .list).list"
    fi
  done
  apt-get "${apt_options[@]}" update >"$work/log" 2>&1 ||
    fail "apt-get update for source packages failed: $(tail -n 3 "$work/log")"
}

# fetch SOURCE_PACKAGE VERSION: unpacks it, with Debian's patches, to $work/SOURCE_PACKAGE.
fetch() {
  update_source_lists
  (cd "$work" && apt-get "${apt_options[@]}" source --download-only "$1=$2" >"$work/log" 2>&1) ||
    fail "no source package $1=$2, the version of the installed headers: $(tail -n 3 "$work/log"); bring the system up to date (apt-get upgrade) and run this again"
  dpkg-source --no-check -x "$work/$1"_*.dsc "$work/$1" >"$work/log" 2>&1 ||
    fail "cannot unpack the source package $1: $(tail -n 3 "$work/log")"
}

export PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
readonly flags="-O2 -w -DNDEBUG -ffunction-sections -fdata-sections"

# needed ARCHIVE HEADER_PACKAGE: sets `version` and says whether ARCHIVE is missing at that version.
needed() {
  version=$(dpkg-query -W -f='${source:Version}' "$2" 2>/dev/null) ||
    fail "$2 is not installed; deploy/setup.sh installs it"
  [[ ! -f $out/$1 || $(cat "$out/$1.version" 2>/dev/null) != "$version" ]]
}

# finish ARCHIVE DIRECTORY: puts the directory's objects into the archive, in one step at the end.
finish() {
  find "$2" -name '*.o' -print0 | sort -z | xargs -0 ar rcs "$work/$1"
  mv "$work/$1" "$out/$1"
  echo "$version" >"$out/$1.version"
}

# build_with_cmake ARCHIVE SOURCE_PACKAGE HEADER_PACKAGE TARGET [CMAKE_OPTION...]
build_with_cmake() {
  local archive=$1 package=$2 headers=$3 target=$4
  shift 4
  needed "$archive" "$headers" || return 0
  echo "building $package $version as position-independent code (once)"
  fetch "$package" "$version"
  cmake -S "$work/$package" -B "$work/$package-build" -G Ninja \
    -DCMAKE_CXX_COMPILER=/usr/bin/g++ -DCMAKE_C_COMPILER=/usr/bin/gcc -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_CXX_FLAGS_RELEASE="$flags" "$@" >"$work/log" 2>&1 ||
    fail "cmake refuses $package: $(tail -n 5 "$work/log")"
  cmake --build "$work/$package-build" --target "$target" >"$work/log" 2>&1 ||
    fail "$package does not build: $(tail -n 15 "$work/log")"
  finish "$archive" "$work/$package-build"
}

# RE2's source package lacks its generated files of constants; their objects need no change and are taken
# from Debian's archive.
build_re2() {
  needed libre2_pic.a libre2-dev || return 0
  echo "building re2 $version as position-independent code (once)"
  fetch re2 "$version"
  mkdir "$work/re2-build"
  local object source
  for object in $(ar t /usr/lib/x86_64-linux-gnu/libre2.a); do
    source=$(cd "$work/re2" && find re2 util -maxdepth 1 -name "${object%.o}.cc")
    if [[ -z $source ]]; then
      (cd "$work/re2-build" && ar x /usr/lib/x86_64-linux-gnu/libre2.a "$object")
    else
      echo "$source $work/re2-build/$object"
    fi
  done >"$work/re2-sources"
  (cd "$work/re2" && FLAGS=$flags xargs -P "$(nproc)" -L 1 sh -c '/usr/bin/g++ $FLAGS -fPIC -std=c++17 -pthread -I. -c "$1" -o "$2" || exit 255' compile <"$work/re2-sources") ||
    fail "re2 does not compile"
  finish libre2_pic.a "$work/re2-build"
}

build_with_cmake libabsl_pic.a abseil libabsl-dev all -DBUILD_TESTING=OFF -DABSL_PROPAGATE_CXX_STD=ON
build_re2
build_with_cmake libprotobuf_pic.a protobuf libprotobuf-dev libprotobuf -Dprotobuf_BUILD_TESTS=OFF \
  -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_BUILD_LIBPROTOC=OFF
