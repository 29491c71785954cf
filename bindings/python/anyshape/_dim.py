"""Sizes with names, and arithmetic on them."""

from __future__ import annotations

import re
from typing import Union

from ._errors import usage
from ._integers import integer

Term = Union["Dim", str, int]

# How tightly the outermost operator of an expression binds.
_SUM, _PRODUCT, _ATOM = range(3)
_OPERATOR = re.compile(r"[-+*/%\s]")


class Condition(str):
    """A condition on sizes, as its text. Whether it holds is asked of a report.

    >>> anyshape.check("lstm_batch.onnx").require(anyshape.Dim("batch") >= 4)
    proved
    """

    def __bool__(self) -> bool:
        raise usage("dim.truth", f'"{self}" is neither true nor false: it depends on the size',
                    hint="anyshape.check(model).require(condition)")  # fmt: skip

    def __repr__(self) -> str:
        return f"Condition({str.__repr__(self)})"


class Dim(str):
    """The name of an axis, or an expression over such names; it is its text, and can stand wherever a name does.

    >>> n = anyshape.Dim("n")
    >>> 2 * n + 1
    Dim('2*n + 1')
    >>> (n + 1) // 2 % 8 == 0
    Condition('(n + 1)//2 % 8 == 0')
    >>> anyshape.check("lstm_batch.onnx").require(anyshape.Dim("batch") >= 1)
    proved

    Compared with a number by `==` or by an order it gives a Condition; compared with a text by `==`, whether the texts
    are equal. equals() gives the condition for two names.
    """

    _binds: int
    # What NumPy has no say in.
    __array_ufunc__ = None

    def __new__(cls, name: str) -> Dim:
        if not isinstance(name, str) or not name:
            raise usage("argument.type", f"{name!r} is no name for an axis", place="Dim")
        return cls._of(str(name), getattr(name, "_binds", _SUM if _OPERATOR.search(name) else _ATOM))

    @classmethod
    def _of(cls, text: str, binds: int) -> Dim:
        self = super().__new__(cls, text)
        self._binds = binds
        return self

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)

    def __repr__(self) -> str:
        return f"Dim({str.__repr__(self)})"

    def _within(self, binds: int) -> str:
        return str(self) if self._binds >= binds else f"({self})"

    def __add__(self, other: Term) -> Dim:  # type: ignore[override]
        if isinstance(other, int) and integer(other, "Dim") < 0:
            return self - -other
        return Dim._of(f"{self._within(_SUM)} + {_text(other, _SUM)}", _SUM)

    def __radd__(self, other: Term) -> Dim:
        return Dim._of(f"{_text(other, _SUM)} + {self._within(_SUM)}", _SUM)

    def __sub__(self, other: Term) -> Dim:
        if isinstance(other, int) and integer(other, "Dim") < 0:
            return self + -other
        return Dim._of(f"{self._within(_SUM)} - {_text(other, _PRODUCT)}", _SUM)

    def __rsub__(self, other: Term) -> Dim:
        return Dim._of(f"{_text(other, _SUM)} - {self._within(_PRODUCT)}", _SUM)

    def __mul__(self, other: Term) -> Dim:  # type: ignore[override]
        if isinstance(other, int):
            return self.__rmul__(other)
        return Dim._of(f"{self._within(_PRODUCT)}*{_text(other, _ATOM)}", _PRODUCT)

    def __rmul__(self, other: Term) -> Dim:  # type: ignore[override]
        # Not (n//2)*3 as 3*n//2, which is another number.
        return Dim._of(f"{_text(other, _PRODUCT)}*{self._within(_ATOM)}", _PRODUCT)

    def __floordiv__(self, other: Term) -> Dim:
        return Dim._of(f"{self._within(_PRODUCT)}//{_text(other, _ATOM)}", _PRODUCT)

    def __mod__(self, other: Term) -> Dim:  # type: ignore[override]
        return Dim._of(f"{self._within(_PRODUCT)} % {_text(other, _ATOM)}", _PRODUCT)

    def __neg__(self) -> Dim:
        return Dim._of(f"-1*{self._within(_ATOM)}", _PRODUCT)

    def equals(self, other: Term) -> Condition:
        """The condition that both are one size.

        >>> anyshape.Dim("height").equals("width")
        Condition('height == width')
        """
        return self._compared("==", other)

    def __eq__(self, other: object) -> Condition | bool:  # type: ignore[override]
        return self.equals(other) if isinstance(other, int) else str(self) == other

    def __ne__(self, other: object) -> Condition | bool:  # type: ignore[override]
        return self._compared("!=", other) if isinstance(other, int) else str(self) != other

    def __lt__(self, other: Term) -> Condition:  # type: ignore[override]
        return self._compared("<", other)

    def __le__(self, other: Term) -> Condition:  # type: ignore[override]
        return self._compared("<=", other)

    def __gt__(self, other: Term) -> Condition:  # type: ignore[override]
        return self._compared(">", other)

    def __ge__(self, other: Term) -> Condition:  # type: ignore[override]
        return self._compared(">=", other)

    def _compared(self, sign: str, other: Term) -> Condition:
        return Condition(f"{self} {sign} {_text(other, _SUM)}")

    __hash__ = str.__hash__


def _text(term: Term, binds: int) -> str:
    if isinstance(term, str):
        return Dim(term)._within(binds)
    number = integer(term, "Dim")
    return str(number) if number >= 0 or binds == _SUM else f"({number})"
