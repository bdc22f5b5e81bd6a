"""Lenses: how a Python type is seen as a space. A lens reads a typed value into a space's value, and builds it back.

`int`, `float`, `bool`, `str`, `None`, `Literal`, enums, `list`, `tuple`, `dict[str, …]`, unions and nested models have
lenses of their own; `Annotated[T, space]` names the space outright, and constraints (`ge`, `le`, `max_length` …) of
msgspec, Pydantic or annotated-types narrow the default one.
"""

from collections.abc import Iterable
from enum import Enum
from math import inf
from typing import Any

import numpy as np

from ludus.errors import CodecError, InvalidSpace, shorten
from ludus.spaces.array_space import dtype_limits
from ludus.spaces.box import Box
from ludus.spaces.discrete import Discrete
from ludus.spaces.one_of import OneOf
from ludus.spaces.sequence import Sequence
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import Text
from ludus.spaces.tuple import Tuple

__all__ = ["Choice", "Items", "Lens", "Mapped", "Scalar", "Several", "Union", "Value"]


class Lens:
    """The plain lens: a value of the space is the Python value itself, as for `Annotated[np.ndarray, Box(…)]`.

    >>> Lens(Discrete(2)).validate(3, "x")
    [Violation(path='x', expected='Discrete(2)', got='3')]
    """

    kind: str = "value"

    def __init__(self, space: Space[Any]) -> None:
        self.space = space

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every reason why the Python value does not fit."""
        return self.space.validate(x, path)

    def read(self, x: Any) -> Any:
        """The space's value of a valid Python value."""
        return x

    def build(self, value: Any) -> Any:
        """The Python value of a space's value."""
        return value

    def encode(self, x: Any, *, binary: bool) -> Any:
        """Plain data, as the type itself would be written."""
        return self.space.encode(self.read(x), binary=binary)

    def decode(self, data: Any) -> Any:
        """The Python value in plain data."""
        return self.build(self.space.decode(data))

    def json_schema(self) -> dict[str, Any]:
        """The schema of the plain data."""
        return self.space.json_schema()

    def arguments(self) -> list[Any]:
        """The lens as data: kind, then what it is made of."""
        return [self.kind, self.space]


Value = Lens


class Scalar(Lens):
    """`bool`, `int`, `float`, `str` and `None`, over `Discrete`, an integer or float `Box` of shape (), or `Text`."""

    types = {"bool": bool, "int": int, "float": float, "str": str, "none": type(None)}  # noqa: RUF012

    def __init__(self, kind: str, space: Space[Any]) -> None:
        super().__init__(space)
        self.kind = kind
        self.type: Any = self.types[kind]
        self._limits = dtype_limits(space.dtype) if isinstance(space, Box) else None

    def validate(self, x: Any, path: str) -> list[Violation]:
        """The type, then the range; an int may stand for a float, a bool for nothing else."""
        allowed = (int, float) if self.type is float else self.type
        if not isinstance(x, allowed) or (isinstance(x, bool) and self.type is not bool):
            return [Violation(path, f"{self.kind}, {self.space!r}", shorten(x))]
        return self.space.validate(self.read(x), path)

    def read(self, x: Any) -> Any:
        """The value as the space holds it."""
        if self.kind == "none":
            return 0
        # A number that the dtype cannot hold is left as it is, for `validate` to refuse.
        held = self._limits and (self._limits[0] <= x <= self._limits[1] or x in (inf, -inf) or x != x)
        return np.asarray(x, dtype=self.space.dtype) if held else x

    def build(self, value: Any) -> Any:
        """The value as the plain Python type."""
        return None if self.kind == "none" else self.type(value)

    def encode(self, x: Any, *, binary: bool) -> Any:
        """Itself, but for infinities and NaN."""
        del binary
        return self.space.encode(x) if self.kind == "float" else x

    def decode(self, data: Any) -> Any:
        """Itself, checked to be of the type."""
        if self.kind in ("none", "bool"):
            if isinstance(data, self.type):
                return data
            raise CodecError(f"expected {self.kind}, got {shorten(data)}")
        return self.build(self.space.decode(data))

    def json_schema(self) -> dict[str, Any]:
        """The type's own schema."""
        return (
            {"type": {"none": "null", "bool": "boolean"}[self.kind]}
            if self.kind in ("none", "bool")
            else self.space.json_schema()
        )


