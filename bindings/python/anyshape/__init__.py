"""anyshape: PyTorch to ONNX with exactly the axes you want dynamic, and proof of which shapes the result takes.

    anyshape.export(model, args, "model.onnx", dynamic_axes={"x": {0: "batch", 1: "seq"}})
    anyshape.check("model.onnx").accepts(x=(1, 120, 1))
    anyshape.InferenceSession("model.onnx").run(None, {"x": array})
"""

from . import capture
from ._anyshape import register_op, register_shape_rule
from ._anyshape import version as _version
from ._check import Answer, CheckReport, Proof, check
from ._errors import Cancelled, Error, Stopped, Timeout
from ._export import Exported, export
from ._limits import RunOptions, limits
from ._session import InferenceSession, NodeArg, SessionOptions

__version__ = _version()
__all__ = ["Answer", "Cancelled", "CheckReport", "Error", "Exported", "InferenceSession", "NodeArg", "Proof",
           "RunOptions", "SessionOptions", "Stopped", "Timeout", "capture", "check", "export", "limits", "register_op",
           "register_shape_rule"]  # fmt: skip
