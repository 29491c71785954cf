"""Models of other packages, by way of their own converters: the batch named, and the outputs compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from ._arguments import flag, package, positive
from ._change import fix, infer_shapes
from ._errors import Error, usage
from ._integers import integer
from ._model import Model

# What estimators are asked for, the first output's first.
_METHODS = ("predict", "transform", "predict_proba", "decision_function", "score_samples")


def with_batch(proto: Any) -> Model:
    """Of a ModelProto: axis 0 of all inputs is one batch where it is dynamic. Other axes that a converter has numbered
    are named after their input, and outputs follow from the inputs."""
    for value in (*proto.graph.input, *proto.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if not dim.HasField("dim_value") or dim.dim_value < 1:
                dim.Clear()
    for value in proto.graph.input:
        dims = value.type.tensor_type.shape.dim
        if len(dims) > 0 and not dims[0].HasField("dim_value"):
            dims[0].dim_param = "batch"
    return infer_shapes(fix(proto, simplify=True))


def _rows_of(X: Any) -> int:  # noqa: N803 - scikit-learn's name
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _cut(X: Any, rows: int) -> Any:  # noqa: N803
    return X.iloc[:rows] if hasattr(X, "iloc") else X[:rows]


def _feed(made: Model, X: Any) -> dict[str, Any]:  # noqa: N803
    """Inputs by the names of columns, or one for all of them. Types are those of the file."""
    values = made._model.inputs()
    if len(values) > 1 or hasattr(X, "columns"):
        arrays = {value["name"]: np.asarray(X[value["name"]]) for value in values}
    else:
        arrays = {values[0]["name"]: X.toarray() if hasattr(X, "toarray") else np.asarray(X)}
    out = {}
    for value in values:
        array = _typed(arrays[value["name"]], value["dtype"])
        rank = len(value["dims"] or [])
        out[value["name"]] = array.reshape(-1, 1) if rank == 2 and array.ndim == 1 else array
    return out


_NUMPY = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "bool": np.bool_}


def _typed(array: Any, dtype: str) -> Any:
    return array.astype(_NUMPY[dtype]) if dtype in _NUMPY else array.astype(object)


def _plain(value: Any) -> Any:
    """The scores of a ZipMap, which are dicts by class, as a matrix."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return np.array([list(one.values()) for one in value])
    return np.asarray(value)


def _difference(got: Any, want: Any, rtol: float, atol: float) -> str:
    """The first row that differs, as a sentence; empty for none."""
    if got.dtype.kind in "OUS" or want.dtype.kind in "OUS":
        same = got.astype(str) == want.astype(str)
    elif got.dtype.kind in "iub" and want.dtype.kind in "iub":
        same = got == want
    else:
        same = np.isclose(got.astype(float), want.astype(float), rtol, atol, equal_nan=True)
    if same.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"row {at[0]} is {got[at]!r} instead of {want[at]!r}, {int((~same).sum())} of {same.size} entries differ"


class _Judge:
    """Compares what the file gives with what the model's own methods give."""

    def __init__(self, made: Model, answers: Mapping[str, Any], feed: Mapping[str, Any], rtol: float, atol: float):
        self._answers = answers
        self._outputs = {arg.name: _plain(value) for arg, value in _run(made, feed)}
        self._tolerance = rtol, atol

    def compared(self) -> list[str]:
        """The methods whose answers are an output. Raises Error convert.differs: one that has the size of an output is
        none of them."""
        left = dict(self._answers)
        found = []
        for name, got in self._outputs.items():
            found += self._match(name, got, left)
        return found

    def _match(self, name: str, got: Any, left: dict[str, Any]) -> list[str]:
        wrong = ""
        for method, want in left.items():
            if want.size != got.size or (want.dtype.kind == "f") != (got.dtype.kind == "f"):
                continue
            sentence = _difference(got.reshape(want.shape), want, *self._tolerance)
            if not sentence:
                del left[method]
                return [method]
            wrong = wrong or f"it is not what {method} gives: {sentence}"
        if wrong:
            raise Error("convert.differs", f'output "{name}"', wrong,
                        "X as 64-bit floats, or compare=False to take it as it is")
        return []


