"""Models as the function of ray.data.Dataset.map_batches; Ray itself is not imported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np

from ._arguments import path
from ._batches import Batches


def _threads() -> int:
    """What Ray gives the actor of its num_cpus; 0, all cores, outside of Ray."""
    return int(os.environ.get("OMP_NUM_THREADS") or 0)


def predictor(model: Union[str, "os.PathLike[str]", bytes], *, inputs: Optional[Mapping[str, str]] = None,
              outputs: Optional[Mapping[str, str]] = None, error: str = "error", max_rows: int = 256,
              max_bytes: Optional[int] = None, threads: Optional[int] = None) -> type:  # fmt: skip
    """A class for map_batches: each actor loads the model once.

        predict = anyshape.ray.predictor("model.onnx", inputs={"x": "signal"}, outputs={"y": "score"})
        dataset.map_batches(predict, batch_format="pyarrow", num_cpus=1,
                            compute=ray.data.ActorPoolStrategy(size=2))

    The other columns of a batch stay as they are. The arguments are those of anyshape.Batches; threads: without it as
    many as the actor has CPUs.

    >>> predict = anyshape.ray.predictor("lstm_batch.onnx", outputs={"y": "score"})
    >>> sorted(predict()({"x": numpy.zeros((2, 120, 1), "float32")}))
    ['error', 'score', 'x']
    """
    arguments = {"inputs": inputs, "outputs": outputs, "error": error, "max_rows": max_rows, "max_bytes": max_bytes}
    source = model if isinstance(model, bytes) else os.path.abspath(path(model, "model"))

    class Predictor:
        def __init__(self) -> None:
            self._batches = Batches(source, threads=_threads() if threads is None else threads, **arguments)

        def __call__(self, batch: Any) -> Any:
            made = self._batches(batch)
            if isinstance(batch, Mapping):
                return {**batch, **made}
            return _with_columns(batch, made, error)

    return Predictor


def _with_columns(table: Any, made: Mapping[str, np.ndarray], error: str) -> Any:
    """A table of Arrow and the columns that were made; their types are the same whatever the rows are."""
    import pyarrow as pa

    for name, values in made.items():
        entries = [one.tolist() if isinstance(one, np.ndarray) and one.ndim != 1 else one for one in values]
        column = pa.array(entries, pa.string() if name == error else None)
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, column)
        else:
            table = table.append_column(name, column)
    return table
