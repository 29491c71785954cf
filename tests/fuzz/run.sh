#!/usr/bin/env bash
# run.sh [NAME...]: runs build/fuzz/bin/NAME_fuzz (default: all of them) for FUZZ_SECONDS each, JOBS of them at a time.
# Seeds: what tests/fuzz/NAME_seeds.py writes; what is found on the way is kept in build/fuzz/corpus/NAME, a failing
# input in build/fuzz/failures/. Closing line: "N clean, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.."
export FUZZ_SECONDS=${FUZZ_SECONDS:-600} ANYSHAPE_PYTHON=${ANYSHAPE_PYTHON:-build/venv/bin/python}

# fuzz NAME: prints one line that starts with "clean" or "FAILED".
fuzz() {
  local name=$1 program=build/fuzz/bin/$1_fuzz corpus=(build/fuzz/corpus/"$1" build/fuzz/seeds/"$1")
  mkdir -p "${corpus[@]}" build/fuzz/failures
  if [[ -f tests/fuzz/${name}_seeds.py ]]; then
    tools/quiet.sh "seeds-$name" "$ANYSHAPE_PYTHON" "tests/fuzz/${name}_seeds.py" "${corpus[1]}" ||
      { echo "FAILED $name: its seeds could not be written"; return; }
  fi
  tools/quiet.sh "fuzz-$name" "$program" -max_total_time="$FUZZ_SECONDS" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/failures/$name-" "${corpus[@]}" ||
    { echo "FAILED $name; again: $program build/fuzz/failures/$name-..."; return; }
  echo "clean  $name: $(sed -n 's/^Done //p' "build/logs/fuzz-$name.log")"
}
export -f fuzz

shopt -s nullglob
names=("$@")
((${#names[@]})) || for program in build/fuzz/bin/*_fuzz; do names+=("$(basename "$program" _fuzz)"); done
echo "fuzzing ${names[*]} for $FUZZ_SECONDS s each"
results=$(printf '%s\n' "${names[@]}" | xargs -P "${JOBS:-$(nproc)}" -I NAME bash -c 'fuzz NAME' | tee >(cat >&2))
clean=$(grep -c '^clean' <<<"$results") failed=$(grep -c '^FAILED' <<<"$results")
echo "$clean clean, $failed failed"
((failed == 0 && clean == ${#names[@]}))
