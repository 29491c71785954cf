"""Operators of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from . import _anyshape
from ._arguments import text as text_of


def register_op(domain: str, name: str, rule: str, kernel: Optional[Callable[..., Any]] = None) -> None:
    """Makes an operator known to models loaded from now on.

    rule: what shapes it gives, "(x, w) -> y = [x0, w1] where x1 == w0"; x0 is axis 0 of x.
    kernel: called as kernel(node, *arrays) with NumPy arrays to read, which may be kept, and None for an input left
        out; gives an array or a tuple of them. `node` has the attributes. Without a kernel a model can be checked, not
        run.

    >>> anyshape.register_op("my.domain", "Twice", "(x) -> y = [x0, 2*x1]",
    ...                      lambda node, x: numpy.concatenate([x, x], 1))
    """
    _anyshape.register_op(text_of(domain, "domain"), text_of(name, "name"), text_of(rule, "rule"), kernel)


def register_shape_rule(text: str) -> None:
    """The same without a kernel, from one text.

    >>> anyshape.register_shape_rule("my.domain::Half: y = [x0, x1 // 2]")
    """
    _anyshape.register_shape_rule(text_of(text, "text"))
