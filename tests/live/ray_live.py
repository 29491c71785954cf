#!/usr/bin/env python3
"""ray_live.py: anyshape.ray.predictor in ray.data on two workers: 10,000 rows of 40 lengths have, in their order, the
answers they have row by row; each worker loads the model once, runs it a bounded number of times, and its memory does
not grow with the rows.

Environment: ANYSHAPE (the program; the package is beside it in the build tree), ANYSHAPE_SEED, ANYSHAPE_ROWS for any number.
"""

import math
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def model(path):
    import onnx
    from onnx import TensorProto, helper

    draw = np.random.default_rng(0)
    weight = onnx.numpy_helper.from_array(draw.standard_normal((1, 8), dtype=np.float32), "w")
    axes = ((1, "one"), (2, "last"))
    one, last = (onnx.numpy_helper.from_array(np.array([axis], np.int64), name) for axis, name in axes)
    graph = helper.make_graph(
        [helper.make_node("Unsqueeze", ["x", "last"], ["column"]), helper.make_node("MatMul", ["column", "w"], ["h"]),
         helper.make_node("Softmax", ["h"], ["p"], axis=1), helper.make_node("Mul", ["p", "h"], ["q"]),
         helper.make_node("ReduceSum", ["q", "one"], ["y"], keepdims=0)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [weight, one, last])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


BATCH, LENGTHS, WORKERS, MAX_ROWS = 1000, 40, 2, 256
# What the allocator of a worker may keep beyond what it has after its first batch.
MOST_GROWTH = 48 << 20


def watched(predictor):
    """The same with columns of what its worker has done so far: sessions made in the process, runs, bytes in memory."""

    class Watched(predictor):
        def __init__(self):
            from anyshape import _session

            made, start = [], _session.InferenceSession._start

            def counted(session, *arguments):
                made.append(None)
                return start(session, *arguments)

            _session.InferenceSession._start = counted
            super().__init__()
            self.made = made

        def __call__(self, batch):
            import pyarrow as pa

            table = super().__call__(batch)
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for name, value in (("worker", os.getpid()), ("sessions", len(self.made)), ("runs", self._batches.runs),
                                ("resident", resident)):  # fmt: skip
                table = table.append_column(name, pa.array([value] * len(table), pa.int64()))
            return table

    return Watched


def complaints(answers):
    """What the workers did that they should not have, and what they did."""
    workers, facts = {}, []
    for answer in answers[::BATCH]:
        workers.setdefault(answer["worker"], []).append(answer)
    out = [] if len(workers) == WORKERS else [f"{len(workers)} workers"]
    for worker, seen in workers.items():
        seen.sort(key=lambda answer: answer["runs"])
        most = len(seen) * (LENGTHS + math.ceil(BATCH / MAX_ROWS))
        if seen[-1]["sessions"] != 1:
            out.append(f"worker {worker} made {seen[-1]['sessions']} sessions")
        if seen[-1]["runs"] > most:
            out.append(f"worker {worker} ran {seen[-1]['runs']} times, {most} are enough")
        grown = seen[-1]["resident"] - seen[0]["resident"]
        if grown > MOST_GROWTH:
            out.append(f"worker {worker} grew by {grown >> 20} MB")
        facts.append(f"{seen[-1]['runs']} runs, {grown / 2**20:+.1f} MB")
    return out, "; ".join(facts)


def main():
    package = str(Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python")
    sys.path.insert(0, package)
    os.environ["PYTHONPATH"] = package  # of the workers
    import anyshape
    import pyarrow as pa
    import ray

    seed = int(os.environ.get("ANYSHAPE_SEED", time.time_ns() % 2**31))
    print(f"seed {seed}")
    count = int(os.environ.get("ANYSHAPE_ROWS", 10000))
    draw = np.random.default_rng(seed)
    lengths = draw.choice(np.arange(1, 81, 2), count)
    rows = [draw.standard_normal(length, dtype=np.float32) for length in lengths]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        model(path)
        table = pa.table({"id": pa.array(range(count)), "signal": pa.array(rows, pa.list_(pa.float32()))})
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
                 runtime_env={"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}})  # fmt: skip
        # A dataset takes the options that hold when it is made.
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.wait_for_min_actors_s = 600
        data = ray.data.from_arrow([table.slice(at, BATCH) for at in range(0, count, BATCH)])
        predict = anyshape.ray.predictor(path, inputs={"x": "signal"}, outputs={"y": "score"}, max_rows=MAX_ROWS)
        begun = time.perf_counter()
        answers = data.map_batches(watched(predict), batch_format="pyarrow", batch_size=BATCH, num_cpus=1,
                                   compute=ray.data.ActorPoolStrategy(size=WORKERS, max_tasks_in_flight_per_actor=1)
                                   ).take_all(limit=count)  # fmt: skip
        took = time.perf_counter() - begun
        ray.shutdown()
        alone = anyshape.InferenceSession(path)
        wrong = sum(answer["error"] is not None or not np.allclose(
            np.asarray(answer["score"]), alone.run(None, {"x": row[None]})[0][0], rtol=1e-4, atol=1e-5)
            for i, (answer, row) in enumerate(zip(answers, rows)))  # fmt: skip
        order = [answer["id"] for answer in answers] == list(range(count))
    bad, facts = complaints(answers)
    for one in bad:
        print(one)
    print(f"ray: {len(answers)} of {count} rows of {len(set(lengths))} lengths, {wrong} wrong, "
          f"{'in' if order else 'out of'} order, {took:.1f} s; workers: {facts}")  # fmt: skip
    return 1 if wrong or bad or not order or len(answers) != count else 0


if __name__ == "__main__":
    sys.exit(main())
