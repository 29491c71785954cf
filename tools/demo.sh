#!/usr/bin/env bash
# demo.sh: what anyshape says about the shipped models. Each command is printed before its output.
set -uo pipefail
cd "$(dirname "$0")/.."
anyshape=build/release/bin/anyshape
shown=0

# show EXPECTED_EXIT ARGUMENT...: prints and runs one command; a refusal (exit 3) may be the answer we want to show.
show() {
  local expected=$1 code
  shift
  printf '\n$ anyshape'
  printf ' %q' "$@"
  printf '\n'
  "$anyshape" "$@"
  code=$?
  if ((code != expected)); then
    echo "demo: expected exit code $expected, got $code" >&2
    exit 1
  fi
  shown=$((shown + 1))
}

show 0 --version
for model in examples/*.onnx; do
  [[ -f $model ]] || continue
  show 0 info "$model"
  show 0 check --fail-on never "$model"
done
printf '\ndemo: %d commands, all as expected\n' "$shown"
