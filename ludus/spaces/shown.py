"""What is shown to those who know no tags: a value as JSON that anybody reads, at the price of its exact types.

Tuples, sets and arrays are lists, bytes are base64, dates ISO 8601, models objects of their fields; fields marked
`Private` are left out unless they are asked for. One form for OpenEnv's protocol, for pages and for states.
"""

from binascii import b2a_base64
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from math import isfinite, isnan
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import numpy as np

from ludus.errors import ContractViolation, shorten
from ludus.spaces.array_space import Array, plain_from_array
from ludus.spaces.kinds import class_of, is_mapping
from ludus.spaces.models import field_names, fields_of, written
from ludus.spaces.plain import LIMITS, Dialect, PlainLimits, Write

__all__ = ["Private", "Shown", "hidden_fields", "named_float", "shown"]

MARK: Final = "ludus.private"

Private = MARK
"""Marks a field of a state that only an orchestrator may see: `answer: Annotated[str, Private]`."""


class Shown(Dialect):
    """Values as JSON without tags. It is written only: what was lost on the way no reader could bring back.

    `words`: NaN and the infinities go by name, since JSON has no number for them. `models`: objects with fields are
    shown, `private` with those that are marked so.

    >>> Shown().write({"at": (1, np.float32(0.5)), "odds": float("inf"), 3: b"raw"})
    {'at': [1, 0.5], 'odds': 'Infinity', '3': 'cmF3'}
    """

    error = ContractViolation

    def __init__(
        self, *, words: bool = True, models: bool = True, private: bool = False, limits: PlainLimits = LIMITS
    ) -> None:
        self.words, self.models, self.private = words, models, private
        floats: dict[type, Write] = {float: _write_float} if words else {}
        kinds = "numbers, text, bytes, arrays or containers of these"
        super().__init__(
            (type(None), bool, int, float, str),
            {**floats, **self.forms()},
            expected=f"{kinds}, or models" if models else kinds,
            limits=limits,
        )

    def forms(self) -> dict[type, Write]:
        """How values are written that JSON has no form for."""
        return _FORMS

    def of_a_class(self, value: object, path: str, depth: int) -> object:
        """A model as the object of its fields, also where it is a tuple; a date and its like as text.

        Others are written as what they are derived from.
        """
        if self.models and not is_mapping(value) and field_names(class_of(value)) is not None:
            return self._model(value, path, depth)
        from ludus.spaces.scalar import SCALARS  # with the first one, as msgspec: most programs never need their 9 ms

        if not isinstance(value, tuple(SCALARS.values())) or isinstance(value, bytes | Enum):
            return super().of_a_class(value, path, depth)
        import msgspec

        return msgspec.to_builtins(value)

    def _model(self, value: object, path: str, depth: int) -> dict[str, object]:
        hidden = frozenset[str]() if self.private else hidden_fields(class_of(value), path)
        fields = {name: one for name, one in (fields_of(value) or {}).items() if name not in hidden}
        return {name: self.walk(one, f"{path}.{name}", depth) for name, one in fields.items()}

    def key(self, key: object) -> str:
        """The key of an object."""
        return str(key)

    def numbers(self, array: Array, path: str, depth: int) -> object:
        """An array as lists."""
        if array.dtype.kind not in "biuf":
            return self.walk(array.tolist(), path, depth)
        if array.dtype.itemsize > 8:  # as near as a number of JSON comes to it
            array = array.astype(np.float64)
        return plain_from_array(array) if self.words else array.tolist()


def named_float(value: float) -> float | str:
    """A number, or the name of what JSON has no number for.

    >>> named_float(0.5), named_float(float("-inf"))
    (0.5, '-Infinity')
    """
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _write_float(dialect: Dialect, value: float, path: str, depth: int) -> object:
    del dialect, path, depth
    return named_float(value)


def _write_bytes(dialect: Dialect, value: bytes, path: str, depth: int) -> object:
    del dialect, path, depth
    return b2a_base64(value, newline=False).decode()


def _write_items(dialect: Dialect, value: Iterable[object], path: str, depth: int) -> object:
    return dialect.items(value, path, depth)


def _write_set(dialect: Dialect, value: Iterable[object], path: str, depth: int) -> object:
    return dialect.items(sorted(value, key=repr), path, depth)


def _write_mapping(dialect: Any, value: Mapping[object, object], path: str, depth: int) -> object:
    return {dialect.key(key): dialect.walk(one, f"{path}[{key!r}]", depth) for key, one in value.items()}


def _write_array(dialect: Any, value: Array, path: str, depth: int) -> object:
    return dialect.numbers(value, path, depth)


def _write_number(dialect: Dialect, value: np.generic, path: str, depth: int) -> object:
    return dialect.walk(float(value) if value.dtype.kind == "f" else value.item(), path, depth)


def _write_enum(dialect: Dialect, value: Enum, path: str, depth: int) -> object:
    return dialect.walk(written(value), path, depth)


_FORMS: dict[type, Write] = {
    np.ndarray: _write_array,
    np.generic: _write_number,
    Enum: _write_enum,
    dict: _write_mapping,
    Mapping: _write_mapping,
    list: _write_items,
    tuple: _write_items,
    set: _write_set,
    frozenset: _write_set,
    bytes: _write_bytes,
}

shown = Shown().write
"""A value as JSON for anybody; ContractViolation names what is no data."""


def hidden_fields(kind: type, path: str) -> frozenset[str]:
    """The names of the private fields of a class; where that cannot be known, nothing of it is shown."""
    try:
        return _marked_fields(kind)
    except Exception as error:
        raise ContractViolation(
            f"{path}: expected annotations of {kind.__name__} that can be read, since they say what is private, "
            f"got {type(error).__name__}: {shorten(str(error))}"
        ) from error


@lru_cache(maxsize=512)
def _marked_fields(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if _is_marked(hint))


def _is_marked(hint: object) -> bool:
    """Whether the mark is on a hint, or on any part of it."""
    said: tuple[object, ...] = getattr(hint, "__metadata__", ()) if get_origin(hint) is Annotated else ()
    if any(isinstance(one, str) and one == MARK for one in said):
        return True
    return any(_is_marked(one) for one in get_args(hint) if one is not hint and not isinstance(one, str))
