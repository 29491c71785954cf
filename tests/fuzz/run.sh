#!/bin/sh
# run.sh TARGET SECONDS: builds a fuzz target, makes its seeds (TARGET_seeds.py, with "_fuzz" dropped), and runs it on
# one core. The corpus is kept in build/fuzz/corpus/TARGET; an input that fails is left in build/fuzz/found/TARGET.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 TARGET SECONDS" >&2
  exit 2
fi
target=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "$target"

corpus=build/fuzz/corpus/$target
seeds=build/fuzz/seeds/$target
found=build/fuzz/found/$target
mkdir -p "$corpus" "$seeds" "$found"
python=${ANYSHAPE_PYTHON:-build/venv/bin/python}
script=$here/${target%_fuzz}_seeds.py
if [ -f "$script" ]; then
  "$python" "$script" "$seeds" || echo "no seeds: $python cannot run $script (set ANYSHAPE_PYTHON)" >&2
fi
exec "build/fuzz/bin/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
  -print_final_stats=1 -artifact_prefix="$found/" "$corpus" "$seeds"
