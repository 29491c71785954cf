#!/usr/bin/env bash
# tracked_sources.sh [ROOT]: the C++ files of the project, NUL-separated: those git knows, or all where there is no git.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git ls-files -z -- '*.cpp' '*.h' | while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done
else
  find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -type f -print0
fi
