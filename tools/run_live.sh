#!/usr/bin/env bash
# run_live.sh [NAME_live...]: runs every tests/live/*_live.py, or the named ones, with the Python of build/venv; their output
# goes to build/logs/.
# A script gets ANYSHAPE (the command-line program) and ANYSHAPE_SEED, and exits 0 when it passes. ANYSHAPE_SEED is taken
# from outside or drawn; ANYSHAPE_FULL=1 asks for the long lists. Closing line: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
export ANYSHAPE=${ANYSHAPE:-$PWD/build/release/bin/anyshape}
export ANYSHAPE_SEED=${ANYSHAPE_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "live tests, seed $ANYSHAPE_SEED (again: ANYSHAPE_SEED=$ANYSHAPE_SEED make test-live)"
passed=0 failed=0
shopt -s nullglob
for script in tests/live/*_live.py; do
  name=$(basename "$script" .py)
  [[ $# == 0 || " $* " == *" $name "* ]] || continue
  start=$SECONDS
  if tools/quiet.sh "$name" build/venv/bin/python "$script"; then
    passed=$((passed + 1)) verdict=passed
  else
    failed=$((failed + 1)) verdict=FAILED
  fi
  # A script's last line is its own summary.
  echo "$name: $verdict in $((SECONDS - start)) s: $(tail -n 1 "build/logs/$name.log")"
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
