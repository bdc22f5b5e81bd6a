"""`Compiled`: fields as one msgspec type, by which records are checked and read in one pass.

msgspec does the work for plain types. For the rest (models inside models, arrays, unions that it cannot tell apart) it
calls back. It may refuse what a field takes, such as 3.0 for an int: then the field types decide, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from ludus.spaces.field_types import FieldType, StrField, Test
from ludus.spaces.scalar import SCALARS

__all__ = ["Compiled", "Hooks"]

Values = tuple[Any, ...]


class AnyInstance(type):
    """The type of types that stand for a field: msgspec asks whether what a hook gave is one, and it always is."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class Hooks:
    """The fields that msgspec calls back for, each under a type made for it."""

    def __init__(self) -> None:
        self.types: dict[type, FieldType] = {}
        self.has_scalars = False
        """Whether there are dates, bytes or their like, which have a plain form that is no value."""

    def type_of(self, field: FieldType) -> type:
        """A type that stands for the field."""
        made = AnyInstance("Hook", (), {})
        self.types[made] = field
        return made

    def take(self, kind: type, x: Any) -> Any:
        """What the field makes of a value or of plain data; ValueError where it is neither."""
        return self.types[kind].quick(x)

    def hold(self, kind: type, x: Any) -> Any:
        """A value of the field, as it is; ValueError where it is none."""
        if not self.types[kind].fits(x):
            raise ValueError
        return x


class Compiled:
    """Some fields and what makes their defaults, as msgspec sees them.

    >>> from ludus.spaces.field_types import IntField
    >>> fields = Compiled("Point", {"x": IntField(), "y": IntField()}, {"y": lambda: 7})
    >>> fields.take({"x": 3}), fields.fits((3, 4)), fields.fits((3, "4"))
    ((3, 7), True, False)
    """

    def __init__(
        self, name: str, fields: Mapping[str, FieldType], defaults: Mapping[str, Callable[[], Any]] | None = None
    ) -> None:
        import msgspec

        made, hooks = defaults or {}, Hooks()
        types = [(one, field.native(hooks)) for one, field in fields.items()]
        members = [(*one, msgspec.field(default_factory=made[one[0]])) if one[0] in made else one for one in types]
        self._object = msgspec.defstruct(name, members, kw_only=True, forbid_unknown_fields=True, weakref=False)
        self._row = msgspec.defstruct(name, types, array_like=True, forbid_unknown_fields=True)
        self._convert, self._as_tuple = msgspec.convert, msgspec.structs.astuple
        self._take = hooks.take if hooks.types else None
        self._hold = hooks.hold if hooks.types else None
        self._kept = tuple(SCALARS.values()) if hooks.has_scalars else None
        self._strict, self._lenient = _tests(fields, strict=True), _tests(fields, strict=False)
        self._is_text = _is_text
        self._texts = _places(fields)

    def fits(self, values: Values) -> bool:
        """Whether values, in the order of the fields, fit as they are."""
        try:
            self._convert(values, self._row, builtin_types=self._kept, dec_hook=self._hold)
        except Exception:  # msgspec's, and whatever a value's own code raises on being looked at
            return False
        return self._passes(values, self._strict)

    def take(self, x: Any) -> Values:
        """The values in plain data or a mapping of values, in the order of the fields; ValueError where msgspec has none."""
        return self._taken(x, self._object)

    def take_row(self, values: Values) -> Values:
        """The values that these can be made."""
        return self._taken(values, self._row)

    def _taken(self, x: Any, kind: Any) -> Values:
        try:
            values = self._as_tuple(self._convert(x, kind, dec_hook=self._take))
            if self._passes(values, self._lenient):
                return values
        except Exception as error:
            raise ValueError from error
        raise ValueError

    def _passes(self, values: Values, tests: list[tuple[int, Test]]) -> bool:
        for place in self._texts:
            if not values[place].isascii() and not self._is_text(values[place]):
                return False
        for place, test in tests:  # noqa: SIM110  (a generator costs as much as the tests)
            if not test(values[place]):
                return False
        return True

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self  # it draws no samples, so copies of a space may share it


def _tests(fields: Mapping[str, FieldType], *, strict: bool) -> list[tuple[int, Test]]:
    found = [(place, field.retest(strict)) for place, field in enumerate(fields.values()) if not _is_plain_text(field)]
    return [(place, test) for place, test in found if test is not None]


def _places(fields: Mapping[str, FieldType]) -> list[int]:
    return [place for place, field in enumerate(fields.values()) if _is_plain_text(field)]


def _is_plain_text(field: FieldType) -> bool:
    """Text, for which there is a test quicker than a call."""
    return isinstance(field, StrField) and field.named is None


def _is_text(text: str) -> bool:
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def getter(names: tuple[str, ...]) -> Callable[[Any], Values]:
    """The values of those attributes, in a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    one = attrgetter(*names)
    return lambda x: (one(x),)
