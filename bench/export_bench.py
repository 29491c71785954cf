#!/usr/bin/env python3
"""export_bench.py: export of a BERT of 110 million parameters with batch and sequence dynamic: anyshape from a .pt2 and
a .pt, torch.onnx.export both ways from the live model. Needs torch and transformers; ANYSHAPE names the program."""

import logging
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import onnx
import torch
import transformers

ANYSHAPE = os.environ["ANYSHAPE"]
NAMES = ["input_ids", "attention_mask"]
AXES = {name: {0: "batch", 1: "seq"} for name in NAMES}
SHAPE_OPS = ("Shape", "Size", "ConstantOfShape", "Range")


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = transformers.BertModel(transformers.BertConfig(attn_implementation="sdpa"), add_pooling_layer=False)

    def forward(self, input_ids, attention_mask):
        return self.bert(input_ids, attention_mask).last_hidden_state


# Peak memory of a child counts what its parent had when it was started: the program is started by a small one.
STARTER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(code)
"""


def run(command):
    """Output, CPU seconds and peak megabytes of a program."""
    text = subprocess.run([sys.executable, "-c", STARTER, *command], check=True, capture_output=True, text=True).stdout
    cpu, peak = text.splitlines()[-1].split()
    return text, float(cpu), float(peak)


def nodes_of(path):
    nodes = onnx.load(path, load_external_data=False).graph.node
    return f"{len(nodes)} nodes, {sum(n.op_type in SHAPE_OPS for n in nodes)} of {', '.join(SHAPE_OPS)}"


def ours(program, folder):
    out = folder / "anyshape.onnx"
    options = [f"--dynamic={name}:0=batch,1=seq" for name in NAMES]
    text, cpu, peak = run([ANYSHAPE, "export", str(program), "-o", str(out), *options])
    made, written = map(float, re.search(r"in ([\d.]+) ms, written in ([\d.]+) ms", text).groups())
    print(f"anyshape export {program.suffix}: made in {made:.0f} ms, written in {written:.0f} ms, {cpu:.2f} s of CPU, "
          f"{peak:.0f} MB peak ({program.stat().st_size / 2**20:.0f} MB of weights); {nodes_of(out)}")
    out.unlink()
    return (made + written) / 1000


def theirs(model, args, folder, dynamo):
    out = folder / "torch.onnx"
    named = {0: torch.export.Dim("batch"), 1: torch.export.Dim("seq")}
    options = {"dynamic_shapes": (named, named)} if dynamo else {"dynamic_axes": AXES}
    start = time.perf_counter()
    torch.onnx.export(model, args, str(out), dynamo=dynamo, input_names=NAMES, opset_version=18, verbose=False,
                      **options)
    seconds = time.perf_counter() - start
    print(f"torch.onnx.export dynamo={dynamo}: {seconds:.2f} s with the capture; {nodes_of(out)}")
    return seconds


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    model = Encoder().eval()
    args = (torch.randint(0, 30000, (2, 16)), torch.ones(2, 16, dtype=torch.int64))
    print(f"BERT, {sum(p.numel() for p in model.parameters()):,} parameters")
    with tempfile.TemporaryDirectory() as place, torch.no_grad():
        folder = Path(place)
        start = time.perf_counter()
        free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
        program = torch.export.export(model, args, dynamic_shapes=(free, free))
        captured = time.perf_counter() - start
        torch.export.save(program, folder / "bert.pt2")
        torch.jit.trace(model, args, check_trace=False).save(folder / "bert.pt")
        best = min(ours(folder / "bert.pt2", folder) for _ in range(3))
        ours(folder / "bert.pt", folder)
        print(f"torch.export itself: {captured:.2f} s")
        for dynamo in (False, True):
            seconds = theirs(model, args, folder, dynamo)
            print(f"  {seconds / (best + captured):.1f} times the seconds of torch.export and anyshape together, "
                  f"{seconds / best:.0f} times those of anyshape alone")


if __name__ == "__main__":
    main()
