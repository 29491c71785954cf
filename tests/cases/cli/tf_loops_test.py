#!/usr/bin/env python3
"""tf_loops_test.py CLI FOLDER: loops of TensorFlow (tools/fixtures/make_tf_loops.py): every size is known, also where the
loop runs far more often than is followed one by one, and recurrent layers run as such."""

import re
import subprocess
import sys
from pathlib import Path

# Model: the layer it becomes, its first output. Where the loop does not run, the axes that the file does not declare
# are 0.
WANTED = {
    "lstm_joined": ("LSTM", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "lstm_keras": ("LSTM", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "lstm_backwards": ("LSTM", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "gru_keras": ("GRU", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "gru_before": ("GRU", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "simple_rnn": ("RNN", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "relu_rnn": ("RNN", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "limited_rnn": ("Loop", "f32[select(min(x.1, 6) >= 1, x.0, 0), min(x.1, 6), 4]"),
    "moving_average": ("Loop", "f32[select(x.1 >= 1, x.0, 0), x.1, 4]"),
    "constant_count": ("Loop", "f32[3, x.0, 5]"),
}


def lines(cli, *arguments):
    done = subprocess.run([cli, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.splitlines()


def outputs(report):
    return [line.split("  ")[-1].strip() for line in report if re.match(r"  out  ", line)]


def check_model(cli, name, model):
    layer, first = WANTED[name]
    report = lines(cli, "check", model)
    assert any(line.startswith("exact: yes") for line in report), (name, report)
    assert outputs(report)[0] == first, (name, outputs(report))
    if name != "constant_count":
        many = lines(cli, "check", model, "--shape", "x=2x9000x5")
        want = f"f32[2, {6 if name == 'limited_rnn' else 9000}, 4]"
        assert "accept" in many and outputs(many)[0].strip() == want, (name, many)
    plan = "\n".join(lines(cli, "plan", model))
    assert re.search(rf"\b{layer}\b", plan) and (layer == "Loop" or not re.search(r"\bLoop\b", plan)), (name, plan)


def main():
    cli, folder = sys.argv[1], Path(sys.argv[2])
    assert sorted(WANTED) == sorted(path.name for path in folder.iterdir())
    for name in WANTED:
        check_model(cli, name, str(folder / name / "model.onnx"))
    print(f"{len(WANTED)} loops as expected")


if __name__ == "__main__":
    main()
