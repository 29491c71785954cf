#!/usr/bin/env python3
"""reroll_live.py: loops over a dynamic axis in live PyTorch models, exported by anyshape.export, which captures them at
several lengths and makes each loop one Scan. The files are run at lengths that were not captured, by our engine and by
ONNX Runtime, beside the live model; loops that follow no rule must be refused.

Usage: reroll_live.py [NAME...]. Environment: ANYSHAPE (the program; the package is beside it in the build tree),
ANYSHAPE_SEED.
"""

import os
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"))

import anyshape  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from reroll_models import LEAST, refused, rows, without_loop  # noqa: E402

SEED = int(os.environ.get("ANYSHAPE_SEED", "1"))
LENGTHS = (1, 2, 4, 13, 40)
BATCHES = (1, 3)


class Unscripted(torch.nn.Module):
    """The module in a form that TorchScript, which keeps loops, does not take."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *tensors):
        return self.inner(*tensors)


def exported(module, inputs, path, dynamic_axes):
    return anyshape.export(Unscripted(module), inputs, path, input_names=list(dynamic_axes), dynamic_axes=dynamic_axes)


def shaped(tensor, axes, sizes):
    """Other entries of the tensor's kind."""
    shape = [sizes.get(axes.get(axis), size) for axis, size in enumerate(tensor.shape)]
    if tensor.dtype == torch.bool:
        return torch.rand(shape) > 0.3
    return torch.randn(shape)


def compared(module, made, path, inputs, dynamic_axes, least):
    """Sentences about what is wrong."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    peer = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    sessions = {"our engine": made.session(), "ONNX Runtime": peer}
    names = [one.name for one in peer.get_inputs()]
    for length in (one for one in LENGTHS if one >= least):
        for batch in BATCHES:
            sizes = {"seq": length, "batch": batch}
            tensors = [shaped(one, dynamic_axes[name], sizes) for name, one in zip(names, inputs)]
            with torch.no_grad():
                wanted = module(*tensors)
            wanted = wanted if isinstance(wanted, tuple) else (wanted,)
            for engine, session in sessions.items():
                got = session.run(None, {name: one.numpy() for name, one in zip(names, tensors)})
                for one, other in zip(got, wanted):
                    if one.shape != tuple(other.shape) or not np.allclose(one, other.numpy(), 1e-3, 1e-4):
                        yield f"{engine} is not the model at length {length}, batch {batch}"


def problems(module, inputs, dynamic_axes, least):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        try:
            made = exported(module, inputs, path, dynamic_axes)
        except anyshape.Error as refusal:
            return [f"is refused: {refusal}", *(f"  {name}: {why}" for name, why in refusal.attempts)]
        short = [shapes for shapes, _ in made.refused if max(sizes[1] for sizes in shapes.values()) >= least]
        if not made.rerolled or short:
            return [f"is not re-rolled whole: {made.capture}, {made.refused}, {made.tried}"]
        try:
            return list(compared(module, made, path, inputs, dynamic_axes, least))
        except Exception as failure:  # noqa: BLE001 - of any engine
            return [f"does not run: {failure}"]


def is_taken(module, inputs, loop):
    """What is wrong with it if it is exported, or captured at several lengths without a loop."""
    try:
        exported(module, inputs, None, {"x": {0: "batch", 1: "seq"}})
    except anyshape.Error as refusal:
        again = not loop and any("re-rolled" in name for name, _ in refusal.attempts)
        return "is captured at other lengths" if again else ""
    return "is exported"


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    only, failed, count = sys.argv[1:], 0, 0
    for name, module, inputs, dynamic_axes in rows():
        if only and name not in only:
            continue
        count += 1
        wrong = problems(module.eval(), inputs, dynamic_axes, LEAST.get(name, 1))
        failed += bool(wrong)
        for sentence in wrong[:6]:
            print(f"{name}: {sentence}")
    loops = [(*row, True) for row in refused()]
    for name, module, inputs, loop in [*loops, *((*row, False) for row in without_loop())]:
        if only and name not in only:
            continue
        count += 1
        sentence = is_taken(module, inputs, loop)
        failed += bool(sentence)
        if sentence:
            print(f"{name}: {sentence}")
    print(f"seed {SEED}: {count} loops, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
