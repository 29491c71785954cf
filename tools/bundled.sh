#!/usr/bin/env bash
# bundled.sh: puts into build/bundled what a wheel has compiled in (cmake/libraries.cmake): the sources that
# bundled.sha256 names, out of Debian's source packages, the headers of libraries that are nothing else, and the licences
# of all. Archives that are in build/bundled/archives already are not downloaded. Says nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
bundled=$root/build/bundled
headers=${BUNDLED_HEADERS:-/usr/include}
wanted=$(cat tools/bundled.sha256 tools/bundled.sh)
[[ -f $bundled/stamp && $(<"$bundled/stamp") == "$wanted" ]] && exit

check() { (cd "$bundled/archives" && sha256sum --check --status --strict "$root/tools/bundled.sha256") 2>/dev/null; }

# With lists of its own: the system's need not name source packages, and nobody has to be root.
download() {
  local apt=$bundled/apt source
  mkdir -p "$apt"/{sources,lists/partial,cache/archives/partial}
  for source in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [[ -f $source ]] || continue
    sed -e 's/^deb /deb-src /' -e 's/^Types: .*/Types: deb-src/' "$source" >"$apt/sources/${source##*/}"
  done
  mv -f "$apt/sources/sources.list" "$apt/sources/main.list" 2>/dev/null || true
  local options=(-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources"
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=)
  local names
  mapfile -t names < <(sed 's/^[0-9a-f]*  \([^_]*\)_.*/\1/' tools/bundled.sha256)
  # A source that has no source packages fails here, which does not matter if another one has these.
  tools/quiet.sh bundled-lists apt-get "${options[@]}" update || true
  (cd "$bundled/archives" && "$root/tools/quiet.sh" bundled apt-get "${options[@]}" source --download-only "${names[@]}")
}

echo "fetching the sources of libraries into build/bundled"
mkdir -p "$bundled/archives"
if ! check && { ! download || ! check; }; then
  echo "Please put these files (sha256, name) into build/bundled/archives; they are those of Debian 12's source packages:" >&2
  cat tools/bundled.sha256 >&2
  exit 1
fi
rm -rf "$bundled"/{include,licenses}
mkdir -p "$bundled"/{include,licenses}
while read -r _ archive; do
  folder=$bundled/${archive%%_*}
  rm -rf "$folder"
  mkdir -p "$folder"
  tar -xf "$bundled/archives/$archive" -C "$folder" --strip-components=1
  cat "$folder"/LICENSE* >"$bundled/licenses/${archive%%_*}.txt"
done <tools/bundled.sha256
for library in tl protozero CLI; do cp -r "$headers/$library" "$bundled/include/"; done
for package in libexpected libprotozero libcli11; do
  cp "$headers/../share/doc/$package-dev/copyright" "$bundled/licenses/${package#lib}.txt"
done
printf '%s\n' "$wanted" >"$bundled/stamp"
