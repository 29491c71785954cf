"""Ways to make a PyTorch module a file that anyshape reads.

torch is imported when something is captured, not before.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Iterator
from typing import Any, Optional

from ._request import Request
from ._state import State

_patched = threading.RLock()


def _layer_output(x: Any, params: Any, has_biases: bool, num_layers: int, bidirectional: bool) -> Any:
    """The output sequence of a recurrent layer: x with its features replaced."""
    directions, per = (2 if bidirectional else 1), (4 if has_biases else 2)
    projected = len(params) == num_layers * directions * (per + 1)
    hidden = params[per].shape[0] if projected else params[1].shape[1]
    return x.new_empty(*x.shape[:-1], hidden * directions)


def _lstm(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):  # noqa: ANN001, ANN202
    out = _layer_output(x, params, has_biases, num_layers, bidirectional)
    return out, hx[0].new_empty(hx[0].shape), hx[1].new_empty(hx[1].shape)


def _rnn(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):  # noqa: ANN001, ANN202
    return _layer_output(x, params, has_biases, num_layers, bidirectional), hx.new_empty(hx.shape)


@contextlib.contextmanager
def whole_rnn() -> Iterator[None]:
    """nn.LSTM, nn.GRU and nn.RNN stay one operator each under torch.export, so that their time axis can be dynamic.

    Without it, torch.export learns the shapes of these layers from a loop over the time steps, and fixes their number.
    Only torch.export.export may stand inside: the layers give shapes but no values there, so do not run a model, do
    not decompose a program, do not call torch.onnx.export. Packed sequences are other operators and stay as they are.
    One thread at a time; what is patched is private to PyTorch (tried with 2.13), and where it is not found nothing
    is patched.

    >>> with anyshape.capture.whole_rnn():                                                      # doctest: +SKIP
    ...     program = torch.export.export(model, (x,), dynamic_shapes={"x": {1: torch.export.Dim.DYNAMIC}})
    """
    import torch

    aten, key = torch.ops.aten, torch._C.DispatchKey
    rules = {aten.lstm.input: _lstm, aten.gru.input: _rnn, aten.rnn_tanh.input: _rnn, aten.rnn_relu.input: _rnn}
    keys = (key.CompositeImplicitAutograd, key.Autograd)
    if not all(hasattr(op, "py_kernels") and hasattr(op, "_dispatch_cache") for op in rules):
        yield
        return
    with _patched:
        before = {(op, k): op.py_kernels.get(k) for op in rules for k in keys}
        try:
            for op, k in before:
                op.py_kernels[k] = rules[op]
                op._dispatch_cache.clear()
            yield
        finally:
            for (op, k), kernel in before.items():
                if kernel is None:
                    op.py_kernels.pop(k, None)
                else:
                    op.py_kernels[k] = kernel
                op._dispatch_cache.clear()


def save_exported(module: Any, request: Request, path: str, dim: str, strict: bool) -> None:
    """torch.export with the wanted axes as Dim.DYNAMIC, Dim.AUTO or as the user wrote them ("given"); a .pt2 file."""
    import torch

    shapes: Any = None
    if dim == "given":
        shapes = request.dynamic_shapes
    elif request.axes:
        collection = torch.export.ShapesCollection()
        for axis in request.axes:
            collection[request.leaves[axis.leaf]][axis.axis] = getattr(torch.export.Dim, dim)
        shapes = collection.dynamic_shapes(module, request.args, request.kwargs)
    with whole_rnn():
        program = torch.export.export(module, request.args, request.kwargs or None, dynamic_shapes=shapes,
                                      strict=strict)  # fmt: skip
    torch.export.save(program, path)


def _flat_module(module: Any, request: Request) -> Any:
    """The module with tensors in and a tuple of tensors out."""
    import torch
    from torch.utils import _pytree as pytree

    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *tensors: Any) -> Any:
            args, kwargs = request.with_tensors(tensors)
            made = pytree.tree_leaves(self.inner(*args, **kwargs))
            return tuple(value for value in made if isinstance(value, torch.Tensor))

    return Flat()


def save_traced(module: Any, request: Request, path: str) -> None:
    """torch.jit.trace; a .pt file."""
    import torch

    traced = None
    if not request.kwargs and all(isinstance(value, torch.Tensor) for value in request.args):
        state = State(module)
        with contextlib.suppress(Exception):  # outputs that are no tensors: the other form says what is wrong
            traced = torch.jit.trace(module, tuple(request.leaves), check_trace=False)
        state.restore()
    if traced is None:
        traced = torch.jit.trace(_flat_module(module, request), tuple(request.leaves), check_trace=False)
    torch.jit.save(traced, path)


def save_scripted(module: Any, request: Request, path: str) -> None:
    """torch.jit.script; a .pt file without shapes."""
    import torch

    torch.jit.save(module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module), path)


def _says_more(dynamic_shapes: Any) -> bool:
    """Does it hold more than which axes are dynamic: ranges, relations, axes that PyTorch is to decide?"""
    if isinstance(dynamic_shapes, dict):
        return any(_says_more(entry) for entry in dynamic_shapes.values())
    if isinstance(dynamic_shapes, (list, tuple)):
        return any(_says_more(entry) for entry in dynamic_shapes)
    hint = getattr(getattr(dynamic_shapes, "type", None), "name", None)
    return hint not in ("DYNAMIC", "STATIC") and not (dynamic_shapes is None or isinstance(dynamic_shapes, int))


def attempts(request: Request) -> list[tuple[str, Callable[[Any, Request, str], None]]]:
    """The captures to try, in order: a name, and what writes the file."""

    def exported(dim: str, strict: bool) -> Callable[[Any, Request, str], None]:
        return lambda module, wanted, path: save_exported(module, wanted, path, dim, strict)

    out = []
    if _says_more(request.dynamic_shapes):
        out.append(("torch.export as written", exported("given", False)))
    out.append(("torch.export", exported("DYNAMIC", False)))
    if request.axes:
        out.append(("torch.export with Dim.AUTO", exported("AUTO", False)))
    out.append(("torch.export, strict", exported("DYNAMIC", True)))
    if request.axes:
        out.append(("torch.export with Dim.AUTO, strict", exported("AUTO", True)))
    return [*out, ("torch.jit.trace", save_traced), ("torch.jit.script", save_scripted)]


def load_torch() -> None:
    """What captures import: once here, not in every child."""
    import torch._dynamo
    import torch._functorch.aot_autograd
    import torch._inductor.ir
    import torch.export._trace  # noqa: F401


def file_ending(name: str) -> str:
    return ".pt2" if name.startswith("torch.export") else ".pt"


@contextlib.contextmanager
def quiet(said: Optional[Callable[[str], None]] = None) -> Iterator[None]:
    """Captures that fail are no news: PyTorch's warnings and what it prints go to `said`, its log lines nowhere."""
    import logging
    import warnings

    loggers = [logging.getLogger(name) for name in ("torch", "torch.export", "torch.fx", "torch._dynamo")]
    before = [logger.level for logger in loggers]
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed), \
            contextlib.redirect_stderr(printed):  # fmt: skip
        warnings.simplefilter("default")
        try:
            for logger in loggers:
                logger.setLevel(logging.CRITICAL)
            yield
        finally:
            for logger, level in zip(loggers, before):
                logger.setLevel(level)
            if said is not None:
                said("\n".join([printed.getvalue(), *(str(one.message) for one in warned or ())]))


@contextlib.contextmanager
def evaluation(module: Any, wanted: bool = True) -> Iterator[None]:
    """The module and its parts in eval() mode; the mode of each is restored."""
    parts = [(part, part.training) for part in module.modules()] if wanted and hasattr(module, "modules") else []
    try:
        if any(training for _, training in parts):
            module.eval()
        yield
    finally:
        for part, training in parts:
            part.training = training


def _type_name(dtype: Any) -> str:
    name = str(dtype).removeprefix("torch.")
    return "bf16" if name == "bfloat16" else name


def input_types(request: Request) -> list[str]:
    """What a scripted file needs to be told: "x=float32[batch,120]"."""
    named = {(a.leaf, a.axis): a.symbol for a in request.axes}
    out = []
    for i, (name, leaf) in enumerate(zip(request.names, request.leaves)):
        sizes = [named.get((i, k), str(int(size))) for k, size in enumerate(leaf.shape)]
        out.append(f"{name}={_type_name(leaf.dtype)}[{','.join(sizes)}]")
    return out
