"""Arithmetic on named sizes, from text: names of axes that are expressions, and conditions of a capture."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any, Optional

import numpy as np

_OPERATORS = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub,
              ast.Mult, ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
              ast.Constant, ast.Name, ast.Load, ast.Call)  # fmt: skip
# Whole numbers below this are exact as doubles, and so are the floors of their quotients.
_EXACT = 2.0**52


class Expression:
    """`text` over the sizes called `names`, which may be in quotes and need not be identifiers."""

    def __init__(self, text: str, names: Iterable[str]):
        self._names: dict[str, str] = {}
        self._code: Any = None
        self._tree: Any = None
        for i, name in enumerate(sorted(names, key=len, reverse=True)):
            self._names[f"_{i}_"] = name
            text = re.sub(rf"'{re.escape(name)}'|(?<![\w.]){re.escape(name)}(?![\w.])", f"_{i}_", text)
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return
        known = {*self._names, "min", "max"}
        if all(isinstance(node, _OPERATORS) and (not isinstance(node, ast.Name) or node.id in known)
               for node in ast.walk(tree)):  # fmt: skip
            self._code, self._tree = compile(tree, "<expression>", "eval"), tree.body

    @property
    def readable(self) -> bool:
        """Is it arithmetic on those names alone?"""
        return self._code is not None

    def value(self, sizes: Mapping[str, int]) -> Any:
        """None where it cannot be told."""
        if self._code is None or any(name not in sizes for name in self._names.values()):
            return None
        names = {key: sizes[name] for key, name in self._names.items()}
        try:
            return eval(self._code, {"__builtins__": {}, "min": min, "max": max}, names)
        except ZeroDivisionError:
            return None

    def values(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Of many sizes at once, as doubles; NaN where it cannot be told."""
        count = len(next(iter(columns.values()), ()))
        if self._tree is None or any(name not in columns for name in self._names.values()):
            return np.full(count, np.nan)
        names = {key: columns[name].astype(np.float64) for key, name in self._names.items()}
        with np.errstate(all="ignore"):
            return np.broadcast_to(_Rows(names).of(self._tree), (count,))


def _floordiv(a: Any, b: Any) -> Any:
    return np.where(b == 0, np.nan, np.floor(a / b))


_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: _floordiv,
    ast.Mod: lambda a, b: a - b * _floordiv(a, b),
}  # fmt: skip
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


class _Rows:
    """Evaluates a tree over columns as Python does over numbers: what it does not come to need not be known."""

    def __init__(self, names: Mapping[str, np.ndarray]):
        self._names = names

    def of(self, node: Any) -> Any:
        made = getattr(self, f"_{type(node).__name__.lower()}")(node)
        return np.where(np.abs(made) < _EXACT, made, np.nan)

    def _constant(self, node: ast.Constant) -> Any:
        return np.float64(node.value)  # type: ignore[arg-type]

    def _name(self, node: ast.Name) -> Any:
        return self._names[node.id]

    def _binop(self, node: ast.BinOp) -> Any:
        return _ARITHMETIC[type(node.op)](self.of(node.left), self.of(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.of(node.operand)
        return -value if isinstance(node.op, ast.USub) else np.where(np.isnan(value), np.nan, value == 0)

    def _call(self, node: ast.Call) -> Any:
        least = node.func.id == "min"  # type: ignore[attr-defined]
        return reduce(np.minimum if least else np.maximum, map(self.of, node.args))

    def _boolop(self, node: ast.BoolOp) -> Any:
        both = isinstance(node.op, ast.And)

        def joined(a: Any, b: Any) -> Any:
            return np.where(np.isnan(a) | ((a == 0) == both), a, b)

        return reduce(joined, map(self.of, node.values))

    def _compare(self, node: ast.Compare) -> Any:
        sides = [self.of(one) for one in (node.left, *node.comparators)]
        held: Any = np.float64(1)
        for made, a, b in zip(node.ops, sides, sides[1:]):
            one = np.where(np.isnan(a) | np.isnan(b), np.nan, _COMPARISONS[type(made)](a, b))
            held = np.where(np.isnan(held) | (held == 0), held, one)
        return held


def sum_of(text: str, names: Iterable[str]) -> Optional[Expression]:
    """The expression that the name of an axis is ("past + seq"), where it speaks of other axes."""
    used = [name for name in names if name != text and re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)]
    made = Expression(text, used) if used else None
    return made if made and made.readable else None
