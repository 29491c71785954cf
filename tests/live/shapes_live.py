#!/usr/bin/env python3
"""shapes_live.py: check against ONNX Runtime, live, on the shape models with drawn parameters.

Environment: ANYSHAPE (the program), ANYSHAPE_SEED, ANYSHAPE_FULL=1 for every model several times instead of a sample.
"""

import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "fixtures"), str(ROOT / "tests" / "cases" / "check")]

from graph import declared_dims  # noqa: E402
from grid import Grid, compare, report  # noqa: E402
from judge import Judge  # noqa: E402
from shape_models import CASES, shape_case  # noqa: E402

SAMPLED_MODELS, POINTS, SECONDS = 150, 120, 200
FULL_ROUNDS = 5


def drawn(name, seed):
    """The case with its parameters and its points drawn from the seed and the name."""
    rng = random.Random(f"{seed} {name}")
    case = shape_case(name, rng)
    if len(case.points) > POINTS:
        case.points = rng.sample(case.points, POINTS)
    return case


def grid_of(judge, case, folder):
    model = Path(folder) / f"{case.name}.onnx"
    model.write_bytes(case.model.SerializeToString(deterministic=True))
    told = {"lenient": case.lenient, "data_dependent": case.data_dependent, "inputs": declared_dims(case.model)}
    return Grid(case.name, str(model), case.points, judge.run(case), **told)


def main():
    cli, seed = os.environ["ANYSHAPE"], int(os.environ.get("ANYSHAPE_SEED", "1"))
    full = os.environ.get("ANYSHAPE_FULL") == "1"
    print(f"seed {seed}")
    names = list(CASES) if full else random.Random(seed).sample(list(CASES), SAMPLED_MODELS)
    deadline = None if full else time.monotonic() + SECONDS
    results = {}
    with Judge() as judge, tempfile.TemporaryDirectory() as folder:
        for round_seed in range(seed, seed + (FULL_ROUNDS if full else 1)):
            for name in names:
                if deadline and time.monotonic() > deadline:
                    print(f"stopped after {len(results)} of {len(names)} models: {SECONDS} s are over")
                    return report(results)
                results[f"{name} (seed {round_seed})"] = compare(cli, grid_of(judge, drawn(name, round_seed), folder))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
