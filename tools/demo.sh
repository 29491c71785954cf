#!/usr/bin/env bash
# demo.sh: what anyshape says about the shipped models. Each command is printed before its output.
set -uo pipefail
cd "$(dirname "$0")/.."
anyshape=build/release/bin/anyshape
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

# golden FOLDER: an option for each set of inputs and outputs that PyTorch wrote.
golden() { for file in "$1"/*.npz; do printf -- '--golden %s ' "$file"; done; }

out=build/demo
mkdir -p "$out"
exported=tests/fixtures/export
show 0 --version
say "Three PyTorch programs to ONNX, each compared with what PyTorch answered at several sizes."
show 0 export $exported/dynamic_linear/dynamic_linear.pt2 -o $out/linear.onnx --dynamic x:0=batch \
  $(golden $exported/dynamic_linear)
show 0 export $exported/dynamic_rnn/dynamic_rnn.pt2 -o $out/rnn.onnx --dynamic x:0=batch,1=seq \
  $(golden $exported/dynamic_rnn)
show 0 check $out/rnn.onnx --require 'batch in 1..64, seq in 1..512'
show 0 run $out/rnn.onnx --random x=2x30x10
show 0 export $exported/dynamic_reshape/dynamic_reshape.pt2 -o $out/reshape.onnx --dynamic x:0=batch,1=width \
  $(golden $exported/dynamic_reshape)
say "An LSTM forecaster exported with a dynamic batch: the label tells the truth."
show 0 check examples/lstm_batch.onnx
show 0 check examples/lstm_batch.onnx --require 'x=[1..64, 120, 1]'
say "The same network, its file says \"seq\", but 120 is baked in."
show 0 check examples/lstm_baked.onnx
show 3 check examples/lstm_baked.onnx --shape x=1x60x1
show 3 check examples/lstm_baked.onnx --quiet --require 'batch in 1..64, seq in 1..512'
show 0 explain examples/lstm_baked.onnx /r1/Reshape_output_0:1
say "A U-Net that takes any height and width, as long as both are multiples of 8."
show 0 check examples/unet.onnx
show 0 check examples/unet.onnx --quiet --require 'height % 8 == 0, height in 8..4096, width == height'
show 3 check examples/unet.onnx --quiet --require 'x=[1..8, 3, 224..256, 224]'
show 0 explain examples/unet.onnx /encoder/pool2/MaxPool_output_0:2
printf '\ndemo: %d commands, all as expected\n' "$shown"
