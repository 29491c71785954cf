#!/usr/bin/env bash
# check_format.sh [--fix] [ROOT]: fails if a C++ file is not formatted as .clang-format says; --fix formats it.
# Version 14 (Debian 12) decides; others differ in detail.
set -euo pipefail
mode=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && { mode=(-i); shift; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${1:-$here/..}" && pwd)
tool=$(command -v clang-format-14 || command -v clang-format) || {
  echo "clang-format is not installed: run tools/install_deps.sh test" >&2
  exit 1
}
cd "$root"
"$here/tracked_sources.sh" "$root" | xargs -0 --no-run-if-empty -n 50 "$tool" "${mode[@]}"
echo "format: ok"
