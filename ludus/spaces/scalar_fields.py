"""Field types of single plain values: None, bool, int, float, text, and constants to choose from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from math import inf, isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal, SupportsFloat, SupportsInt, TypeGuard

import numpy as np

from ludus.errors import InvalidSpace, shorten
from ludus.spaces.array_space import dtype_limits, plain_from_array
from ludus.spaces.box import Box
from ludus.spaces.discrete import Discrete
from ludus.spaces.field_types import FieldType, Test, held_by
from ludus.spaces.kinds import class_of, is_integer, is_scalar
from ludus.spaces.models import written
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import Text, is_unicode

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = ["BoolField", "ChoiceField", "FloatField", "IntField", "NoneField", "StrField"]

MAX_CHOICES = 2**16
"""Bounded integers with at most this many values are sampled from `Discrete`; wider ones from an integer `Box`."""
LEAST_INT, MAX_INT = -(2**63), 2**63 - 1
LARGEST_FLOAT = float(np.finfo(np.float64).max)
NAMED_FLOATS = {"NaN": float("nan"), "Infinity": inf, "-Infinity": -inf}


class NoneField(FieldType):
    """None, written as null."""

    kind = "none"

    @cached_property
    def space(self) -> Space[object]:
        """One value."""
        return Discrete(1)

    def validate(self, x: object, path: str) -> list[Violation]:
        """None alone."""
        return [] if x is None else [Violation(path, "None", shorten(x))]

    def native(self, *, strict: bool) -> object:
        """None."""
        return None

    def read(self, x: object) -> object:
        """The only one."""
        return 0

    def build(self, value: object) -> object:
        """None."""
        return None

    def encode(self, x: object, *, binary: bool) -> object:
        """Null."""
        return None

    def json_schema(self) -> dict[str, object]:
        """Null."""
        return {"type": "null"}

    def __repr__(self) -> str:
        return "None"


class BoolField(FieldType):
    """`bool`; no number stands for it."""

    kind = "bool"

    @cached_property
    def space(self) -> Space[object]:
        """Two values."""
        return Discrete(2)

    def validate(self, x: object, path: str) -> list[Violation]:
        """True or False."""
        return [] if isinstance(x, bool) else [Violation(path, "bool", shorten(x))]

    def native(self, *, strict: bool) -> object:
        """`bool`."""
        return bool

    def build(self, value: object) -> object:
        """A Python bool."""
        return bool(value)

    def encode(self, x: object, *, binary: bool) -> object:
        """Itself."""
        return x

    def json_schema(self) -> dict[str, object]:
        """Boolean."""
        return {"type": "boolean"}


class IntField(FieldType):
    """`int` between two ends, of 64 bits where they are not named; a whole float stands for it, a bool does not.

    Where the annotation names a space, the number is held to that.
    """

    kind = "int"

    def __init__(self, low: int | None = None, high: int | None = None, named: Space[object] | None = None) -> None:
        self.low, self.high, self.named = low, high, named
        if not LEAST_INT <= self._low <= self._high <= MAX_INT:
            raise InvalidSpace(f"expected an int of 64 bits with low <= high, got {low} to {high}")

    @property
    def _low(self) -> int:
        return LEAST_INT if self.low is None else self.low

    @property
    def _high(self) -> int:
        return MAX_INT if self.high is None else self.high

    @cached_property
    def space(self) -> Space[object]:
        """The named one; `Discrete` where there are few values, else an integer `Box`."""
        if self.named is not None:
            return self.named
        if self.low is not None and self.high is not None and self.high - self.low < MAX_CHOICES:
            return Discrete(self.high - self.low + 1, start=self.low)
        ends = -np.inf if self.low is None else self.low, np.inf if self.high is None else self.high
        return Box(*ends, shape=(), dtype=np.int64)

    def validate(self, x: object, path: str) -> list[Violation]:
        """The type, then the range."""
        if not isinstance(x, int) or isinstance(x, bool):
            return [Violation(path, repr(self) if self.named is None else f"int, {self.named!r}", shorten(x))]
        if self.named is not None:
            return held_by(self.named, self.read(x), path)
        if self._low <= x <= self._high:
            return []
        bounded = self.low is not None or self.high is not None
        return [Violation(path, repr(self) if bounded else "an int of 64 bits", shorten(x))]

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """A whole float as the int it is, NumPy's integers, and members of an `IntEnum`."""
        if is_scalar(x) and x.dtype.kind == "m":  # NumPy counts spans of time among its integers
            return super().coerce(x, path, problems)
        if not isinstance(x, bool) and ((isinstance(x, float) and x.is_integer()) or is_integer(x)):
            x = int(x)
        return super().coerce(x, path, problems)

    def fits_exactly(self, x: object) -> bool:
        """An int, and of no class derived from it."""
        return type(x) is int and self.fits(x)

    def quick(self, x: object) -> object:
        """As an int."""
        if not self.fits(x) or not isinstance(x, int):
            raise ValueError
        return int(x)

    def native(self, *, strict: bool) -> object:
        """`int` between the ends."""
        import msgspec

        ends = self._ends
        return Any if ends is None else Annotated[int, msgspec.Meta(ge=ends[0], le=ends[1])]

    @property
    def category(self) -> str | None:
        """An int, unless it is held to a space that is more than two ends."""
        return None if self._ends is None else self.kind

    @property
    def _ends(self) -> tuple[int, int] | None:
        return (self._low, self._high) if self.named is None else _whole_ends(self.named)

    def read(self, x: int) -> object:
        """A number of the space's type."""
        return _as_held(self.space, x)

    def build(self, value: SupportsInt) -> object:
        """A Python int."""
        return int(value)

    def encode(self, x: int, *, binary: bool) -> object:
        """Itself."""
        return x if type(x) is int else int(x)

    def arguments(self) -> list[object]:
        """The ends, or the space."""
        return [self.kind, self.low, self.high] if self.named is None else [self.kind, self.named]

    def __repr__(self) -> str:
        if self.named is not None:
            return repr(self.named)
        if self.low is None and self.high is None:
            return "int"
        if self.low is None or self.high is None:
            return (
                f"an int of at {'most' if self.low is None else 'least'} {self._high if self.low is None else self.low}"
            )
        return f"an int from {self.low} to {self.high}"


