#!/usr/bin/env bash
# make.sh [FOLDER]: makes Lstm120.mqh and Lstm120.onnx in FOLDER (here) from m.pt and mean_std.json of train.py.
# $ANYSHAPE is the program, `anyshape` by default.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
anyshape=${ANYSHAPE:-anyshape}
"$anyshape" export "$here/m.pt" --target mql5 --dynamic closes:0=batch --output-names forecast -o "$out/model.onnx"
"$anyshape" mql5 "$out/model.onnx" --scaler "$here/mean_std.json" -o "$out/Lstm120.mqh"
