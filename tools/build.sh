#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures and builds one preset quietly; all targets where none is named.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
python=build/venv/bin/python
configure=(cmake --preset "$preset")
[[ -x $python ]] && configure+=("-DANYSHAPE_PYTHON=$PWD/$python")
tools/quiet.sh "configure-$preset" "${configure[@]}"
echo "building ($preset)"
tools/quiet.sh "build-$preset" cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}" ${1:+--target "$@"}