def _stands_for_a_float(x: object) -> TypeGuard[SupportsFloat]:
    """Whether it is a number of NumPy's, or a Decimal, whose module is only there if somebody uses it."""
    if is_scalar(x):
        return x.dtype.kind in "iuf"
    decimal = sys.modules.get("decimal")
    kind: type[Decimal] | None = None if decimal is None else decimal.Decimal
    return kind is not None and isinstance(x, kind) and not x.is_nan()


def _is_int_or_float(x: object) -> bool:
    return isinstance(x, int | float)


class FloatField(FieldType):
    """`float` between two ends, both included; NaN is in none. An int stands for it, a bool does not."""

    kind = "float"

    def __init__(self, low: float = -inf, high: float = inf, named: Space[object] | None = None) -> None:
        self.low, self.high, self.named = float(low), float(high), named
        if not self.low <= self.high:
            raise InvalidSpace(f"expected a float with low <= high, got {low} to {high}")

    @cached_property
    def space(self) -> Space[object]:
        """The named one, or a `Box` of one double."""
        return Box(self.low, self.high, shape=(), dtype=np.float64) if self.named is None else self.named

    def validate(self, x: object, path: str) -> list[Violation]:
        """The type, then the range."""
        if not isinstance(x, int | float) or isinstance(x, bool):
            return [Violation(path, repr(self) if self.named is None else f"float, {self.named!r}", shorten(x))]
        if abs(x) > LARGEST_FLOAT and abs(x) != inf:
            return [Violation(path, repr(self), shorten(x))]
        if self.named is not None:
            return held_by(self.named, self.read(x), path)
        return [] if self.low <= x <= self.high else [Violation(path, repr(self), shorten(x))]

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """An int as a float, NumPy's numbers, a Decimal, and infinities by the name that JSON has for them."""
        if isinstance(x, str):
            x = NAMED_FLOATS.get(x, x)
        elif _stands_for_a_float(x):
            x = float(x)
        before = len(problems)
        problems += self.validate(x, path)
        return x if len(problems) > before or not isinstance(x, int | float) else float(x)

    def fits_exactly(self, x: object) -> bool:
        """A float; an int is one of another type."""
        return type(x) is float and self.fits(x)

    def quick(self, x: object) -> object:
        """As a float."""
        if not self.fits(x) or not isinstance(x, int | float):
            raise ValueError
        return float(x)

    @property
    def category(self) -> str | None:
        """A float, unless it is held to a space that is no box."""
        return None if self._ends is None else self.kind

    @property
    def _ends(self) -> tuple[float, float] | None:
        return (self.low, self.high) if self.named is None else _float_ends(self.named)

    def native(self, *, strict: bool) -> object:
        """`float` between the ends; msgspec's bounds must be finite, and the lower one keeps NaN out."""
        import msgspec

        ends = self._ends
        if ends is None:
            return Any
        least = min(max(ends[0], -LARGEST_FLOAT), LARGEST_FLOAT)
        most = None if ends[1] == inf else max(ends[1], -LARGEST_FLOAT)
        return Annotated[float, msgspec.Meta(ge=least, le=most)]

    def retest(self, *, strict: bool) -> Test | None:
        """That it is no Decimal, which msgspec takes for a float."""
        if not strict or self._ends is None:
            return super().retest(strict=strict)
        return _is_int_or_float

    def read(self, x: float) -> object:
        """A number of the space's type."""
        return _as_held(self.space, x)

    def build(self, value: SupportsFloat) -> object:
        """A Python float."""
        return float(value)

    def encode(self, x: float, *, binary: bool) -> object:
        """Itself; infinities by name in JSON, which has no other way."""
        x = float(x)
        return x if binary or isfinite(x) else plain_from_array(np.asarray(x))

    def arguments(self) -> list[object]:
        """The ends, or the space."""
        return [self.kind, self.low, self.high] if self.named is None else [self.kind, self.named]

    def __repr__(self) -> str:
        if self.named is not None:
            return repr(self.named)
        return "float" if (self.low, self.high) == (-inf, inf) else f"a float from {self.low} to {self.high}"


