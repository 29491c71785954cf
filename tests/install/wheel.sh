#!/usr/bin/env bash
# wheel.sh PYTHON WHEEL: installs the wheel into an environment of its own and takes the tour with it, where neither the
# libraries it is made with nor anything of this build can be found.
set -euo pipefail
python=$1 wheel=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "-- what it links"
"$python" -m zipfile -e "$wheel" "$work/files"
count=0
while IFS= read -r file; do
  [[ $(head -c 4 "$file") == $'\x7fELF' ]] || continue
  count=$((count + 1))
  needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  foreign=$(grep -vE '^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.[0-9]+|ld-linux.*)$' <<<"$needed" || true)
  if [[ $foreign ]]; then
    printf '%s needs more than the C and C++ libraries:\n%s\n' "${file#"$work/files/"}" "$foreign"
    exit 1
  fi
done < <(find "$work/files" -type f)
if ((count != 2)); then
  echo "the wheel holds $count programs and libraries, not the module and the program"
  exit 1
fi

licenses=$(find "$work/files/anyshape/licenses" -name '*.txt' -size +0 | wc -l)
if ((licenses != 7)); then
  echo "the wheel holds $licenses licences of libraries it is made with, not 7"
  exit 1
fi

echo "-- installed"
"$python" -m venv "$work/venv"
env -u PYTHONPATH "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"

# Takes the libraries away from the processes below, where a user may make a namespace of mounts.
cat >"$work/hidden.sh" <<'END'
#!/usr/bin/env bash
for library in $(ldconfig -p | sed -n 's/.*lib\(fmt\|simdjson\|hwy\)\.so.* => //p' | xargs -r realpath | sort -u); do
  mount --bind /dev/null "$library" || exit
done
exec "$@"
END
chmod +x "$work/hidden.sh"
run=()
if unshare -rm "$work/hidden.sh" true 2>/dev/null; then run=(unshare -rm "$work/hidden.sh"); fi
echo "-- the tour${run:+, with the libraries taken away}"
export PATH=$work/venv/bin:$PATH
"${run[@]}" "$work/venv/bin/python" -I tests/install/wheel_tour.py "$work"
ANYSHAPE=$work/venv/bin/anyshape "${run[@]}" tools/demo.sh >"$work/demo.log" 2>&1 || {
  cat "$work/demo.log"
  exit 1
}
tail -n 1 "$work/demo.log"
