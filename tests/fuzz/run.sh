#!/usr/bin/env bash
# run.sh: runs every build/fuzz/bin/NAME_fuzz for FUZZ_SECONDS. Seeds: tests/fuzz/corpus/NAME; what is found on the way
# is kept in build/fuzz/corpus/NAME, a failing input in build/fuzz/failures/. Closing line: "N clean, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${FUZZ_SECONDS:-600}
clean=0 failed=0
shopt -s nullglob
for program in build/fuzz/bin/*_fuzz; do
  name=$(basename "$program" _fuzz)
  corpus=(build/fuzz/corpus/"$name")
  mkdir -p "${corpus[0]}" build/fuzz/failures
  [[ -d tests/fuzz/corpus/$name ]] && corpus+=(tests/fuzz/corpus/"$name")
  echo "fuzzing $name for $seconds s"
  if tools/quiet.sh "fuzz-$name" "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="build/fuzz/failures/$name-" "${corpus[@]}"; then
    clean=$((clean + 1))
  else
    failed=$((failed + 1))
    echo "again: $program build/fuzz/failures/$name-..."
  fi
done
echo "$clean clean, $failed failed"
((failed == 0 && clean > 0))
