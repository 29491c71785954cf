"""Columns of rows: NumPy arrays, lists of arrays, and what Arrow has, which is looked at where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from ._arguments import refuse
from ._errors import shown

NO_VALUE = "the row has no value"
NO_ENTRY = "an entry of the row has no value"


class Dense:
    """Rows of one shape, one after the other; `missing` says of some why they are none."""

    def __init__(self, values: np.ndarray, missing: Optional[Mapping[int, str]] = None):
        self._values, self._missing = values, missing or {}

    def __len__(self) -> int:
        return len(self._values)

    def missing(self, row: int) -> Optional[str]:
        return self._missing.get(row)

    def shape(self, row: int) -> tuple[int, ...]:
        return self._values.shape[1:]

    def rows(self, indices: Sequence[int]) -> np.ndarray:
        if _in_a_run(indices):
            return self._values[indices[0] : indices[-1] + 1]
        return self._values[np.asarray(indices)]


class Ragged:
    """Lists of different lengths in one buffer."""

    def __init__(self, values: np.ndarray, offsets: np.ndarray, missing: Optional[Mapping[int, str]] = None):
        self._values, self._offsets, self._missing = values, offsets, missing or {}

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def missing(self, row: int) -> Optional[str]:
        return self._missing.get(row)

    def shape(self, row: int) -> tuple[int, ...]:
        return (int(self._offsets[row + 1] - self._offsets[row]), *self._values.shape[1:])

    def rows(self, indices: Sequence[int]) -> np.ndarray:
        if _in_a_run(indices):
            values = self._values[self._offsets[indices[0]] : self._offsets[indices[-1] + 1]]
            return values.reshape(len(indices), *self.shape(indices[0]))
        return np.stack([self._values[self._offsets[row] : self._offsets[row + 1]] for row in indices])


class Loose:
    """Rows one by one; None for one that is missing. `dtype` of all, where it is known."""

    def __init__(self, values: Sequence[Any], dtype: Any = None):
        self._values: list[np.ndarray] = []
        self._missing: dict[int, str] = {}
        for row, value in enumerate(values):
            array, why = _array(value, dtype)
            self._values.append(array)
            if why is not None:
                self._missing[row] = why

    def __len__(self) -> int:
        return len(self._values)

    def missing(self, row: int) -> Optional[str]:
        return self._missing.get(row)

    def shape(self, row: int) -> tuple[int, ...]:
        return self._values[row].shape

    def rows(self, indices: Sequence[int]) -> np.ndarray:
        given = [self._values[row] for row in indices]
        return given[0][np.newaxis] if len(given) == 1 else np.stack(given)


Column = Union[Dense, Ragged, Loose]


def _array(value: Any, dtype: Any) -> tuple[np.ndarray, Optional[str]]:
    """The value as an array, or why it is none."""
    if value is None:
        return np.empty(0), NO_VALUE
    try:
        return np.asarray(value, dtype), None
    except (ValueError, TypeError, OverflowError) as error:
        return np.empty(0), f"the row is no array: {shown(str(error))}"


def _in_a_run(indices: Sequence[int]) -> bool:
    """One after the other: a view will do."""
    return indices[-1] - indices[0] + 1 == len(indices) and all(b - a == 1 for a, b in zip(indices, indices[1:]))


def column(values: Any) -> Column:
    """Axis 0 of an array, or the entries of a list, are the rows."""
    if _is_arrow(values):
        return _of_arrow(values)
    listed = isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping))
    if not listed or getattr(values, "ndim", 1) == 0:
        refuse(values, "column", "an array or a list of rows")
    if isinstance(values, np.ndarray) and values.dtype != object:
        return Dense(values)
    return Loose(list(values))


def columns(table: Any) -> dict[str, Any]:
    """Name -> values of a mapping, or of a table or batch of Arrow."""
    if _is_arrow(table):
        return {name: table.column(name) for name in table.schema.names}
    if isinstance(table, type) or not hasattr(table, "keys"):
        refuse(table, "rows", "a dict of columns, or a table of Arrow")
    return {name: table[name] for name in table.keys()}  # noqa: SIM118 - tables that are no dicts


def _is_arrow(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "pyarrow"


def _of_arrow(values: Any) -> Column:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if isinstance(values, pa.ExtensionArray):
        if hasattr(values, "to_numpy_ndarray") and values.null_count == 0:
            return Dense(values.to_numpy_ndarray())
        values = values.storage
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    missing = {row: NO_VALUE for row in _nulls(values).tolist()}
    if isinstance(values, (pa.ListArray, pa.LargeListArray)):
        offsets, inner = values.offsets.to_numpy(), _entries(values.values)
        if inner is None:
            return Loose(values.to_pylist(), _dtype(values.type))
        for row in np.searchsorted(offsets, _holes(values.values), "right") - 1:
            missing.setdefault(int(row), NO_ENTRY)
        return Ragged(inner, offsets, missing)
    dense = _entries(values)
    if dense is None:
        return Loose(values.to_pylist(), _dtype(values.type))
    for row in _holes(values).tolist():
        missing.setdefault(row, NO_ENTRY)
    return Dense(dense, missing)


def _nulls(values: Any) -> np.ndarray:
    """Where entries are missing."""
    if not values.null_count:
        return np.empty(0, np.int64)
    return np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))


def _holes(values: Any) -> np.ndarray:
    """Where entries of _entries() are missing, or have one that is."""
    import pyarrow as pa

    if not isinstance(values, pa.FixedSizeListArray):
        return _nulls(values)
    return np.union1d(_nulls(values), _holes(_fixed_entries(values)) // values.type.list_size)


def _fixed_entries(values: Any) -> Any:
    size = values.type.list_size
    return values.values.slice(values.offset * size, len(values) * size)


def _dtype(type: Any) -> Any:
    """That of the entries of lists, be they nested; None where NumPy has none of that kind."""
    import pyarrow as pa

    while hasattr(type, "value_type"):
        type = type.value_type
    known = pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_boolean(type)
    return type.to_pandas_dtype() if known else None


def _entries(values: Any) -> Optional[np.ndarray]:
    """The entries where they lie, lists of one length as an axis, something for those that are missing; None for what
    has no such form."""
    import pyarrow as pa

    if isinstance(values, pa.FixedSizeListArray):
        inner = _entries(_fixed_entries(values))
        return None if inner is None else inner.reshape(len(values), values.type.list_size, *inner.shape[1:])
    if pa.types.is_boolean(values.type):
        return values.fill_null(False).to_numpy(zero_copy_only=False)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return (values.fill_null(0) if values.null_count else values).to_numpy(zero_copy_only=True)
    return None