def _run(made: Model, feed: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    session = made.session()
    return zip(session.get_outputs(), session.run(None, feed))


def _asked(model: Any, X: Any) -> dict[str, Any]:  # noqa: N803
    """What the model's methods give, where it has them."""
    out = {}
    for method in _METHODS:
        ask: Optional[Callable[[Any], Any]] = getattr(model, method, None)
        if ask is None:
            continue
        value = ask(X)
        out[method] = value.toarray() if hasattr(value, "toarray") else np.asarray(value)
    return out


def _verified(made: Model, answer: Callable[[Any], dict[str, Any]], feed: Callable[[Any], dict[str, Any]], X: Any,
              rtol: float, atol: float) -> list[str]:  # noqa: N803
    """At all rows and at one."""
    said = []
    for rows in dict.fromkeys((_rows_of(X), 1)):
        part = _cut(X, rows)
        found = _Judge(made, answer(part), feed(part), rtol, atol).compared()
        if not found:
            raise Error("convert.compare", "", "no output has the size of what the model gives, so none was compared",
                        "compare=False")  # fmt: skip
        said.append(f"equal to {', '.join(found)} on {rows} row{'' if rows == 1 else 's'}")
    return said


def _from_skl2onnx(skl2onnx: Any, model: Any, X: Any, options: dict[str, Any], plain: bool) -> Any:  # noqa: N803
    """`plain`: scores as a matrix, which not every classifier has an option for."""
    example = None if "initial_types" in options else _cut(X, 1)
    if plain:
        try:
            return skl2onnx.to_onnx(model, example, **options, options={id(model): {"zipmap": False}})
        except NameError:
            pass
    return skl2onnx.to_onnx(model, example, **options)


def from_sklearn(model: Any, X: Any, *, output: Union[str, os.PathLike[str], None] = None,  # noqa: N803
                 compare: bool = True, rtol: float = 1e-3, atol: float = 1e-5, **options: Any) -> Model:  # fmt: skip
    """A fitted estimator or pipeline of scikit-learn as an ONNX model, by skl2onnx; its rows are the axis "batch".

    X: rows the outputs are compared on, with those of the estimator's methods; its type is that of the inputs, and each
        column of a table is one.
    options: those of skl2onnx.to_onnx. Without them it is opset 17, and scores are a matrix, not a list of dicts.

    Raises Error package.missing, or convert.differs where a row comes out otherwise.

    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)  # doctest: +SKIP
    >>> anyshape.from_sklearn(model, X).save("model.onnx")  # doctest: +SKIP
    """
    skl2onnx = package("skl2onnx", "skl2onnx", "from_sklearn")
    base = package("sklearn.base", "scikit-learn", "from_sklearn")
    if not isinstance(model, base.BaseEstimator) or X is None:
        raise usage("argument.type", "an estimator of scikit-learn and rows for it are wanted", place="from_sklearn")
    options.setdefault("target_opset", {"": 17, "ai.onnx.ml": 3})
    plain = base.is_classifier(model) and "options" not in options
    try:
        made = with_batch(_from_skl2onnx(skl2onnx, model, X, options, plain))
    except Error:
        raise
    except Exception as failure:  # noqa: BLE001 - converters raise anything
        raise Error("convert.refused", type(model).__name__, f"skl2onnx: {failure}") from failure
    if flag(compare, "compare"):
        made.changes += _verified(made, lambda rows: _asked(model, rows), lambda rows: _feed(made, rows), X,
                                  positive(rtol, "rtol"), positive(atol, "atol"))  # fmt: skip
    if output is not None:
        made.save(output)
    return made


def _signature(model: Any, tensorflow: Any) -> list[Any]:
    return [tensorflow.TensorSpec([None if size is None else int(size) for size in one.shape], one.dtype,
                                  name=one.name.split(":")[0]) for one in model.inputs]  # fmt: skip


def from_keras(model: Any, X: Any = None, *, output: Union[str, os.PathLike[str], None] = None,  # noqa: N803
               opset: int = 17, rtol: float = 1e-3, atol: float = 1e-4) -> Model:  # fmt: skip
    """A Keras model as an ONNX model, by tf2onnx; axis 0 of its inputs is the axis "batch".

    X: an array, or a list of them for several inputs, that the outputs are compared on. Without it nothing is.

    Raises Error package.missing, or convert.differs where a row comes out otherwise.

    >>> anyshape.from_keras(model, X).save("model.onnx")  # doctest: +SKIP
    """
    tf2onnx = package("tf2onnx", "tf2onnx", "from_keras")
    tensorflow = package("tensorflow", "tensorflow", "from_keras")
    if not getattr(model, "inputs", None):
        raise usage("argument.type", "a Keras model with inputs of known rank is wanted", place="from_keras",
                    hint="call it once, or build() it")  # fmt: skip
    signature = _signature(model, tensorflow)
    single = len(signature) == 1

    def call(*inputs: Any) -> Any:
        return model(inputs[0] if single else list(inputs), training=False)

    try:
        proto, _ = tf2onnx.convert.from_function(tensorflow.function(call, input_signature=signature),
                                                 input_signature=signature, opset=integer(opset, "opset"))  # fmt: skip
    except Exception as failure:  # noqa: BLE001 - converters raise anything
        raise Error("convert.refused", type(model).__name__, f"tf2onnx: {failure}") from failure
    made = with_batch(proto)
    if X is not None:
        rtol, atol = positive(rtol, "rtol"), positive(atol, "atol")
        arrays = [X] if single and not isinstance(X, (list, tuple)) else X
        made.changes += _compared_with_keras(made, call, arrays, rtol, atol)
    if output is not None:
        made.save(output)
    return made


def _compared_with_keras(made: Model, call: Callable[..., Any], arrays: Sequence[Any], rtol: float,
                         atol: float) -> list[str]:  # fmt: skip
    values = made._model.inputs()

    def outputs(rows: _Rows) -> dict[str, Any]:
        told = call(*rows.arrays)
        told = list(told.values()) if isinstance(told, Mapping) else told if isinstance(told, (list, tuple)) else [told]
        return {f"output {i} of the model": np.asarray(one) for i, one in enumerate(told)}

    def feed(rows: _Rows) -> dict[str, Any]:
        return {value["name"]: _typed(array, value["dtype"]) for value, array in zip(values, rows.arrays)}

    return _verified(made, outputs, feed, _Rows([np.asarray(one) for one in arrays]), rtol, atol)


class _Rows:
    """The same rows of several arrays."""

    def __init__(self, arrays: list[Any]):
        self.arrays = arrays
        self.shape = arrays[0].shape

    def __getitem__(self, rows: slice) -> _Rows:
        return _Rows([one[rows] for one in self.arrays])
