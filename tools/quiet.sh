#!/usr/bin/env bash
# quiet.sh NAME COMMAND...: runs COMMAND with its output in build/logs/NAME.log; shows the end of it if COMMAND fails.
set -uo pipefail
name=$1
shift
logs=$(cd "$(dirname "$0")/.." && pwd)/build/logs
mkdir -p "$logs"
"$@" >"$logs/$name.log" 2>&1
code=$?
if ((code != 0)); then
  tail -n "${ANYSHAPE_LOG_LINES:-60}" "$logs/$name.log" >&2
  echo "failed (exit $code): $*" >&2
  echo "whole output: build/logs/$name.log" >&2
fi
exit "$code"
