#!/usr/bin/env bash
# check_symbols.sh LIBRARY: fails if the library exports anything but anyshape:: and anyshape_ names, or other C functions
# than those of c_symbols.txt. A new one gets its line there; none may go (docs/stability.md).
set -euo pipefail
symbols=$(nm --dynamic --defined-only --demangle "$1" | cut -d' ' -f3-)
grep -q '^anyshape::version()$' <<<"$symbols" || { echo "anyshape::version() is not exported by $1"; exit 1; }
if foreign=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?anyshape::|^anyshape_' <<<"$symbols"); then
  printf 'exported by %s, but not part of the public API:\n%s\n' "$1" "$foreign"
  exit 1
fi
# The layers below the API share its namespace, so a missing hidden-visibility flag would show here.
if internal=$(grep -E '^anyshape::(at|bug)\(' <<<"$symbols"); then
  printf 'internal, but exported by %s:\n%s\n' "$1" "$internal"
  exit 1
fi
if ! changed=$(diff "$(dirname "$0")/c_symbols.txt" <(grep '^anyshape_' <<<"$symbols" | LC_ALL=C sort)); then
  printf 'the C functions of %s (>) are not those of c_symbols.txt (<):\n%s\n' "$1" "$changed"
  exit 1
fi
wc -l <<<"$symbols" | xargs printf '%s exported symbols, all of the public API\n'
