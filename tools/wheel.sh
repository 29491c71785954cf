#!/usr/bin/env bash
# wheel.sh: makes a wheel for the interpreter $PYTHON (python3) in build/wheels and tries it in a bare environment.
# WHEEL_GLIBC=2.28: for systems with this glibc or a newer one, compiled by zig; else for one as new as this system.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
glibc=${WHEEL_GLIBC:-}
most_bytes=$((15 << 20))
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
work=build/wheel/$tag${glibc:+-glibc$glibc}
requirements=(tools/requirements/wheel.txt ${glibc:+tools/requirements/zig.txt})

wanted=$(cat "${requirements[@]}")
if [[ ! -f $work/stamp || $(<"$work/stamp") != "$wanted" ]]; then
  echo "installing what makes a wheel into $work/venv"
  mkdir -p "$work"
  tools/quiet.sh wheel-venv "$python" -m venv --clear "$work/venv"
  tools/quiet.sh wheel-pip "$work/venv/bin/python" -m pip install --disable-pip-version-check "${requirements[@]/#/-r}"
  printf '%s\n' "$wanted" >"$work/stamp"
fi
tools/bundled.sh
PATH=$PWD/$work/venv/bin:$PATH

# One folder for all interpreters: ccache, which compares commands with the names in them, knows all but the module.
settings=(build-dir="build/wheel/cmake${glibc:+-glibc$glibc}" cmake.define.ANYSHAPE_BUNDLED=build/bundled cmake.define.ANYSHAPE_LEVEL=-O2)
if [[ $glibc ]]; then
  zig=$(python -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
  target=$(uname -m)-linux-gnu.$glibc
  export CC="$zig cc -target $target" CXX="$zig c++ -target $target"
  # It does not know this compiler.
  settings+=(cmake.define.CCACHE=OFF)
fi
rm -rf "$work"/{made,named}
echo "building a wheel for $tag${glibc:+ and glibc $glibc}"
tools/quiet.sh "wheel-$tag" python -m pip wheel . --disable-pip-version-check --no-deps --no-build-isolation \
  -w "$work/made" "${settings[@]/#/--config-settings=}"
tools/quiet.sh "wheel-$tag-name" python -m auditwheel repair -w "$work/named" "$work"/made/*.whl
mkdir -p build/wheels
wheel=$(echo "$work"/named/*.whl)
bytes=$(stat -c %s "$wheel")
if ((bytes > most_bytes)); then
  echo "$wheel has $bytes bytes, more than $most_bytes" >&2
  exit 1
fi
mv "$wheel" build/wheels/
wheel=build/wheels/${wheel##*/}
tests/install/wheel.sh "$python" "$wheel"
echo "done: $wheel, $((bytes >> 10)) KiB"
