"""`Compiled`: fields as one msgspec type, by which records are checked and read in one pass.

msgspec does the work for plain types, and leaves the rest (arrays, unions that it cannot tell apart, data of no fixed
form) as they are, for the field types to finish. It calls nothing back: a hook costs more than all of a small record.
It may refuse what a field takes, such as 3.0 for an int: then the field types decide, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from ludus.spaces.field_types import FieldType, Test
from ludus.spaces.scalar_fields import StrField
from ludus.spaces.space import ModelT_co
from ludus.spaces.text import is_unicode

__all__ = ["Compiled", "Construct", "getter"]

GivenT = TypeVar("GivenT")
Values = tuple[Any, ...]
"""Those of the fields in order, each of its field's type."""


class Construct(NamedTuple, Generic[ModelT_co]):
    """How an instance is made of the values of its fields."""

    call: Callable[..., ModelT_co]
    keywords: tuple[str, ...] | None = None
    """The names by which the values are given; None where they are given by position."""
    whole: bool = False
    """Whether they are given as one dictionary."""

    def make(self, values: Iterable[object]) -> ModelT_co:
        """The instance with those values, in the order of the fields."""
        if self.keywords is None:
            return self.call(*values)
        given = dict(zip(self.keywords, values))  # noqa: B905  (saying so costs a third of it)
        return self.call(given) if self.whole else self.call(**given)


class Compiled(Generic[ModelT_co]):
    """Some fields as msgspec sees them: functions made once, since they are called at every step.

    >>> from ludus.spaces.scalar_fields import IntField
    >>> fields = Compiled("Point", {"x": IntField(), "y": IntField()}, {"y": lambda: 7}, Construct(complex))
    >>> fields.read({"x": 3}), fields.fits_values((3, 4)), fields.fits_values((3, "4"))
    ((3+7j), True, False)
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, FieldType],
        defaults: Mapping[str, Callable[[], object]],
        construct: Construct[ModelT_co],
    ) -> None:
        import msgspec

        types = [(one, field.native(strict=False)) for one, field in fields.items()]
        members = [
            (*one, msgspec.field(default_factory=defaults[one[0]])) if one[0] in defaults else one for one in types
        ]
        self.type = msgspec.defstruct(name, members, kw_only=True, forbid_unknown_fields=True)
        """What msgspec makes of an object of plain data or values; `read` makes an instance of that too."""
        row = msgspec.defstruct(name, types, array_like=True, forbid_unknown_fields=True)
        held = [(one, field.native(strict=True)) for one, field in fields.items()]
        row_held = msgspec.defstruct(name, held, array_like=True, forbid_unknown_fields=True)
        self.read = _reader(self.type, fields, construct)
        """The instance in an object of plain data or values; raises whatever it meets where msgspec finds none."""
        self.read_row = _reader(row, fields, construct)
        """The same, of values in the order of the fields."""
        self._parts = fields, construct
        self.fits_values = _tester(row_held, fields, tuple)
        """Whether values, in the order of the fields, fit as they are."""
        self.fits = _tester(row_held, fields, getter(tuple(fields)))
        """Whether the fields of an object do."""

    def reader(self, otherwise: Callable[[object, str], ModelT_co]) -> Callable[..., ModelT_co]:
        """`read` of data and a name for it, and another way where that fails."""
        return _reader(self.type, *self._parts, otherwise)

    def __deepcopy__(self, memo: object) -> Compiled[ModelT_co]:
        return self  # it draws no samples, so copies of a space may share it


def _reader(
    kind: object,
    fields: Mapping[str, FieldType],
    construct: Construct[ModelT_co],
    otherwise: Callable[[object, str], ModelT_co] | None = None,
) -> Callable[..., ModelT_co]:
    """What makes an instance of data by way of `kind`, or of such a value itself; raises where a field refuses.

    All in one function: each call more would cost as much as msgspec takes for a small record.
    """
    from msgspec import convert
    from msgspec.structs import astuple

    texts, tests = _texts(fields), _tests(fields, strict=False)
    finishers = [(place, field.finisher()) for place, field in enumerate(fields.values())]
    parts = [(place, one) for place, one in finishers if one is not None]
    call, by_position, make = construct.call, construct.keywords is None, construct.make
    if construct.whole and construct.keywords == tuple(fields) and not tests and not parts:
        return _whole_reader(kind, fields, call, otherwise)

    def finish(values: Values) -> ModelT_co:
        for place, test in tests:
            if not test(values[place]):
                raise ValueError
        made = list(values)
        for place, one in parts:
            made[place] = one(made[place])
        return call(*made) if by_position else make(made)

    plain = by_position and not tests and not parts

    def read(x: object, name: str = "value") -> ModelT_co:
        try:
            values = astuple(convert(x, kind))
            for place in texts:
                if not values[place].isascii() and not is_unicode(values[place]):
                    raise ValueError
            return call(*values) if plain else finish(values)
        except Exception:  # msgspec's, or of an author's own code
            if otherwise is None:
                raise
        return otherwise(x, name)

    return read


def _whole_reader(
    kind: object,
    fields: Mapping[str, FieldType],
    call: Callable[[dict[str, object]], ModelT_co],
    otherwise: Callable[[object, str], ModelT_co] | None,
) -> Callable[..., ModelT_co]:
    """The same for what is made of a dictionary, where no field asks for more than msgspec does."""
    from msgspec import convert
    from msgspec.structs import asdict

    texts = [name for name, field in fields.items() if _is_plain_text(field)]

    def read(x: object, name: str = "value") -> ModelT_co:
        try:
            values = asdict(convert(x, kind))
            for one in texts:
                if not values[one].isascii() and not is_unicode(values[one]):
                    raise ValueError
            return call(values)
        except Exception:  # msgspec's, or Pydantic's
            if otherwise is None:
                raise
        return otherwise(x, name)

    return read


def _tester(
    kind: object, fields: Mapping[str, FieldType], values_of: Callable[[GivenT], Values]
) -> Callable[[GivenT], bool]:
    from msgspec import convert

    texts, tests = _texts(fields), _tests(fields, strict=True)

    def fits(x: GivenT) -> bool:
        try:
            values = values_of(x)
            convert(values, kind)
        except Exception:  # msgspec's, and whatever a value's own code raises on being looked at
            return False
        for place in texts:
            if not values[place].isascii() and not is_unicode(values[place]):
                return False
        for place, test in tests:  # noqa: SIM110  (a generator costs as much as the tests)
            if not test(values[place]):
                return False
        return True

    return fits


def _tests(fields: Mapping[str, FieldType], *, strict: bool) -> list[tuple[int, Test]]:
    found = [
        (place, field.retest(strict=strict)) for place, field in enumerate(fields.values()) if not _is_plain_text(field)
    ]
    return [(place, test) for place, test in found if test is not None]


def _texts(fields: Mapping[str, FieldType]) -> list[int]:
    return [place for place, field in enumerate(fields.values()) if _is_plain_text(field)]


def _is_plain_text(field: FieldType) -> bool:
    """Text, for which there is a test quicker than a call."""
    return isinstance(field, StrField) and field.named is None


def getter(names: tuple[str, ...]) -> Callable[[object], Values]:
    """The values of those attributes, in a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    one = attrgetter(*names)
    return lambda x: (one(x),)
