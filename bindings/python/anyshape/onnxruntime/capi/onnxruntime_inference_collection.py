"""The classes onnxruntime has in Python."""

from .._binding import IOBinding
from .._session import InferenceSession
from .._values import OrtDevice, OrtValue

__all__ = ["IOBinding", "InferenceSession", "OrtDevice", "OrtValue"]
