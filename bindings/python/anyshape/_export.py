"""anyshape.export: a PyTorch model as an ONNX file whose axes are proved, and compared with the model itself."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

from . import _anyshape, capture
from ._check import Answer, CheckReport, Proof
from ._compare import Compared, LiveModel
from ._errors import Error, Stopped, usage
from ._integers import integer
from ._judge import Candidate, judge
from ._request import Request, axis_names, make_request
from ._session import InferenceSession, SessionOptions

# Arguments of torch.onnx.export that have no meaning here and change nothing in what the file computes.
_HARMLESS = frozenset({"dynamo", "optimize", "verify", "report", "profile", "dump_exported_program", "artifacts_dir",
                       "fallback", "do_constant_folding", "autograd_inlining", "enable_onnx_checker",
                       "use_external_data_format", "example_outputs", "strip_doc_string"})  # fmt: skip
# Those that would change it: the value that changes nothing.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "export_params": (True, None),
    "keep_initializers_as_inputs": (False, None),
    "export_modules_as_functions": (False, None),
    "custom_translation_table": (None, {}),
    "custom_opsets": (None, {}),
    "operator_export_type": (None,),
}


@dataclass
class Exported:
    """What export() made. str() is a report for people.

    capture: how the model was captured; `tried`: the captures that did not do, with the reason.
    nodes, shape_nodes: how many, and how many of them compute sizes at run time, for `shape_reasons`.
    assumed: conditions the file carries, because the model does something else beyond them.
    forgotten: conditions of the capture that turned out not to matter.
    compared: the shapes at which file and live model were run and are equal.
    refused: shapes the live model takes and the file refuses, with the reason.
    proved: whether every size from 1 is accepted on the axes asked for; None where none was asked for.
    """

    capture: str
    nodes: int = 0
    shape_nodes: int = 0
    shape_reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    refused: list[tuple[dict[str, list[int]], Answer]] = field(default_factory=list)
    proved: Optional[Proof] = None
    tried: list[tuple[str, str]] = field(default_factory=list)
    path: Optional[str] = None
    _model: Any = None

    def save(self, f: Any, external_data: Union[bool, str] = False) -> None:
        """Writes the file: to a path or a binary file object. `external_data`: larger weights into a file beside it."""
        if hasattr(f, "write"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.onnx")
                self._model.save(path)
                with open(path, "rb") as made:
                    shutil.copyfileobj(made, f)
            return
        name = external_data if isinstance(external_data, str) else f"{Path(f).name}.data" if external_data else ""
        self._model.save(f, name)
        self.path = os.fspath(f)

    def check(self) -> CheckReport:
        """Which shapes the file takes."""
        return CheckReport(self._model, {})

    def session(self, options: Optional[SessionOptions] = None) -> InferenceSession:
        """The model ready to run."""
        return InferenceSession._of(self._model, options)

    def __str__(self) -> str:
        lines = [str(self.check()).rstrip()]
        lines.append(f"{self.nodes} nodes, {self.shape_nodes} of them compute sizes at run time")
        lines += [f"  {reason}" for reason in self.shape_reasons]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"holds only where {text}" for text in self.assumed]
        lines += [f"did not matter: {text}" for text in self.forgotten]
        lines += [f"not taken: {name}: {why.splitlines()[0] if why else ''}" for name, why in self.tried]
        lines.append(f"captured by {self.capture}; compared with the model at {len(self.compared)} shapes")
        lines += [f"  {one}" for one in self.compared]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Exported by {self.capture}: {self.nodes} nodes, equal to the model at {len(self.compared)} shapes>"


def _result(candidate: Candidate, tried: list[tuple[str, str]]) -> Exported:
    report = candidate.report
    return Exported(candidate.capture, report["nodes"], report["shape_nodes"], report["shape_reasons"], report["notes"],
                    [one["text"] for one in report["assumed"]], candidate.forgotten, candidate.compared,
                    candidate.refused, candidate.proved, tried, None, candidate.model)  # fmt: skip


def _warn_ignored(ignored: Mapping[str, Any]) -> None:
    for name, value in ignored.items():
        if name in _HARMLESS:
            continue
        if name not in _NEUTRAL:
            raise TypeError(f"export() got an unexpected keyword argument '{name}'")
        plain = getattr(value, "name", None) in ("ONNX", "ONNX_ATEN_FALLBACK")
        if not plain and not any(value is neutral or value == neutral for neutral in _NEUTRAL[name]):
            warnings.warn(f"anyshape.export does not know {name}={value!r}: it is ignored", stacklevel=3)


def _failure(tried: list[tuple[str, str]], errors: list[Error]) -> Error:
    """The most telling of several: a wrong result, then what the exporter says, then why nothing could be captured."""
    for error in errors:
        if error.code == "export.differs":
            break
    else:
        if errors:
            error = errors[0]
        else:
            reasons = "; ".join(f"{name}: {why.splitlines()[0] if why else ''}" for name, why in tried)
            error = Error("export.capture", "", f"PyTorch could not capture the model ({reasons})")
    error.attempts = tried  # type: ignore[attr-defined]
    return error


def _captured(module: Any, request: Request, folder: str, tried: list[tuple[str, str]], hopeless: set[str],
              ways: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, str]]:  # fmt: skip
    """(name, file) of each capture that works, without those of a `hopeless` file ending."""
    for name, save in ways:
        if capture.file_ending(name) in hopeless:
            continue
        _anyshape.check_limits()
        path = os.path.join(folder, f"{type(module).__name__}{capture.file_ending(name)}")
        try:
            with capture.quiet():
                save(module, request, path)
        except Exception as failure:  # noqa: BLE001 - PyTorch raises anything
            tried.append((name, f"{type(failure).__name__}: {failure}"))
            continue
        yield name, path


def _best(module: Any, request: Request, live: Optional[LiveModel], options: dict[str, Any], guards: str,
          ways: Sequence[tuple[str, Any]], declared_ranges: bool) -> Exported:  # fmt: skip
    tried: list[tuple[str, str]] = []
    errors: list[Error] = []
    candidates: list[Candidate] = []
    hopeless: set[str] = set()  # other captures of the kind have the same operators and the same branches
    with tempfile.TemporaryDirectory(prefix="anyshape-") as folder:
        for name, path in _captured(module, request, folder, tried, hopeless, ways):
            wanted = dict(options)
            if name == "torch.jit.script":
                wanted["inputs"] = capture.input_types(request)
            try:
                candidates.append(judge(name, path, wanted, request, live, guards, declared_ranges))
            except Stopped:
                raise
            except Error as refusal:
                refusal.place = refusal.place.replace(f"{folder}{os.sep}", "")
                if refusal.kind == "usage" and path.endswith(".pt2") and not candidates:
                    raise
                errors.append(refusal)
                tried.append((name, str(refusal)))
                if refusal.code == "aten.missing":
                    hopeless.add(capture.file_ending(name))
                continue
            finally:
                os.unlink(path)
            if candidates[-1].complete:
                break
            if candidates[-1].insisted:
                hopeless.add(capture.file_ending(name))
    if not candidates:
        raise _failure(tried, errors)
    best = max(candidates, key=Candidate.rank)
    tried += [(one.capture, f"refuses {len(one.refused)} shapes tried, has {one.report['nodes']} nodes")
              for one in candidates if one is not best]  # fmt: skip
    return _result(best, tried)


def _warn_refused(made: Exported) -> None:
    if not made.refused:
        return
    shapes, answer = made.refused[0]
    words = ", ".join(f"{name}={tuple(sizes)}" for name, sizes in shapes.items())
    warnings.warn(f"the exported file refuses {len(made.refused)} of the shapes tried that the model takes, "
                  f"such as {words}: {answer.why}", stacklevel=3)  # fmt: skip


def _is_program(model: Any) -> bool:
    return type(model).__name__ == "ExportedProgram"


def _export_program(program: Any, args: Any, kwargs: Any, common: dict[str, Any]) -> Exported:
    """An ExportedProgram: it is what it is, and its own module the judge, where its guards let it run."""
    import torch

    if not args and not kwargs and program.example_inputs:
        args, kwargs = program.example_inputs
    module = program.module()
    request = make_request(module, args, kwargs, common["input_names"], common["output_names"], common["dynamic_axes"],
                           None)  # fmt: skip
    live = LiveModel(module, request) if common["compare"] and request.leaves else None
    guards = "record" if common["guards"] == "auto" else common["guards"]
    ways = [("torch.export", lambda _module, _request, path: torch.export.save(program, path))]
    return _best(module, request, live, {**common["options"], **_names(request)}, guards, ways, True)


def _names(request: Request) -> dict[str, Any]:
    return {"input_names": request.names, "output_names": request.output_names, "dynamic": request.dynamic()}


def _has_ranges(dynamic_shapes: Any) -> bool:
    """Does a Dim with bounds of its own occur in it?"""
    if isinstance(dynamic_shapes, Mapping):
        return any(_has_ranges(value) for value in dynamic_shapes.values())
    if isinstance(dynamic_shapes, (list, tuple)):
        return any(_has_ranges(value) for value in dynamic_shapes)
    return getattr(dynamic_shapes, "min", 0) not in (0, 1, 2) or isinstance(getattr(dynamic_shapes, "max", None), int)


def _export_module(module: Any, args: Any, kwargs: Any, common: dict[str, Any]) -> Exported:
    import torch

    request = make_request(module, args, kwargs, common["input_names"], common["output_names"], common["dynamic_axes"],
                           common["dynamic_shapes"])  # fmt: skip
    keep_mode = common["options"]["training"]
    scripted = isinstance(module, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
    with capture.evaluation(module, not keep_mode):
        live = LiveModel(module, request) if common["compare"] else None
        if live is not None and live.failure is not None:
            raise usage("export.args", f"the model fails on the example arguments: {live.failure}")
        ways = capture.attempts(request)
        if scripted:
            traced = isinstance(module, torch.jit.TopLevelTracedModule)
            ways = [("torch.jit.trace" if traced else "torch.jit.script", capture.save_scripted)]
        options = {**common["options"], **_names(request)}
        return _best(module, request, live, options, common["guards"], ways, _has_ranges(common["dynamic_shapes"]))


def _export_file(path: Any, common: dict[str, Any]) -> Exported:
    """A saved program: torch is not needed, nothing is compared."""
    dynamic = []
    for value, axes in (common["dynamic_axes"] or {}).items():
        dynamic += [(value, axis, name) for axis, name in axis_names(axes)]
    options = {**common["options"], "dynamic": dynamic, "input_names": list(common["input_names"] or []),
               "output_names": list(common["output_names"] or []),
               "guards": "record" if common["guards"] == "auto" else common["guards"]}  # fmt: skip
    model, report = _anyshape.export_program(path, options)
    return _result(Candidate("the file", model, report), [])


def _keeps_training(training: Any) -> bool:
    return training is not None and (getattr(training, "name", str(training)).upper() in ("TRAINING", "PRESERVE"))


def export(model: Any, args: Any = (), f: Any = None, *, kwargs: Optional[Mapping[str, Any]] = None,
           input_names: Optional[Sequence[str]] = None, output_names: Optional[Sequence[str]] = None,
           opset_version: Optional[int] = None, dynamic_axes: Optional[Mapping[str, Any]] = None,
           dynamic_shapes: Any = None, verbose: Optional[bool] = None, training: Any = None,
           external_data: Union[bool, str] = False, guards: str = "auto", compare: bool = True, static: bool = False,
           freeze: Optional[Mapping[str, int]] = None, batch_only: bool = False, allow: Sequence[str] = (),
           ir_version: Optional[int] = None, custom: Optional[Mapping[str, str]] = None,
           custom_shapes: Optional[Mapping[str, str]] = None, inputs: Sequence[str] = (), target: Optional[str] = None,
           **ignored: Any) -> Exported:  # fmt: skip
    """Writes a PyTorch model as an ONNX file `f`; the call is that of torch.onnx.export.

    model: an nn.Module, a ScriptModule, an ExportedProgram, or the path of a .pt2 or .pt file (then torch is not
        needed and nothing is compared).
    args, kwargs: example arguments. A dict at the end of `args` is taken for `kwargs`.
    f: a path or a binary file object; None: save the result later.
    dynamic_axes: {"x": {0: "batch", 1: "seq"}} or {"x": [0, 1]}; outputs need not be named, their sizes follow.
    dynamic_shapes: the same as torch.export writes it, with strings for names.
    opset_version: 11 to 28, 17 where none is given.
    training: torch.onnx.TrainingMode; without it a model in train() mode is captured in eval() mode and restored.
    external_data: True puts larger weights into a file beside `f`; a string names it. Files beyond 2 GB do so anyway.
    guards: what becomes of conditions PyTorch captured the model under: "auto" (the live model decides: those that
        matter are embedded), "record", "embed", "drop".
    compare: run file and live model at boundary sizes, and raise where they differ.
    static, freeze, batch_only, allow, ir_version, custom, custom_shapes, inputs, target: as the options of `anyshape
        export`.

    The model is captured by torch.export with recurrent layers kept whole, with fallbacks to torch.jit; the capture
    whose file takes more shapes wins. Other arguments of torch.onnx.export are accepted; those that would change the
    file are ignored with a warning. Raises Error: export.differs where the file would not be the model at a size it
    accepts, export.baked where an axis cannot be dynamic, and others; `attempts` of it lists every capture tried.
    """
    _warn_ignored(ignored)
    if guards not in ("auto", "record", "embed", "drop"):
        raise usage("export.guards", f'guards="{guards}" is none of auto, record, embed, drop')
    options = {"opset": 17 if opset_version is None else integer(opset_version, "opset_version"), "static": static,
               "freeze": [(name, integer(size, f'freeze "{name}"')) for name, size in (freeze or {}).items()], "batch_only": batch_only, "allow": list(allow),
               "custom": list((custom or {}).items()), "custom_shapes": list((custom_shapes or {}).items()),
               "training": _keeps_training(training), "inputs": list(inputs), "target": target or ""}  # fmt: skip
    if target and external_data:
        raise usage("target.external-data", "a model for a target is one file, external_data asks for two")
    if ir_version is not None:
        options["ir_version"] = integer(ir_version, "ir_version")
    common = {"input_names": input_names, "output_names": output_names, "dynamic_axes": dynamic_axes,
              "dynamic_shapes": dynamic_shapes, "guards": guards, "compare": compare, "options": options}  # fmt: skip
    if isinstance(model, (str, os.PathLike)):
        made = _export_file(model, common)
    elif _is_program(model):
        made = _export_program(model, args, kwargs, common)
    else:
        made = _export_module(model, args, kwargs, common)
    _warn_refused(made)
    if f is not None:
        made.save(f, external_data)
    if verbose:
        print(made)
    return made
