#!/usr/bin/env bash
# run.sh [NAME...]: runs build/fuzz/bin/NAME_fuzz (default: all of them) for FUZZ_SECONDS each on one core. Seeds: what
# tests/fuzz/NAME_seeds.py writes; what is found on the way is kept in build/fuzz/corpus/NAME, a failing input in
# build/fuzz/failures/. Closing line: "N clean, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${FUZZ_SECONDS:-600}
python=${ANYSHAPE_PYTHON:-build/venv/bin/python}
clean=0 failed=0
shopt -s nullglob
programs=(build/fuzz/bin/*_fuzz)
(($# > 0)) && programs=("${@/#/build/fuzz/bin/}") && programs=("${programs[@]/%/_fuzz}")
for program in "${programs[@]}"; do
  name=$(basename "$program" _fuzz)
  corpus=(build/fuzz/corpus/"$name" build/fuzz/seeds/"$name")
  mkdir -p "${corpus[@]}" build/fuzz/failures
  if [[ -f tests/fuzz/${name}_seeds.py ]]; then
    tools/quiet.sh "seeds-$name" "$python" "tests/fuzz/${name}_seeds.py" "${corpus[1]}" || { failed=$((failed + 1)); continue; }
  fi
  echo "fuzzing $name for $seconds s"
  if tools/quiet.sh "fuzz-$name" "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/failures/$name-" "${corpus[@]}"; then
    clean=$((clean + 1))
  else
    failed=$((failed + 1))
    echo "again: $program build/fuzz/failures/$name-..."
  fi
done
echo "$clean clean, $failed failed"
((failed == 0 && clean > 0))