class Choice(Lens):
    """One of several constants, as `Literal` and enums have them, over `Discrete`; written by their value."""

    kind = "choice"

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = list(values)
        super().__init__(Discrete(len(self.values)))

    def _place(self, x: Any) -> int | None:
        return next((i for i, one in enumerate(self.values) if type(one) is type(x) and one == x), None)

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Equal to one of the constants, and of its type."""
        return [] if self._place(x) is not None else [Violation(path, f"one of {shorten(self.values)}", shorten(x))]

    def read(self, x: Any) -> Any:
        """The place of the constant."""
        return self._place(x)

    def build(self, value: Any) -> Any:
        """The constant at that place."""
        return self.values[int(value)]

    @property
    def _written(self) -> list[Any]:
        return [_written(one) for one in self.values]

    def encode(self, x: Any, *, binary: bool) -> Any:
        """The constant; an enum's value."""
        del binary
        return _written(x)

    def decode(self, data: Any) -> Any:
        """The constant written so."""
        for written, one in zip(self._written, self.values, strict=True):
            if type(written) is type(data) and written == data:
                return one
        raise CodecError(f"expected one of {shorten(self._written)}, got {shorten(data)}")

    def json_schema(self) -> dict[str, Any]:
        """An enumeration."""
        return {"enum": self._written}

    def arguments(self) -> list[Any]:
        """The constants as written."""
        return [self.kind, self._written]


def _written(constant: Any) -> Any:
    """A constant as plain data: an enum by its value, or by its name where the value is no plain data."""
    if not isinstance(constant, Enum):
        return constant
    return constant.value if isinstance(constant.value, bool | int | float | str) else constant.name


class Items(Lens):
    """`list[T]` or `tuple[T, ...]` of `least` to `most` elements, over `Sequence`, whose samples are cut or filled."""

    def __init__(self, kind: str, item: Lens, least: int = 0, most: int | None = None) -> None:
        super().__init__(Sequence(item.space))
        self.kind, self.item, self.type = kind, item, {"list": list, "tuple": tuple}[kind]
        self.least, self.most = least, most

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every element, or the type."""
        if not isinstance(x, self.type):
            return [Violation(path, f"a {self.kind}", shorten(x))]
        if len(x) < self.least or (self.most is not None and len(x) > self.most):
            upto = "or more" if self.most is None else f"to {self.most}"
            return [Violation(path, f"{self.least} {upto} elements", f"{len(x)}")]
        return [one for i, part in enumerate(x) for one in self.item.validate(part, f"{path}[{i}]")]

    def read(self, x: Any) -> Any:
        """A tuple of the elements' values."""
        return tuple(self.item.read(part) for part in x)

    def build(self, value: Any) -> Any:
        """The elements in a list or tuple."""
        values = list(value[: self.most])
        values += [values[-1] if values else self.item.space.zero()] * (self.least - len(values))
        return self.type(self.item.build(part) for part in values)

    def encode(self, x: Any, *, binary: bool) -> Any:
        """A list."""
        return [self.item.encode(part, binary=binary) for part in x]

    def decode(self, data: Any) -> Any:
        """The elements of a list."""
        return self.type(self.item.decode(part) for part in _list(data))

    def json_schema(self) -> dict[str, Any]:
        """An array, with its lengths where they are bounded."""
        schema = {"type": "array", "items": self.item.json_schema()}
        schema |= {"minItems": self.least} if self.least else {}
        return schema | ({} if self.most is None else {"maxItems": self.most})

    def arguments(self) -> list[Any]:
        """The element's lens and, where they are bounded, the lengths."""
        bounds = [self.least, self.most] if self.least or self.most is not None else []
        return [self.kind, self.item.arguments(), *bounds]


class Mapped(Lens):
    """`dict[str, T]`, over a `Sequence` of pairs; written as an object."""

    kind = "dict"

    def __init__(self, key: Lens, item: Lens) -> None:
        self.key, self.item = key, item
        super().__init__(Sequence(Tuple((key.space, item.space))))

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every key and value, or the type."""
        if not isinstance(x, dict):
            return [Violation(path, "a dictionary", shorten(x))]
        return [
            one
            for key, part in x.items()
            for one in (self.key.validate(key, f"{path} key") or self.item.validate(part, f'{path}["{key}"]'))
        ]

    def read(self, x: Any) -> Any:
        """A tuple of pairs."""
        return tuple((self.key.read(key), self.item.read(part)) for key, part in x.items())

    def build(self, value: Any) -> Any:
        """A dictionary; of pairs with one key the last counts."""
        return {self.key.build(key): self.item.build(part) for key, part in value}

    def encode(self, x: Any, *, binary: bool) -> Any:
        """An object."""
        return {key: self.item.encode(part, binary=binary) for key, part in x.items()}

    def decode(self, data: Any) -> Any:
        """The dictionary in an object."""
        if not isinstance(data, dict):
            raise CodecError(f"expected an object, got {shorten(data)}")
        return {self.key.decode(key): self.item.decode(part) for key, part in data.items()}

    def json_schema(self) -> dict[str, Any]:
        """An object with any keys."""
        return {"type": "object", "additionalProperties": self.item.json_schema()}

    def arguments(self) -> list[Any]:
        """The lenses of key and value."""
        return [self.kind, self.key.arguments(), self.item.arguments()]


class Several(Lens):
    """`tuple[A, B, C]`, over `Tuple`."""

    kind = "several"

    def __init__(self, parts: Iterable[Lens]) -> None:
        self.parts = list(parts)
        super().__init__(Tuple([part.space for part in self.parts]))

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every element, or the type and length."""
        if not isinstance(x, tuple) or len(x) != len(self.parts):
            return [Violation(path, f"a tuple of {len(self.parts)}", shorten(x))]
        each = enumerate(zip(self.parts, x, strict=True))
        return [one for i, (part, value) in each for one in part.validate(value, f"{path}[{i}]")]

    def read(self, x: Any) -> Any:
        """A tuple of the elements' values."""
        return tuple(part.read(value) for part, value in zip(self.parts, x, strict=True))

    def build(self, value: Any) -> Any:
        """The elements in a tuple."""
        return tuple(part.build(one) for part, one in zip(self.parts, value, strict=True))

    def encode(self, x: Any, *, binary: bool) -> Any:
        """A list."""
        return [part.encode(value, binary=binary) for part, value in zip(self.parts, x, strict=True)]

    def decode(self, data: Any) -> Any:
        """The elements of a list of that length."""
        if len(_list(data)) != len(self.parts):
            raise CodecError(f"expected a list of {len(self.parts)}, got {shorten(data)}")
        return tuple(part.decode(one) for part, one in zip(self.parts, data, strict=True))

    def json_schema(self) -> dict[str, Any]:
        """An array with a schema for each place."""
        schemas = [part.json_schema() for part in self.parts]
        return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}

    def arguments(self) -> list[Any]:
        """The lenses of the elements."""
        return [self.kind, [part.arguments() for part in self.parts]]


