"""anyshape: PyTorch to ONNX with exactly the axes you want dynamic, and proof of which shapes the result takes.

    anyshape.export(model, args, "model.onnx", dynamic_axes={"x": {0: "batch", 1: "seq"}})
    anyshape.check("model.onnx").accepts(x=(1, 120, 1))
    anyshape.InferenceSession("model.onnx").run(None, {"x": array})
"""

from . import capture, ray
from ._anyshape import version as _version
from ._batches import Batches
from ._change import fix, infer_shapes, simplify
from ._check import Answer, CheckReport, Proof, Rule, check, rules
from ._converted import from_keras, from_sklearn
from ._dim import Condition, Dim
from ._errors import Cancelled, Error, Stopped, Timeout
from ._export import Exported, export
from ._limits import RunOptions, limits
from ._model import Model
from ._operators import register_op, register_shape_rule
from ._run import Timing, bench, explain, plan, run
from ._session import InferenceSession, NodeArg, SessionOptions
from ._verify import ComparedShape, Verified, verify

__version__ = _version()
__all__ = ["Answer", "Batches", "Cancelled", "CheckReport", "ComparedShape", "Condition", "Dim", "Error", "Exported",
           "InferenceSession", "Model", "NodeArg", "Proof", "Rule", "RunOptions", "SessionOptions", "Stopped",
           "Timeout", "Timing", "Verified", "bench", "capture", "check", "explain", "export", "fix", "from_keras",
           "from_sklearn", "infer_shapes", "limits", "plan", "ray", "register_op", "register_shape_rule", "rules",
           "run", "simplify", "verify"]  # fmt: skip
