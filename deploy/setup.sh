#!/bin/bash
# Installs what building, testing and running gpuosd needs, and nothing that is there already:
#   the Debian packages of deploy/packages.txt, the project's Python environment .venv with the pinned packages of
#   deploy/requirements.txt, and the static archives of third_party/pic.
# Run again it downloads and builds nothing. CUDA_HOME says where the CUDA 13 toolkit is (default /usr/local/cuda).
set -euo pipefail
export PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly cuda_home=${CUDA_HOME:-/usr/local/cuda}
readonly python=/usr/bin/python3

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

lines_of() { sed 's/#.*//' "$1" | awk 'NF'; }

check_cuda_toolkit() {
  [[ -x $cuda_home/bin/nvcc ]] ||
    fail "no CUDA toolkit at $cuda_home (bin/nvcc is missing): install CUDA 13 there, or set CUDA_HOME to where it is"
  if [[ $cuda_home != /usr/local/cuda ]]; then
    local line="build --define=cuda_home=$cuda_home"
    grep -qxF -- "$line" user.bazelrc 2>/dev/null || echo "$line" >>user.bazelrc
  fi
}

install_debian_packages() {
  local package missing=()
  for package in $(lines_of deploy/packages.txt); do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all Debian packages are installed"
    return
  fi
  say "installing Debian packages: ${missing[*]}"
  [[ $(id -u) == 0 ]] ||
    fail "installing packages needs root: run this script as root once, or: apt-get install --no-install-recommends ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update || fail "apt-get update failed: is a Debian package mirror reachable?"
  apt-get -q install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install all of: ${missing[*]} (they are packages of Debian 12)"
}

# Folder of the environment's packages.
site_packages() { .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# What the environment is made of; another value makes it anew.
environment_key() {
  { "$python" --version
    echo "$PWD"
    cat deploy/requirements.txt deploy/cuda_libraries.txt
    realpath "$cuda_home"/lib64/lib*.so.* 2>/dev/null || true
  } | sha256sum | cut -d' ' -f1
}

pip_install() {
  .venv/bin/python -m pip --disable-pip-version-check install --no-deps --no-input --quiet "$@" ||
    fail "pip could not install $*: is a Python package index reachable?"
}

# PyTorch looks for CUDA libraries in nvidia/cu13/lib beside itself: the toolkit's are linked there, and only
# those that the toolkit does not have are installed as wheels.
provide_cuda_libraries() {
  local folder library soname wheel wheels=()
  folder=$(site_packages)/nvidia/cu13/lib
  mkdir -p "$folder"
  for library in "$cuda_home"/lib64/lib*.so.[0-9]*; do
    [[ -e $library ]] && ln -sfn "$library" "$folder/"
  done
  while read -r soname wheel; do
    [[ -e $folder/$soname || " ${wheels[*]} " == *" $wheel "* ]] || wheels+=("$wheel")
  done < <(lines_of deploy/cuda_libraries.txt)
  if ((${#wheels[@]})); then
    say "the toolkit at $cuda_home lacks libraries that PyTorch loads; installing ${wheels[*]}"
    pip_install "${wheels[@]}"
  fi
}

make_python_environment() {
  local key
  key=$(environment_key)
  if [[ -x .venv/bin/python && $(cat .venv/.gpuosd_key 2>/dev/null) == "$key" ]]; then
    say "the Python environment .venv is up to date"
    return
  fi
  say "making the Python environment .venv (the PyTorch wheel is 530 MB)"
  rm -rf .venv
  "$python" -m venv .venv || fail "cannot make a virtual environment: is python3-venv installed?"
  pip_install -r deploy/requirements.txt
  provide_cuda_libraries
  .venv/bin/python -c 'import numpy, pytest, sklearn.datasets, torch; torch.ones(3) @ torch.ones(3)' ||
    fail "PyTorch does not load from .venv; its message is above"
  echo "$key" >.venv/.gpuosd_key
}

main() {
  check_cuda_toolkit
  install_debian_packages
  mkdir -p .cache
  # Two runs at once would write the same files.
  exec 9>.cache/setup.lock
  flock 9
  make_python_environment
  third_party/pic/build_archives.sh .cache/pic
  say "done"
}

main "$@"
