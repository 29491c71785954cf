"""anyshape.export: a PyTorch model as an ONNX file whose axes are proved, and compared with the model itself."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from . import _anyshape, capture
from ._arguments import flag, mapping, one_of, package, path, refuse, text_or_empty, texts, texts_by_name
from ._attempts import Attempts, Plan, Subject, Way
from ._axes import InputShapes, axis_names
from ._check import Answer, CheckReport, Proof
from ._compare import Compared
from ._custom import exported
from ._custom import options_of as custom_options
from ._errors import usage
from ._freeze import frozen
from ._integers import integer
from ._judge import Candidate
from ._narrowed import Narrowed
from ._request import Request, make_request
from ._session import InferenceSession, SessionOptions
from ._source import write
from ._summary import summary
from ._told import aloud, line

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
    "operator_export_type": (None,),
}


@dataclass
class Exported:
    """What export() made. str() says it in at most twelve lines, details() in full.

    capture: how the model was captured; `tried`: the captures that did not do, with the reason.
    opset: of the file.
    nodes, shape_nodes: how many, and how many of them compute sizes at run time, for `shape_reasons`.
    assumed: conditions the file carries, because the model does something else beyond them.
    forgotten: conditions of the capture that turned out not to matter.
    rerolled: loops over a dynamic axis that were put together from captures at several lengths; that they are the
        model's at other lengths is what `compared` shows, and not proved.
    compared: the shapes at which file and live model were run and are equal.
    refused: shapes the live model takes and the file refuses, with the reason.
    narrowed: the axes asked for that do not take every size from some least one on, and what to write there.
    onnxruntime: what ONNX Runtime makes of the file at some of these shapes; None where it is not installed.
    proved: whether every size from 1 is accepted on the axes asked for; None where none was asked for.

    >>> made = anyshape.export("dynamic_reshape.pt2", dynamic_axes={"x": {0: "batch"}})
    >>> made.opset, made.shape_nodes
    (17, 0)
    """

    capture: str
    opset: int = 0
    nodes: int = 0
    shape_nodes: int = 0
    shape_reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    refused: list[tuple[dict[str, list[int]], Answer]] = field(default_factory=list)
    proved: Optional[Proof] = None
    narrowed: list[Narrowed] = field(default_factory=list)
    tried: list[tuple[str, str]] = field(default_factory=list)
    onnxruntime: Optional[str] = None
    path: Optional[str] = None
    rerolled: list[str] = field(default_factory=list)
    _model: Any = None

    def save(self, f: Any, external_data: Union[bool, str] = False) -> None:
        """Writes the file: to a path or a binary file object. `external_data`: larger weights into a file beside it.

        >>> anyshape.export("dynamic_reshape.pt2").save("model.onnx")
        """
        f = _destination(f)
        if not isinstance(f, str):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.onnx")
                self._model.save(path)
                with open(path, "rb") as made:
                    shutil.copyfileobj(made, f)
            return
        self.path = write(self._model, f, external_data)

    def check(self) -> CheckReport:
        """Which shapes the file takes."""
        return CheckReport(self._model, {})

    def session(self, options: Optional[SessionOptions] = None) -> InferenceSession:
        """The model ready to run.

        >>> anyshape.export("dynamic_reshape.pt2").session().get_inputs()[0].name
        'x'
        """
        return InferenceSession._of(self._model, options)

    def details(self) -> str:
        """All there is to say; str() is the short form."""
        lines = [str(self.check()).rstrip()]
        lines.append(f"{self.nodes} nodes, {self.shape_nodes} of them compute sizes at run time")
        lines += [f"  {reason}" for reason in self.shape_reasons]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"narrowed: {one}" for one in self.narrowed]
        lines += [f"re-rolled: {text}" for text in self.rerolled]
        lines += [f"holds only where {text}" for text in self.assumed]
        lines += [f"did not matter: {text}" for text in self.forgotten]
        lines += [f"not taken: {name}: {why.splitlines()[0] if why else ''}" for name, why in self.tried]
        lines.append(f"captured by {self.capture}; compared with the model at {len(self.compared)} shapes")
        lines += [f"  {one}" for one in self.compared]
        lines += [self.onnxruntime] if self.onnxruntime else []
        return "\n".join(lines)

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return f"<Exported by {self.capture}: {self.nodes} nodes, equal to the model at {len(self.compared)} shapes>"


def _destination(f: Any) -> Any:
    """A path as a text, or a file object that takes bytes."""
    if hasattr(f, "write") and not isinstance(f, (type, io.TextIOBase)):
        return f
    return path(f, "f") if isinstance(f, (str, os.PathLike)) else refuse(f, "f", "a path or a binary file object")


def _result(candidate: Candidate, tried: list[tuple[str, str]]) -> Exported:
    report = candidate.report
    return Exported(candidate.capture, report["opset"], report["nodes"], report["shape_nodes"],
                    report["shape_reasons"], report["notes"], [one["text"] for one in report["assumed"]],
                    candidate.forgotten, candidate.compared, candidate.refused, candidate.proved, candidate.narrowed,
                    tried, candidate.onnxruntime and candidate.onnxruntime[1], None,
                    report["rerolled"], candidate.model)  # fmt: skip


def _warn_ignored(ignored: Mapping[str, Any]) -> None:
    for name, value in ignored.items():
        if name in _HARMLESS:
            continue
        if name not in _NEUTRAL:
            raise TypeError(f"export() got an unexpected keyword argument '{name}'")
        plain = getattr(value, "name", None) in ("ONNX", "ONNX_ATEN_FALLBACK")
        if not plain and not any(value is neutral or value == neutral for neutral in _NEUTRAL[name]):
            warnings.warn(f"anyshape.export does not know {name}={value!r}: it is ignored", stacklevel=3)


def _best(subject: Subject, plan: Plan, ways: Sequence[Way]) -> Exported:
    attempts = Attempts(subject, plan)
    attempts.run(ways)
    best = attempts.best()
    if best.onnxruntime is not None and not best.onnxruntime[0]:
        warnings.warn(best.onnxruntime[1], stacklevel=5)
    return _result(best, attempts.tried)


def _warn_narrowed(made: Exported) -> None:
    for one in made.narrowed:
        warnings.warn(f"export.narrowed: {one}", stacklevel=3)


def _warn_refused(made: Exported) -> None:
    if not made.refused:
        return
    shapes, answer = made.refused[0]
    words = ", ".join(f"{name}={tuple(sizes)}" for name, sizes in shapes.items())
    warnings.warn(f"the exported file refuses {len(made.refused)} of the shapes tried that the model takes, "
                  f"such as {words}: {answer.why}", stacklevel=3)  # fmt: skip


def _is_program(model: Any) -> bool:
    return type(model).__name__ == "ExportedProgram"


def _request(module: Any, args: Any, kwargs: Any, common: dict[str, Any], dynamic_shapes: Any) -> Request:
    request = make_request(module, args, kwargs, common["input_names"], common["output_names"], common["dynamic_axes"],
                           dynamic_shapes)  # fmt: skip
    common["input_shapes"].check(request.shapes({}))
    return request


def _export_program(program: Any, args: Any, kwargs: Any, common: dict[str, Any]) -> Exported:
    """An ExportedProgram: it is what it is, and its own module the judge, where its guards let it run."""
    import torch

    if not args and not kwargs and program.example_inputs:
        args, kwargs = program.example_inputs
    module = program.module()
    request = _request(module, args, kwargs, common, None)
    names = {**_names(request), "name": type(program).__name__}
    frozen(request, common["options"])
    guards = "record" if common["guards"] == "auto" else common["guards"]
    ways = [("torch.export", lambda _module, _request, path: torch.export.save(program, path))]
    subject = Subject(module, request, common["compare"] and bool(request.leaves), common["sampler"],
                      must_run=False)  # fmt: skip
    return _best(subject, Plan({**common["options"], **names}, guards, True, None), ways)


def _names(request: Request) -> dict[str, Any]:
    return {"input_names": request.names, "output_names": request.outputs(), "dynamic": request.dynamic()}


def _has_ranges(dynamic_shapes: Any) -> bool:
    """Does a Dim with bounds of its own occur in it?"""
    if isinstance(dynamic_shapes, Mapping):
        return any(_has_ranges(value) for value in dynamic_shapes.values())
    if isinstance(dynamic_shapes, (list, tuple)):
        return any(_has_ranges(value) for value in dynamic_shapes)
    return getattr(dynamic_shapes, "min", 0) not in (0, 1, 2) or isinstance(getattr(dynamic_shapes, "max", None), int)


def _export_module(module: Any, args: Any, kwargs: Any, common: dict[str, Any]) -> Exported:
    torch = package("torch", "torch", f"a model that is no path ({type(module).__name__})")
    request = _request(module, args, kwargs, common, common["dynamic_shapes"])
    options = frozen(request, common["options"])
    keep_mode = common["options"]["training"]
    scripted = isinstance(module, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
    with capture.evaluation(module, not keep_mode):
        ways = capture.attempts(request)
        if scripted:
            traced = isinstance(module, torch.jit.TopLevelTracedModule)
            ways = [("torch.jit.trace" if traced else "torch.jit.script", capture.save_scripted)]
        seconds = None if scripted else common["capture_timeout"]
        subject = Subject(module, request, common["compare"], common["sampler"])
        request.results = subject.results(seconds)
        plan = Plan({**options, **_names(request), "name": type(module).__name__}, common["guards"], _has_ranges(common["dynamic_shapes"]),
                    seconds)  # fmt: skip
        return _best(subject, plan, ways)


def _export_file(path: Any, common: dict[str, Any]) -> Exported:
    """A saved program: torch is not needed, nothing is compared."""
    dynamic = []
    for value, axes in (common["dynamic_axes"] or {}).items():
        dynamic += [(value, axis, name) for axis, name in axis_names(axes, "dynamic_axes")]
    options = {**common["options"], "dynamic": dynamic, "input_names": list(common["input_names"] or []),
               "output_names": list(common["output_names"] or []),
               "guards": "record" if common["guards"] == "auto" else common["guards"]}  # fmt: skip
    model, report = exported(path, options)
    common["input_shapes"].check({value["name"]: value["dims"] for value in model.inputs()})
    candidate = Candidate("the file", model, report)
    candidate.narrowed = [Narrowed(one["name"], one["condition"], one["text"], one["advice"])
                          for one in report["narrowed"]]  # fmt: skip
    return _result(candidate, [])


def _seconds(capture_timeout: Any) -> Optional[float]:
    if capture_timeout is None:
        return None
    if isinstance(capture_timeout, bool) or not isinstance(capture_timeout, (int, float)) or not capture_timeout > 0:
        raise usage("export.timeout", f"capture_timeout={capture_timeout!r} is no number of seconds above 0")
    return float(capture_timeout)


def _texts_by_name(value: Any, what: str) -> list[tuple[str, str]]:
    return list(texts_by_name(value, what).items())


def _keeps_training(training: Any) -> bool:
    mode = "EVAL" if training is None else str(getattr(training, "name", training)).upper()
    if mode not in ("EVAL", "TRAINING", "PRESERVE"):
        refuse(training, "training", "a torch.onnx.TrainingMode, or the name of one")
    return mode != "EVAL"


def export(model: Any, args: Any = (), f: Any = None, *, kwargs: Optional[Mapping[str, Any]] = None,
           input_names: Optional[Sequence[str]] = None, output_names: Optional[Sequence[str]] = None,
           opset_version: Optional[int] = None, dynamic_axes: Optional[Mapping[str, Any]] = None,
           dynamic_shapes: Any = None, verbose: Optional[bool] = None, training: Any = None,
           external_data: Union[bool, str] = False, guards: str = "auto", compare: bool = True, sampler: Any = None, static: bool = False, strict_axes: bool = False,
           freeze: Optional[Mapping[str, int]] = None, batch_only: bool = False, allow: Sequence[str] = (),
           ir_version: Optional[int] = None, custom: Optional[Mapping[str, str]] = None,
           custom_shapes: Optional[Mapping[str, str]] = None, inputs: Sequence[str] = (), target: Optional[str] = None,
           capture_timeout: Optional[float] = 60, custom_ops: Optional[Mapping[str, Any]] = None,
           custom_opsets: Optional[Mapping[str, int]] = None,
           input_shapes: Optional[Mapping[str, Sequence[Any]]] = None, **ignored: Any) -> Exported:  # fmt: skip
    """Writes a PyTorch model as an ONNX file `f`; the call is that of torch.onnx.export.

    model: an nn.Module, a ScriptModule, an ExportedProgram, or the path of a .pt2 or .pt file (then torch is not
        needed and nothing is compared).
    args, kwargs: example arguments. A dict at the end of `args` is taken for `kwargs`,
        where forward() has such arguments.
    f: a path or a binary file object; None: save the result later.
    dynamic_axes: {"x": {0: "batch", 1: "seq"}} or {"x": [0, 1]}; outputs need not be named, their sizes follow.
    input_shapes: the same in lists, {"x": ["batch", None, 10]}: a text names the axis, None is dynamic under a name made
        up, a number is what the example must have.
    dynamic_shapes: the same as torch.export writes it, with strings for names.
    opset_version: 11 to 28; without it the lowest from 17 on that has every operator needed.
    verbose: prints the details of the result, and what PyTorch says while it captures; else that goes to the log
        "anyshape" of `logging` only.
    training: torch.onnx.TrainingMode; without it a model in train() mode is captured in eval() mode and restored.
    external_data: True puts larger weights into a file beside `f`; a string names it. Files beyond 2 GB do so anyway.
    guards: what becomes of conditions PyTorch captured the model under: "auto" (the live model decides: those that
        matter are embedded), "record", "embed", "drop".
    compare: run file and live model at boundary sizes, and raise where they differ.
    sampler: inputs for that, called as sampler({"batch": 3, "seq": 7}); gives {"x": tensor} for those inputs it draws.
    strict_axes: refuse (export.narrowed) where an axis asked for does not take every size from some least one on, which
        is a warning otherwise.
    capture_timeout: seconds that each capture may take before the next is tried, without those in which it waits for a
        processor; captures run in a child process, so that they can be ended. None: in this process, without a limit.
    custom_ops: {"ns::op": "domain::Name"}: what an operator of an extension becomes; a rule in place of the name
        ("(x) -> y = [x0, 2*x1]") says what shapes it gives, a function what it computes where the file is compared
        (as in register_op; PyTorch's own kernel without one); a tuple several of these.
    custom_opsets: {"domain": version} of the domains of such operators, as in torch.onnx.export.
    freeze: {"seq": 120}: the axes called so are 120, in the file and wherever it is compared.
    static, batch_only, allow, ir_version, custom, custom_shapes, inputs, target: as the options of `anyshape export`.

    The model is captured by torch.export with recurrent layers kept whole, with fallbacks to torch.jit; the capture
    whose file takes more shapes wins. Other arguments of torch.onnx.export are accepted; those that would change the
    file are ignored with a warning. Raises Error: export.differs where the file would not be the model at a size it
    accepts, export.baked where an axis cannot be dynamic, and others; `attempts` of it lists every capture tried.

    >>> made = anyshape.export("dynamic_reshape.pt2", f="model.onnx", dynamic_axes={"x": {0: "batch", 1: "width"}})
    >>> made.check().inputs
    {'x': 'f32[batch, width]'}
    """
    _warn_ignored(ignored)
    mapping(kwargs, "kwargs")
    guards = one_of(guards, "guards", ("auto", "record", "embed", "drop"), "export.guards")
    f = None if f is None else _destination(f)
    if not (sampler is None or callable(sampler)):
        refuse(sampler, "sampler", "a function")
    options: dict[str, Any] = {
        "static": flag(static, "static"), "batch_only": flag(batch_only, "batch_only"), "allow": texts(allow, "allow"),
        "freeze": [(name, integer(size, f'freeze "{name}"')) for name, size in mapping(freeze, "freeze").items()],
        "training": _keeps_training(training), "strict_axes": flag(strict_axes, "strict_axes"),
        "inputs": texts(inputs, "inputs"), "target": text_or_empty(target, "target"),
    }  # fmt: skip
    options |= custom_options(custom_ops, custom_opsets)
    options["custom"] += _texts_by_name(custom, "custom")
    options["custom_shapes"] += _texts_by_name(custom_shapes, "custom_shapes")
    external_data = external_data if isinstance(external_data, str) else flag(external_data, "external_data")
    if target and external_data:
        raise usage("target.external-data", "a model for a target is one file, external_data asks for two")
    if opset_version is not None:
        options["opset"] = integer(opset_version, "opset_version")
    if ir_version is not None:
        options["ir_version"] = integer(ir_version, "ir_version")
    stated = InputShapes(input_shapes)
    common = {"input_names": [] if input_names is None else texts(input_names, "input_names"),
              "output_names": [] if output_names is None else texts(output_names, "output_names"), "dynamic_axes": stated.merged(dynamic_axes),
              "input_shapes": stated, "dynamic_shapes": dynamic_shapes, "guards": guards, "compare": flag(compare, "compare"), "sampler": sampler,
              "options": options, "capture_timeout": _seconds(capture_timeout)}  # fmt: skip
    if dynamic_shapes is not None and (isinstance(model, (str, os.PathLike)) or _is_program(model)):
        warnings.warn("dynamic_shapes says how a live model is captured, and is ignored for one that is captured already: "
                      "give dynamic_axes", stacklevel=2)  # fmt: skip
    verbose = verbose is not None and flag(verbose, "verbose")
    with line(), aloud(verbose):
        if isinstance(model, (str, os.PathLike)):
            made = _export_file(path(model, "model"), common)
        elif _is_program(model):
            made = _export_program(model, args, kwargs, common)
        else:
            made = _export_module(model, args, kwargs, common)
    _warn_narrowed(made)
    _warn_refused(made)
    if f is not None:
        made.save(f, external_data)
    if verbose:
        print(made.details())
    return made
