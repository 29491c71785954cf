#!/usr/bin/env bash
# lint.sh: every check over the text of the tree, then clang-tidy over the sources of the release build.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/check_layers.py
tools/check_sources.py
tools/check_format.sh
tools/tracked_sources.sh | grep -zE '^(src|apps|bench|tests)/.*\.cpp$' | grep -zvE '^tests/install/consumer/' |
  tools/quiet.sh clang-tidy xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy --quiet -p build/release
echo "clang-tidy: ok"
