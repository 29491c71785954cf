#!/usr/bin/env bash
# run.sh CMAKE BUILD_DIR CXX: installs BUILD_DIR into a temporary prefix, moves that prefix elsewhere, then builds and
# runs the consumer against it through find_package and through pkg-config.
set -euo pipefail
cmake=$1 build=$2 cxx=$3
consumer=$(cd "$(dirname "$0")/consumer" && pwd)
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
prefix=$work/moved
mv "$work/first" "$prefix"

echo "-- find_package"
"$cmake" -G Ninja -S "$consumer" -B "$work/consumer" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix"
"$cmake" --build "$work/consumer"
"$work/consumer/consumer"
"$work/consumer/static_consumer"
"$work/consumer/mql5_consumer"

echo "-- examples/tools"
"$cmake" -G Ninja -S "$examples/tools" -B "$work/tools" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix"
"$cmake" --build "$work/tools"
# What was told last has lines that begin so.
expect() {
  for pattern; do
    grep -q -- "^$pattern" "$work/told" || { printf 'no line begins with %s:\n' "$pattern"; cat "$work/told"; exit 1; }
  done
}
"$work/tools/shapes" "$examples/lstm_baked.onnx" '--dynamic x:1=seq' >"$work/told"
expect 'input x: f32\[batch, seq, 1\]$' 'takes x\[batch, seq, 1\] where batch >= 1; seq == 120$' \
  '2 everywhere: reshape.count: ' 'takes x\[batch, seq, 1\] where batch >= 1; seq >= 1$' \
  '2 everywhere: accepted$' 'same     x='
"$work/tools/graph" "$examples/lstm_baked.onnx" >"$work/told"
expect 'Reshape /r1/Reshape -> f32\[batch, 120, 1\]$' '  needs batch\*seq == 120\*batch: '

echo "-- pkg-config"
pc=$(find "$prefix" -name anyshape.pc)
export PKG_CONFIG_PATH=${pc%/*}
version=$(pkg-config --modversion anyshape)
read -ra flags <<<"$(pkg-config --cflags --libs anyshape)"
"$cxx" -std=c++20 -DEXPECTED_VERSION="\"$version\"" "$consumer/main.cpp" "${flags[@]}" -o "$work/with_pkg_config"
libdir=$(pkg-config --variable=libdir anyshape)
LD_LIBRARY_PATH=$libdir "$work/with_pkg_config"
read -ra flags <<<"$(pkg-config --cflags --libs anyshape-mql5)"
"$cxx" -std=c++20 "$consumer/mql5.cpp" "${flags[@]}" -o "$work/mql5_with_pkg_config"
LD_LIBRARY_PATH=$libdir "$work/mql5_with_pkg_config"

if [[ -x $prefix/bin/anyshape ]]; then
  echo "-- command line"
  "$prefix/bin/anyshape" --version | grep -F "$version"
  bash -c '. "$1" && complete -p anyshape' _ "$prefix/share/bash-completion/completions/anyshape"
  grep -q '^#compdef anyshape$' "$prefix/share/zsh/site-functions/_anyshape"
fi
