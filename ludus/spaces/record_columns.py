"""`RecordColumns`: equal records of many lanes as one message of columns, checked, written and read a column at a time.

Lane by lane, a record of two numbers costs more in calls than in work. Only records of single values travel so: a
message whose type has no container in it cannot ask for more than it holds, so that nobody need walk through it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from ludus.errors import CodecError, shorten
from ludus.spaces.field_types import FieldType, SpaceField
from ludus.spaces.scalar_fields import BoolField, ChoiceField, FloatField, IntField, NoneField, StrField
from ludus.spaces.text import is_unicode
from ludus.spaces.union_field import UnionField

if TYPE_CHECKING:
    from ludus.spaces.record import Record

__all__ = ["WRITTEN_ALIKE", "RecordColumns", "is_flat"]

SINGLE = (NoneField, BoolField, IntField, FloatField, StrField, ChoiceField)
WRITTEN_ALIKE = (BoolField, IntField, FloatField, StrField)
"""Of which msgspec writes values as they do."""
Column = list[Any]
"""The values of one field, each of the field's type, of every lane."""


def is_flat(field: FieldType) -> bool:
    """Whether msgspec reads values of this type, and there is no container in them.

    >>> from ludus.spaces.container_fields import ListField
    >>> is_flat(UnionField([IntField(), NoneField()])), is_flat(ListField("list", IntField()))
    (True, False)
    """
    if isinstance(field, UnionField):
        return field.is_native and all(map(is_flat, field.options))
    if isinstance(field, SpaceField):
        return field.record is None and field.category is not None
    return isinstance(field, SINGLE) and field.category is not None


class RecordColumns:
    """The values of `count` lanes, each of an equal record whose fields are all flat.

    >>> from dataclasses import dataclass
    >>> from ludus.spaces import Record
    >>> @dataclass
    ... class Move:
    ...     amount: int
    ...     note: str
    >>> columns = RecordColumns(Record(Move), 2, "action")
    >>> columns.read(columns.write([Move(1, "on"), {"amount": 2.0, "note": "off"}]))
    (Move(amount=1, note='on'), Move(amount=2, note='off'))
    >>> columns.write([Move(1, "on"), Move(2, 3)])
    Traceback (most recent call last):
    ludus.errors.InvalidValue: action[1].note: expected str, got 3
    """

    def __init__(self, record: Record, count: int, name: str) -> None:
        import msgspec

        self._record, self._count, self._name = record, count, name
        self._names, fields = tuple(record.fields), list(record.fields.values())
        self._getters = [attrgetter(one) for one in self._names]
        self._convert, self._strict = msgspec.convert, _columns_of([one.native(strict=True) for one in fields], count)
        self._texts = [place for place, one in enumerate(fields) if isinstance(one, StrField) and one.named is None]
        others = [(place, one) for place, one in enumerate(fields) if place not in self._texts]
        self._tests = [(place, test) for place, one in others if (test := one.retest(strict=True))]
        self._read_tests = [(place, test) for place, one in others if (test := one.retest(strict=False))]
        self._encoders = [(place, one.encode) for place, one in enumerate(fields) if type(one) not in WRITTEN_ALIKE]
        self._all_encoders = [(place, one.encode) for place, one in enumerate(fields)]
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = _decoder([one.native(strict=False) for one in fields], count)
        self._decode_any = _decoder([_any_single(one) for one in fields], count)
        construct = record.construct()
        self._call = construct.call if construct.keywords is None else None
        self._make = construct.make

    # --- writing ---

    def write(self, x: Sequence[object]) -> bytes:
        """The records that so many values stand for, as bytes; InvalidValue where one stands for none."""
        columns = self._fitting(x)
        if columns is None:
            coerce, name = self._record.coerce, self._name
            rows = [coerce(one, f"{name}[{lane}]") for lane, one in enumerate(x)]
            columns = [list(map(get, rows)) for get in self._getters]
        try:
            return self._encode(_encoded(columns, self._encoders))
        except TypeError:  # a number of a class of its own
            return self._encode(_encoded(columns, self._all_encoders))

    def _fitting(self, x: Sequence[object]) -> list[Column] | None:
        """The columns of values that all are records of the space, as far as can be told at once."""
        if {*map(type, x)} != {self._record.model}:
            return None
        try:
            columns = [list(map(get, x)) for get in self._getters]
            self._convert(columns, self._strict)
            fit = all(_is_text(columns[place]) for place in self._texts)
            return columns if fit and all(all(map(test, columns[place])) for place, test in self._tests) else None
        except Exception:  # msgspec's, and whatever a value's own code raises on being looked at
            return None

    # --- reading ---

    def read(self, data: bytes) -> tuple[object, ...]:
        """The records in bytes; CodecError or InvalidValue, and nothing else, on any."""
        try:
            columns = self._decode(data)
            for place, test in self._read_tests:
                if not all(map(test, columns[place])):
                    return self._explained(data)
            if self._call is not None:
                return tuple(map(self._call, *columns))
            return tuple(map(self._make, zip(*columns, strict=True)))
        except Exception:  # noqa: S110  (msgspec's, or that of the author's own code: the slow way says what it is)
            pass
        return self._explained(data)

    def _explained(self, data: bytes) -> tuple[object, ...]:
        """The records, read lane by lane, or an error with the place of all that is wrong."""
        try:
            columns = self._decode_any(data)
        except Exception as error:  # whatever the bytes are
            expected = f"{len(self._names)} columns of {self._count} values"
            raise CodecError(f"{self._name}: expected {expected}, got {shorten(data)}: {error}") from error
        read, name = self._record.read, self._name
        rows = [dict(zip(self._names, values, strict=True)) for values in zip(*columns, strict=True)]
        return tuple([read(one, f"{name}[{lane}]") for lane, one in enumerate(rows)])


def _any_single(field: FieldType) -> object:
    """Any value without others inside, as far as msgspec has a type for it: text and bytes are not told apart."""
    native = field.native(strict=False)
    return bool | int | float | bytes | None if native is bytes else bool | int | float | str | None


def _columns_of(types: list[object], count: int) -> object:
    """A tuple of lists, as msgspec sees it: longer ones are refused before there is memory for them."""
    import msgspec

    length = msgspec.Meta(min_length=count, max_length=count)
    return tuple[tuple([Annotated[list[one], length] for one in types])]


def _decoder(types: list[object], count: int) -> Callable[[bytes], tuple[Column, ...]]:
    import msgspec

    return msgspec.msgpack.Decoder(_columns_of(types, count)).decode


def _encoded(columns: list[Column], encoders: list[tuple[int, Callable[..., object]]]) -> list[Column]:
    if not encoders:
        return columns
    found = list(columns)
    for place, encode in encoders:
        found[place] = [encode(one, binary=True) for one in columns[place]]
    return found


def _is_text(column: Column) -> bool:
    return "".join(column).isascii() or all(map(is_unicode, column))
