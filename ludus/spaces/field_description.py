"""Field types read from data that strangers wrote."""

from collections.abc import Callable, Iterable

from ludus.errors import CodecError, shorten
from ludus.spaces.container_fields import LISTS, DictField, ListField, TupleField
from ludus.spaces.field_types import FieldType, SpaceField
from ludus.spaces.kinds import is_list
from ludus.spaces.nan_field import NanField
from ludus.spaces.scalar_fields import BoolField, ChoiceField, FloatField, IntField, NoneField, StrField
from ludus.spaces.space import Space, is_space
from ludus.spaces.union_field import UnionField

__all__ = ["field_from_arguments"]

SCALAR_FIELDS: dict[str, Callable[..., FieldType]] = {"int": IntField, "float": FloatField, "str": StrField}
MAX_PARTS = 1024
"""Options of a union, or places of a tuple, in a description."""
MAX_DEMANDED_ELEMENTS = 1 << 20
"""Elements that a description may demand: a sample has them all."""


def field_from_arguments(data: object) -> FieldType:
    """The field type that `arguments` came from; raises CodecError, or what `from_description` makes one of."""
    if not is_list(data) or not data:
        raise CodecError(f"field type: expected a list starting with its kind, got {shorten(data)}")
    kind, *rest = data
    if kind in ("none", "bool"):
        return NoneField() if kind == "none" else BoolField()
    if kind == "nan":
        return NanField()
    if kind in ("int", "float", "str"):
        make = SCALAR_FIELDS[kind]
        return make(named=_space(rest[0])) if len(rest) == 1 else make(*_ends(kind, rest))
    if kind == "choice":
        return ChoiceField(_constants(rest[0]))
    if kind == "value":
        return SpaceField(_space(rest[0]))
    if kind in ("several", "union"):
        parts = [field_from_arguments(one) for one in _parts(rest[0])]
        return TupleField(parts) if kind == "several" else UnionField(parts)
    if isinstance(kind, str) and kind in LISTS:
        return ListField(kind, field_from_arguments(rest[0]), *_lengths(rest[1:]))
    if kind == "dict":
        return DictField(field_from_arguments(rest[0]), field_from_arguments(rest[1]), *_lengths(rest[2:]))
    raise CodecError(f"field type: expected a known kind, got {shorten(kind)}")


def _space(data: object) -> Space[object]:
    if not is_space(data):
        raise CodecError(f"field type: expected a space, got {shorten(data)}")
    return data


def _parts(data: object) -> list[object]:
    if not is_list(data) or len(data) > MAX_PARTS:
        raise CodecError(f"field type: expected a list of at most {MAX_PARTS} types, got {shorten(data)}")
    return data


def _constants(data: object) -> list[object]:
    if not is_list(data) or not all(one is None or type(one) in (bool, int, float, str) for one in data):
        raise CodecError(f"field type: expected a list of constants, got {shorten(data)}")
    return data


def _ends(kind: str, data: list[object]) -> Iterable[object]:
    if kind == "str":
        return _lengths(data)
    allowed = (int, float) if kind == "float" else (int, type(None))
    if len(data) != 2 or not all(type(one) in allowed for one in data):
        raise CodecError(f"field type: expected two ends of {kind}, got {shorten(data)}")
    return data


def _lengths(data: list[object]) -> tuple[int, int | None]:
    if not data:
        return 0, None
    least, most = data if len(data) == 2 else (None, -1)
    if not (most is None or (type(most) is int and most >= 0)):
        raise CodecError(f"field type: expected a least and a greatest length, got {shorten(data)}")
    if not (type(least) is int and 0 <= least <= MAX_DEMANDED_ELEMENTS):
        raise CodecError(
            f"field type: expected a least length of at most {MAX_DEMANDED_ELEMENTS}, got {shorten(least)}"
        )
    return least, most
