#!/usr/bin/env bash
# demo.sh: what anyshape (the program $ANYSHAPE, or that of the release build) says about the shipped models. Each command
# is printed before its output.
set -uo pipefail
cd "$(dirname "$0")/.."
anyshape=${ANYSHAPE:-build/release/bin/anyshape}
shown=0

# show EXPECTED_EXIT ARGUMENT...: prints and runs one command; a refusal (exit 3) may be the answer we want to show.
show() {
  local expected=$1 code
  shift
  local text='$ anyshape' word
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./:=-]+$ ]] || word="'$word'"
    text+=" $word"
  done
  printf '\n%s\n' "$text"
  "$anyshape" "$@"
  code=$?
  if ((code != expected)); then
    echo "demo: expected exit code $expected, got $code" >&2
    exit 1
  fi
  shown=$((shown + 1))
}

say() { printf '\n== %s\n' "$1"; }

out=build/demo
mkdir -p "$out"
table=$out/table.txt
row() { printf '%-16s %-26s %6s %11s %9s  %s\n' "$@" >>"$table"; }

# exported NAME AXES: exports a shipped program, compares with all that PyTorch answered, and adds a row to the table.
exported() {
  local folder=tests/fixtures/export/$1 golden=() file log=$out/$1.txt
  for file in "$folder"/*.npz; do golden+=(--golden "$file"); done
  show 0 export "$folder/$1.pt2" -o "$out/$1.onnx" --dynamic "$2" "${golden[@]}" >"$log"
  cat "$log"
  row "$1" "$2" "$(sed -n 's/.*, \([0-9]*\) nodes*$/\1/p' "$log")" \
    "$(sed -n 's/^\([0-9]*\) nodes that compute.*/\1/p' "$log")" \
    "$(sed -n 's/^exported .* in \([0-9.]* ms\), .*/\1/p' "$log")" \
    "$(grep -c '^verified' "$log") sizes, largest relative error $(sed -n 's/^verified.*error //p' "$log" | sort -g | tail -n 1)"
}

show 0 --version
say "Three PyTorch programs to ONNX, each compared with what PyTorch answered at several sizes."
: >"$table"
row program "dynamic axes" nodes "for shapes" export "equal to PyTorch at"
exported dynamic_linear x:0=batch
show 0 run "$out/dynamic_linear.onnx" --random x=7x10
exported dynamic_rnn x:0=batch,1=seq
show 0 check "$out/dynamic_rnn.onnx" --require 'batch in 1..64, seq in 1..512'
show 0 run "$out/dynamic_rnn.onnx" --random x=1x1x10
show 0 run "$out/dynamic_rnn.onnx" --random x=2x300x10
exported dynamic_reshape x:0=batch,1=width
show 0 run "$out/dynamic_reshape.onnx" --random x=3x5
printf '\n'
cat "$table"
say "An LSTM forecaster exported with a dynamic batch: the label tells the truth."
show 0 check examples/lstm_batch.onnx
show 0 check examples/lstm_batch.onnx --require 'x=[1..64, 120, 1]'
say "The same network, its file says \"seq\", but 120 is baked in."
show 0 check examples/lstm_baked.onnx
show 3 check examples/lstm_baked.onnx --shape x=1x60x1
show 3 check examples/lstm_baked.onnx --quiet --require 'batch in 1..64, seq in 1..512'
show 0 explain examples/lstm_baked.onnx /r1/Reshape_output_0:1
show 0 fix examples/lstm_baked.onnx -o "$out/lstm_fixed.onnx" --dynamic x:1=seq --simplify
show 0 verify examples/lstm_baked.onnx "$out/lstm_fixed.onnx"
show 0 run "$out/lstm_fixed.onnx" --random x=1x60x1
say "A U-Net that takes any height and width, as long as both are multiples of 8."
show 0 check examples/unet.onnx
show 0 check examples/unet.onnx --quiet --require 'height % 8 == 0, height in 8..4096, width == height'
show 3 check examples/unet.onnx --quiet --require 'x=[1..8, 3, 224..256, 224]'
show 0 explain examples/unet.onnx /encoder/pool2/MaxPool_output_0:2
printf '\ndemo: %d commands, all as expected\n' "$shown"