class StrField(FieldType):
    """`str` of some lengths, with no limit where none is named; half a surrogate pair, is none."""

    kind = "str"

    def __init__(self, least: int = 0, most: int | None = None, named: Space[object] | None = None) -> None:
        self.least, self.most, self.named = least, most, named
        if not 0 <= least <= (least if most is None else most):
            raise InvalidSpace(f"expected text with 0 <= min_length <= max_length, got {least} and {most}")

    @cached_property
    def space(self) -> Space[object]:
        """The named one, or text of any characters."""
        return Text(self.most, min_length=self.least, charset=None) if self.named is None else self.named

    def validate(self, x: object, path: str) -> list[Violation]:
        """The type, then the length and characters."""
        if not isinstance(x, str):
            return [Violation(path, repr(self) if self.named is None else f"str, {self.named!r}", shorten(x))]
        return self.space.validate(x, path)

    def native(self, *, strict: bool) -> object:
        """`str` of the lengths."""
        import msgspec

        if self.named is not None or not (self.least or self.most is not None):
            return str
        return Annotated[str, msgspec.Meta(min_length=self.least, max_length=self.most)]

    def retest(self, *, strict: bool) -> Test | None:
        """That it can be written, or is in the named space."""
        del strict
        return is_unicode if self.named is None else self.named.contains

    def encode(self, x: str, *, binary: bool) -> object:
        """Itself."""
        return x if type(x) is str else str.__str__(x)

    def json_schema(self) -> Mapping[str, object]:
        """A string with the lengths that were named."""
        if self.named is not None:
            return self.named.json_schema()
        least = {"minLength": self.least} if self.least else {}
        return {"type": "string"} | least | ({} if self.most is None else {"maxLength": self.most})

    def arguments(self) -> list[object]:
        """The lengths, or the space."""
        return [self.kind, self.least, self.most] if self.named is None else [self.kind, self.named]

    def __repr__(self) -> str:
        return "str" if self.named is None else repr(self.named)


Places = dict[tuple[type[object], object], int]
"""Where a constant is, by its type and value: 1 and True are equal."""


