"""Arrays of types that NumPy does not have itself, strings, and what only looks like an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import usage

STRING = 8

# ONNX element type -> name of the NumPy type, and of the type of onnxruntime's listings.
NUMPY = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
         10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128"}  # fmt: skip
# Those of the package ml_dtypes, where it is installed: name and bits.
EXTENSION = {16: ("bfloat16", 16), 17: ("float8_e4m3fn", 8), 18: ("float8_e4m3fnuz", 8), 19: ("float8_e5m2", 8),
             20: ("float8_e5m2fnuz", 8), 21: ("uint4", 4), 22: ("int4", 4), 23: ("float4_e2m1fn", 4),
             24: ("float8_e8m0fnu", 8), 25: ("uint2", 2), 26: ("int2", 2), 27: ("float6_e2m3fn", 6),
             28: ("float6_e3m2fn", 6)}  # fmt: skip
ORT = {1: "float", 10: "float16", 11: "double", 16: "bfloat16", 8: "string"}
_CODES = {name: code for code, name in NUMPY.items()} | {name: code for code, (name, _) in EXTENSION.items()}


def ort_name(code: int) -> str:
    """The element type as onnxruntime writes it: "float", "int64"."""
    return ORT.get(code) or NUMPY.get(code) or EXTENSION.get(code, ("undefined", 0))[0]


def _pack(values: np.ndarray, bits: int) -> np.ndarray:
    """Codes of `bits` bits, one per byte, as bytes without gaps; the first in the low bits."""
    codes = np.unpackbits(values.reshape(-1, 1).view(np.uint8), axis=1, bitorder="little")
    return np.packbits(codes[:, :bits].reshape(-1), bitorder="little")


def _unpack(packed: np.ndarray, bits: int, count: int) -> np.ndarray:
    codes = np.unpackbits(packed, count=count * bits, bitorder="little").reshape(count, bits)
    return np.packbits(codes, axis=1, bitorder="little").reshape(-1)


def _signed(codes: np.ndarray, bits: int) -> np.ndarray:
    half = 1 << (bits - 1)
    return ((codes.astype(np.int16) ^ half) - half).astype(np.int8)


def _array(value: Any, dtype: Any) -> np.ndarray:
    """Numbers of a list as that type, where none loses its fraction."""
    if np.dtype(dtype).kind in "iub":
        found = np.asarray(value)
        if found.size > 0 and found.dtype.kind in "fc":
            raise TypeError("it holds numbers that are no integers")
    return np.asarray(value, dtype=dtype)


def parts(value: Any, wanted: int) -> tuple[int, tuple[int, ...], Any]:
    """(element type, shape, dense array or list of str) of anything array-like; `wanted`: the type the model takes."""
    if not isinstance(value, np.ndarray):
        try:
            value = _array(value, object if wanted == STRING else NUMPY.get(wanted))
        except (TypeError, ValueError, OverflowError) as failure:
            raise usage("input.type", f"{type(value).__name__} is no array of {ort_name(wanted)}: {failure}") from None
    if value.dtype.kind in "OUST":
        return STRING, value.shape, [_text(entry) for entry in value.reshape(-1)]
    code = _CODES.get(value.dtype.name)
    if code is None:
        raise usage("input.type", f"arrays of type {value.dtype} cannot be fed")
    dense = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("=")).reshape(value.shape)
    if code in NUMPY:
        return code, value.shape, dense
    bits = EXTENSION[code][1]
    if bits < 8:
        return code, value.shape, _pack(dense, bits)
    return code, value.shape, dense.reshape(-1).view(np.uint16 if bits == 16 else np.uint8)


def _text(entry: Any) -> str:
    return entry.decode("utf-8", "surrogateescape") if isinstance(entry, bytes) else str(entry)


def text_array(entries: list[str], shape: list[int]) -> np.ndarray:
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out.reshape(shape)


def from_bits(code: int, shape: list[int], data: np.ndarray) -> np.ndarray:
    """Values of a type NumPy lacks: with ml_dtypes as that type, without it integers, or the bits of floats."""
    name, bits = EXTENSION[code]
    count = int(np.prod(shape, dtype=np.int64))
    codes = data.view(np.uint16) if bits == 16 else data if bits == 8 else _unpack(data, bits, count)
    integer = name.startswith("int")
    try:
        import ml_dtypes
    except ImportError:
        return (_signed(codes, bits) if integer else codes).reshape(shape)
    if bits < 8 and "int" in name:
        return (_signed(codes, bits) if integer else codes).astype(getattr(ml_dtypes, name)).reshape(shape)
    return codes.view(getattr(ml_dtypes, name)).reshape(shape)
