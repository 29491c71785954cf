#!/usr/bin/env bash
# run_bench.sh: runs every benchmark program of the release build, then bench/*_bench.py with the Python of build/venv,
# then the speed table, whose last line is the geometric mean.
set -euo pipefail
cd "$(dirname "$0")/.."
export ANYSHAPE=$PWD/build/release/bin/anyshape
shopt -s nullglob
for program in build/release/bin/*_bench; do
  echo "== $(basename "$program")"
  "$program"
done
for script in bench/*_bench.py; do
  echo "== $(basename "$script")"
  build/venv/bin/python "$script"
done
echo "== speed_table"
build/venv/bin/python bench/prepare.py
build/release/bin/speed_table