class ChoiceField(FieldType):
    """One of several constants, as `Literal` and enums have them; written by their value."""

    kind = "choice"

    def __init__(self, values: Iterable[object], enum: type[Enum] | None = None) -> None:
        self.values, self.enum = list(values), enum
        self.written = [written(one) for one in self.values]
        self._places: Places = {(type(one), one): place for place, one in reversed(list(enumerate(self.values)))}
        self._by_writing: Places = {(type(one), one): place for place, one in reversed(list(enumerate(self.written)))}
        if not self.values:
            raise InvalidSpace("expected at least one constant to choose from, got none")

    @cached_property
    def space(self) -> Space[object]:
        """The places of the constants."""
        return Discrete(len(self.values))

    def _place(self, x: object) -> int | None:
        try:
            return self._places.get((class_of(x), x))
        except TypeError:  # it has no hash, as constants have
            return None

    def validate(self, x: object, path: str) -> list[Violation]:
        """Equal to one of the constants, and of its type."""
        return [] if self.fits(x) else [Violation(path, f"one of {shorten(self.values)}", shorten(x))]

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """The constant, by itself or as it is written; a member of another enum by its value."""
        if self.fits(x):
            return x
        plain = written(x)
        try:
            place = self._by_writing.get((class_of(plain), plain))
        except TypeError:
            place = None
        if place is None:
            problems.append(Violation(path, f"one of {shorten(self.written)}", shorten(x)))
            return x
        return self.values[place]

    @cached_property
    def category(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Ints or text, where all are, and an enum has no rules of its own."""
        kinds: set[type[object]] = {type(one) for one in self.written}
        if len(kinds) > 1 or not kinds <= {int, str} or len(self._by_writing) < len(self.values):
            return None
        if self.enum is not None and (_has_rules(self.enum) or any(written(one) != one.value for one in self.enum)):
            return None
        return "int" if kinds == {int} else "str"

    def native(self, *, strict: bool) -> object:
        """The enum, or `Literal`, where msgspec has one that is as strict."""
        if self.category is None:
            return Any
        return Literal[tuple(self.values)] if self.enum is None else self.enum  # type: ignore[return-value]

    def fits(self, x: object) -> bool:
        """Equal to one of the constants, and of its type."""
        return self._place(x) is not None

    def quick(self, x: object) -> object:
        """By itself or as it is written."""
        problems: list[Violation] = []
        value = self.coerce(x, "", problems)
        if problems:
            raise ValueError
        return value

    def retest(self, *, strict: bool) -> Test | None:
        """That it is the constant itself, which msgspec takes by its value too."""
        return self.fits if strict else None

    def read(self, x: object) -> object:
        """The place of the constant."""
        return self._place(x)

    def build(self, value: SupportsInt) -> object:
        """The constant at that place."""
        return self.values[int(value)]

    def encode(self, x: object, *, binary: bool) -> object:
        """The constant; an enum's value."""
        return written(x)

    def json_schema(self) -> dict[str, object]:
        """An enumeration."""
        return {"enum": self.written}

    def arguments(self) -> list[object]:
        """The constants as written."""
        return [self.kind, self.written]

    def __repr__(self) -> str:
        return f"one of {shorten(self.written)}"


def _as_held(space: Space[object], x: float) -> object:
    """A number as a box holds it; one that its dtype cannot hold stays as it is, for the box to refuse."""
    if not isinstance(space, Box):
        return x
    least, most = dtype_limits(space.dtype)
    held = least <= x <= most or x in (inf, -inf) or x != x
    return np.asarray(x, dtype=space.dtype) if held else x


def _has_rules(enum: type[Enum]) -> bool:
    """Whether an enum looks values up by code of its own, which would take what is not one of its members."""
    return "_missing_" in {name for kind in enum.__mro__ if kind.__module__ != "enum" for name in vars(kind)}


def _whole_ends(space: Space[object]) -> tuple[int, int] | None:
    """The ends of a space of whole numbers, where that is all it asks for."""
    if type(space) is Discrete:
        return int(space.start), int(space.start + space.n - 1)
    if type(space) is Box and space.dtype.kind in "iu" and space.dtype != np.uint64:
        return int(space.low[()]), int(space.high[()])
    return None


def _float_ends(space: Space[object]) -> tuple[float, float] | None:
    """The ends of a box of one float."""
    if type(space) is Box and space.dtype.kind == "f" and space.dtype.itemsize <= 8:
        return float(space.low[()]), float(space.high[()])
    return None
