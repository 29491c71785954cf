"""OrtValue: arrays with the methods of onnxruntime's values."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np

from .._values import EXTENSION, NUMPY, ort_name
from ._errors import InvalidArgument, not_here

_CODES = {name: code for code, name in NUMPY.items()} | {name: code for code, (name, _) in EXTENSION.items()}


def only_cpu(device: Any, index: int = 0) -> None:
    if str(device).lower() not in ("cpu", "cuda_pinned") or index not in (0, -1):
        raise InvalidArgument("onnxruntime.device", f"{device}:{index}", "there is no such device", "device_type='cpu'",
                              "usage")  # fmt: skip


def numpy_type(element_type: Any) -> np.dtype[Any]:
    """Of a type of NumPy, or of the number ONNX has for one."""
    if not isinstance(element_type, int):
        return np.dtype(element_type)
    if element_type in NUMPY:
        return np.dtype(NUMPY[element_type])
    if element_type == 8:
        return np.dtype(object)
    if element_type in EXTENSION:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, EXTENSION[element_type][0]))
    raise InvalidArgument("input.type", str(element_type), "ONNX has no element type of that number", "", "usage")


def code_of(array: np.ndarray[Any, Any]) -> int:
    """The number ONNX has for the type of the elements."""
    return 8 if array.dtype.kind in "OUST" else _CODES.get(array.dtype.name, 0)


def array_at(address: int, element_type: Any, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """An array over memory of somebody else, who keeps it."""
    dtype = numpy_type(element_type)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if count == 0:
        return np.empty(tuple(shape), dtype)
    memory = (ctypes.c_byte * count).from_address(address)
    return np.frombuffer(memory, dtype).reshape(tuple(shape))


class OrtDevice:
    """A device by its parts; there is the processor only."""

    def __init__(self, device_type: str = "cpu", device_id: int = 0):
        only_cpu(device_type, device_id)

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        return OrtDevice(ort_device_name, device_id)

    def device_id(self) -> int:
        return 0

    def device_type(self) -> int:
        return 0

    def device_vendor_id(self) -> int:
        return 0

    def device_mem_type(self) -> int:
        return 0


class OrtValue:
    """An array, or a list of them, or a dict. Tensors share the memory of the array they are made from."""

    def __init__(self, value: Any):
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: np.ndarray[Any, Any], device_type: Any = "cpu", device_id: int = 0,
                            vendor_id: int = -1) -> OrtValue:  # fmt: skip
        if not isinstance(device_type, OrtDevice):
            only_cpu(device_type, device_id)
        return OrtValue(np.ascontiguousarray(numpy_obj).reshape(np.shape(numpy_obj)))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: np.ndarray[Any, Any], onnx_element_type: int) -> OrtValue:
        """The bytes of the array as elements of that type."""
        dtype = numpy_type(onnx_element_type)
        if dtype.itemsize != data.dtype.itemsize:
            raise InvalidArgument("input.type", str(data.dtype), f"its elements are not as large as those of {dtype}",
                                  "", "usage")  # fmt: skip
        return OrtValue(np.ascontiguousarray(data).view(dtype))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: Any = "cpu",
                                     device_id: int = 0, vendor_id: int = -1) -> OrtValue:  # fmt: skip
        if not isinstance(device_type, OrtDevice):
            only_cpu(device_type, device_id)
        return OrtValue(np.zeros(tuple(shape), numpy_type(element_type)))

    @staticmethod
    def ort_value_from_sparse_tensor(sparse_tensor: Any) -> OrtValue:
        raise not_here("OrtValue.ort_value_from_sparse_tensor", "a dense tensor")

    @staticmethod
    def from_dlpack(data: Any, is_bool_tensor: bool = False) -> OrtValue:
        """Over the memory of any tensor of the processor: of torch, JAX, NumPy."""
        array = np.from_dlpack(data)
        return OrtValue(array.view(np.bool_) if is_bool_tensor else array)

    def as_sparse_tensor(self) -> Any:
        raise not_here("OrtValue.as_sparse_tensor", "numpy()")

    def _array(self) -> np.ndarray[Any, Any]:
        if not isinstance(self._value, np.ndarray):
            raise RuntimeError("only tensors have a shape, memory and a device; this is a value of type " + self.data_type())
        return self._value

    def numpy(self) -> Any:
        """The array, over the same memory; a list for sequences, a dict for maps."""
        return self._value

    def shape(self) -> list[int]:
        return list(self._array().shape)

    def data_type(self) -> str:
        """As in listings: "tensor(float)"."""
        if isinstance(self._value, list):
            item = OrtValue(self._value[0]).data_type() if self._value else "tensor(float)"
            return f"seq({item})"
        if isinstance(self._value, np.ndarray):
            return f"tensor({ort_name(code_of(self._value))})"
        return "map" if isinstance(self._value, dict) else "optional"

    def element_type(self) -> int:
        return code_of(self._array())

    def device_name(self) -> str:
        return "cpu"

    def data_ptr(self) -> int:
        return int(self._array().ctypes.data)

    def has_value(self) -> bool:
        return self._value is not None

    def is_tensor(self) -> bool:
        return isinstance(self._value, np.ndarray)

    def is_tensor_sequence(self) -> bool:
        return isinstance(self._value, list)

    def is_sparse_tensor(self) -> bool:
        return False

    def tensor_size_in_bytes(self) -> int:
        return int(self._array().nbytes)

    def update_inplace(self, np_arr: np.ndarray[Any, Any]) -> None:
        """Copies the entries of an array of the same shape and type into this one."""
        mine, given = self._array(), np.asarray(np_arr)
        if mine.shape != given.shape or mine.dtype != given.dtype:
            raise InvalidArgument("input.shape", "", f"it holds {mine.dtype}{list(mine.shape)}, not "
                                  f"{given.dtype}{list(given.shape)}", "", "usage")  # fmt: skip
        mine[...] = given

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        array = self._array() if dtype is None else self._array().astype(dtype, copy=False)
        return array.copy() if copy else array

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        return self._array().__dlpack__(*args, **kwargs)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._array().__dlpack_device__()


class OrtValueVector(list[OrtValue]):
    """A list of values."""

    def push_back(self, value: Any) -> None:
        self.append(value if isinstance(value, OrtValue) else OrtValue(value))

    def shrink_to_fit(self) -> None:
        """Lists see to that themselves."""

    def element_type_at(self, index: int) -> int:
        return self[index].element_type()

    def bool_tensor_indices(self) -> list[int]:
        return [i for i, value in enumerate(self) if value.is_tensor() and value.element_type() == 9]


def plain(value: Union[OrtValue, Any]) -> Any:
    """What run() takes for it."""
    return value.numpy() if isinstance(value, OrtValue) else value