class Union(Lens):
    """`A | B`, over `OneOf`. `T | None` is written as `T` or null; others as a list of the number and the value."""

    kind = "union"

    def __init__(self, options: Iterable[Lens]) -> None:
        self.options = list(options)
        super().__init__(OneOf([option.space for option in self.options]))

    def _place(self, x: Any) -> int | None:
        return next((i for i, option in enumerate(self.options) if not option.validate(x, "")), None)

    def validate(self, x: Any, path: str) -> list[Violation]:
        """The violations of the option that comes nearest, where none fits."""
        if self._place(x) is not None:
            return []
        found = [option.validate(x, path) for option in self.options]
        inner = [one for one in found if any(violation.path != path for violation in one)]
        return inner[0] if inner else [Violation(path, " or ".join(one[0].expected for one in found), shorten(x))]

    def read(self, x: Any) -> Any:
        """The number of the first option that fits, and its value."""
        place = self._place(x)
        if place is None:
            raise InvalidSpace(f"expected a value of the union, got {shorten(x)}")
        return place, self.options[place].read(x)

    def build(self, value: Any) -> Any:
        """The value of that option."""
        return self.options[int(value[0])].build(value[1])

    @property
    def _optional(self) -> Lens | None:
        """T of `T | None`."""
        others = [option for option in self.options if option.kind != "none"]
        return others[0] if len(self.options) == 2 and len(others) == 1 else None

    def encode(self, x: Any, *, binary: bool) -> Any:
        """Null or the value, or the number and the value."""
        if self._optional is not None:
            return None if x is None else self._optional.encode(x, binary=binary)
        place = self._place(x) or 0
        return [place, self.options[place].encode(x, binary=binary)]

    def decode(self, data: Any) -> Any:
        """The value so written."""
        if self._optional is not None:
            return None if data is None else self._optional.decode(data)
        if len(_list(data)) != 2 or type(data[0]) is not int or not 0 <= data[0] < len(self.options):
            raise CodecError(f"expected a list of 0 to {len(self.options) - 1} and a value, got {shorten(data)}")
        return self.options[data[0]].decode(data[1])

    def json_schema(self) -> dict[str, Any]:
        """Any of the options."""
        if self._optional is not None:
            return {"anyOf": [self._optional.json_schema(), {"type": "null"}]}
        return {"oneOf": [{"prefixItems": [{"const": i}, one.json_schema()]} for i, one in enumerate(self.options)]}

    def arguments(self) -> list[Any]:
        """The lenses of the options."""
        return [self.kind, [option.arguments() for option in self.options]]


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise CodecError(f"expected a list, got {shorten(data)}")
    return data


def text_lens() -> Scalar:
    """A `str` with nothing said about it: any characters, up to 65,536 of them."""
    return Scalar("str", Text(65_536, min_length=0, charset=None))


def lens_from_arguments(data: Any) -> Lens:
    """The lens that `arguments` came from."""
    if not isinstance(data, list) or not data:
        raise CodecError(f"lens: expected a list starting with its kind, got {shorten(data)}")
    kind, *rest = data
    if kind in Scalar.types:
        return Scalar(kind, rest[0])
    if kind in ("list", "tuple"):
        return Items(kind, lens_from_arguments(rest[0]), *rest[1:])
    if kind == "dict":
        return Mapped(lens_from_arguments(rest[0]), lens_from_arguments(rest[1]))
    if kind in ("several", "union"):
        parts = [lens_from_arguments(one) for one in rest[0]]
        return Several(parts) if kind == "several" else Union(parts)
    if kind == "choice":
        return Choice(rest[0])
    if kind == "value":
        return Lens(rest[0])
    raise CodecError(f"lens: expected a known kind, got {shorten(kind)}")
