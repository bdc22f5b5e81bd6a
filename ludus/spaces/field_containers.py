"""Field types that hold others: lists, tuples, sets, dictionaries and unions; and all of them read from data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Union

from ludus.errors import CodecError, InvalidSpace, shorten
from ludus.spaces.field_types import (
    BoolField,
    ChoiceField,
    FieldType,
    FloatField,
    IntField,
    NoneField,
    SpaceField,
    StrField,
    Test,
)
from ludus.spaces.one_of import OneOf
from ludus.spaces.sequence import Sequence
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import is_unicode
from ludus.spaces.tuple import Tuple

__all__ = ["DictField", "ListField", "TupleField", "UnionField", "field_from_arguments"]

LISTS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
ARRAYS = (list, tuple, set, frozenset)
"""What may stand for a list, as msgspec has it."""
MOST_PROBLEMS = 100
"""How many wrong elements of one list are named."""
MOST_PARTS = 1024
"""Options of a union, or places of a tuple, in a description."""
LONGEST_LEAST = 1 << 20
"""Elements that a description may demand: a sample has them all."""


class ListField(FieldType):
    """`list[T]`, `tuple[T, ...]`, `set[T]` or `frozenset[T]` of `least` to `most` elements; written as a list."""

    def __init__(self, kind: str, item: FieldType, least: int = 0, most: int | None = None) -> None:
        self.kind, self.item, self.type = kind, item, LISTS[kind]
        self.least, self.most = least, most
        if not 0 <= least <= (least if most is None else most):
            raise InvalidSpace(f"expected 0 <= min_length <= max_length, got {least} and {most}")
        if least > 1 and kind in ("set", "frozenset"):
            raise InvalidSpace(f"expected no min_length of a set, which no sample could promise, got {least}")

    @cached_property
    def space(self) -> Space[Any]:
        """A `Sequence`, whose samples are cut or filled."""
        return Sequence(self.item.space)

    def parts(self) -> Iterable[FieldType]:
        """The element's."""
        return (self.item,)

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every element, or the type and length."""
        if not isinstance(x, self.type):
            return [Violation(path, f"a {self.kind}", shorten(x))]
        return self._wrong_length(x, path) or _first(
            one for i, part in enumerate(x) for one in self.item.validate(part, f"{path}[{i}]")
        )

    def _wrong_length(self, x: Any, path: str) -> list[Violation]:
        if len(x) >= self.least and (self.most is None or len(x) <= self.most):
            return []
        upto = "or more" if self.most is None else f"to {self.most}"
        return [Violation(path, f"{self.least} {upto} elements", f"{len(x)}")]

    def coerce(self, x: Any, path: str, problems: list[Violation]) -> Any:
        """Every element; any kind of list will do."""
        if not isinstance(x, ARRAYS):
            problems.append(Violation(path, f"a {self.kind}", shorten(x)))
            return x
        before, found = len(problems), list[Any]()
        problems += self._wrong_length(x, path)
        for i, part in enumerate(x):
            found.append(self.item.coerce(part, f"{path}[{i}]", problems))
            if len(problems) - before >= MOST_PROBLEMS:
                break
        try:
            return x if len(problems) > before else self.type(found)
        except TypeError as error:  # an element of a set that has no hash
            problems.append(Violation(path, f"a {self.kind}", f"{shorten(x)}: {error}"))
            return x

    def quick(self, x: Any) -> Any:
        """Any kind of list of what the elements can be."""
        if not isinstance(x, ARRAYS) or self._wrong_length(x, ""):
            raise ValueError
        return self.type([self.item.quick(part) for part in x])

    @property
    def category(self) -> str | None:
        """A list of any kind."""
        return "array"

    def native(self, *, strict: bool) -> Any:
        """The list of the element's type."""
        import msgspec

        item = self.item.native(strict=strict)
        kind = tuple[item, ...] if self.kind == "tuple" else self.type[item]
        if not self.least and self.most is None:
            return kind
        return Annotated[kind, msgspec.Meta(min_length=self.least, max_length=self.most)]

    def retest(self, *, strict: bool) -> Test | None:
        """That the list is of its own type, and whatever its elements ask for."""
        kind, item = self.type, self.item.retest(strict=strict)
        if item is None:
            return (lambda x: isinstance(x, kind)) if strict else None
        return lambda x: isinstance(x, kind) and all(map(item, x))

    def finisher(self) -> Callable[[Any], Any] | None:
        """The elements finished."""
        kind, item = self.type, self.item.finisher()
        return None if item is None else lambda x: kind([item(part) for part in x])

    def read(self, x: Any) -> Any:
        """A tuple of the elements' values."""
        return tuple(self.item.read(part) for part in x)

    def build(self, value: Any) -> Any:
        """The elements in a list."""
        values = list(value[: self.most])
        values += [values[-1] if values else self.item.space.zero()] * (self.least - len(values))
        return self.type(self.item.build(part) for part in values)

    def encode(self, x: Any, *, binary: bool) -> Any:
        """A list."""
        item = self.item
        if isinstance(item, IntField | BoolField | StrField) or (binary and isinstance(item, FloatField)):
            return list(x)  # written as they are
        return [item.encode(part, binary=binary) for part in x]

    def json_schema(self) -> dict[str, Any]:
        """An array, with its lengths where they are bounded."""
        schema: dict[str, Any] = {"type": "array", "items": self.item.json_schema()}
        schema |= {"uniqueItems": True} if self.kind in ("set", "frozenset") else {}
        schema |= {"minItems": self.least} if self.least else {}
        return schema | ({} if self.most is None else {"maxItems": self.most})

    def arguments(self) -> list[Any]:
        """The element and, where they are bounded, the lengths."""
        bounds = [self.least, self.most] if self.least or self.most is not None else []
        return [self.kind, self.item.arguments(), *bounds]

    def __repr__(self) -> str:
        return f"a {self.kind}"


class DictField(FieldType):
    """`dict[K, T]`; written as an object. Keys that are numbers are text there, since JSON has no others."""

    kind = "dict"

    def __init__(self, key: FieldType, item: FieldType, least: int = 0, most: int | None = None) -> None:
        self.key, self.item, self.least, self.most = key, item, least, most
        if not isinstance(key, StrField | IntField | ChoiceField):
            raise InvalidSpace(f"expected keys of text, int, Literal or an enum, got {key!r}")
        if least:
            raise InvalidSpace(f"expected no min_length of a dictionary, which no sample could promise, got {least}")

    @cached_property
    def space(self) -> Space[Any]:
        """A `Sequence` of pairs."""
        return Sequence(Tuple((self.key.space, self.item.space)))

    def parts(self) -> Iterable[FieldType]:
        """Those of key and value."""
        return (self.key, self.item)

    def _wrong_length(self, x: Any, path: str) -> list[Violation]:
        too_long = self.most is not None and len(x) > self.most
        return [Violation(path, f"at most {self.most} entries", f"{len(x)}")] if too_long else []

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every key and value, or the type."""
        if not isinstance(x, dict):
            return [Violation(path, "a dictionary", shorten(x))]
        return self._wrong_length(x, path) or _first(
            one
            for key, part in x.items()
            for one in (self.key.validate(key, f"{path} key") or self.item.validate(part, f'{path}["{key}"]'))
        )

    def coerce(self, x: Any, path: str, problems: list[Violation]) -> Any:
        """Every key and value; any mapping will do, and text for a key that is a number."""
        if not isinstance(x, Mapping):
            problems.append(Violation(path, "a dictionary", shorten(x)))
            return x
        before, found = len(problems), dict[Any, Any]()
        problems += self._wrong_length(x, path)
        for key, part in x.items():
            one = self._key(key, f"{path} key", problems)
            value = self.item.coerce(part, f'{path}["{key}"]', problems)
            if len(problems) - before >= MOST_PROBLEMS:
                break
            if len(problems) == before:
                found[one] = value
        return x if len(problems) > before else found

    def _key(self, key: Any, path: str, problems: list[Violation]) -> Any:
        if isinstance(key, str) and not isinstance(self.key, StrField):
            number = _whole(key)
            if number is not None and self.key.validate(key, path):
                key = number
        return self.key.coerce(key, path, problems)

    def quick(self, x: Any) -> Any:
        """Any mapping of what keys and values can be."""
        if not isinstance(x, Mapping) or self._wrong_length(x, ""):
            raise ValueError
        problems: list[Violation] = []
        found = {self._key(key, "", problems): self.item.quick(part) for key, part in x.items()}
        if problems:
            raise ValueError
        return found

    @property
    def category(self) -> str | None:
        """A dictionary, where its keys are text."""
        return "dict" if isinstance(self.key, StrField) else None

    def native(self, *, strict: bool) -> Any:
        """The dictionary, where its keys are text."""
        import msgspec

        if self.category is None:
            return Any
        kind = dict[self.key.native(strict=strict), self.item.native(strict=strict)]
        return kind if self.most is None else Annotated[kind, msgspec.Meta(max_length=self.most)]

    def retest(self, *, strict: bool) -> Test | None:
        """That it is a dictionary, and whatever keys and values ask for."""
        if self.category is None:
            return super().retest(strict=strict)
        key, item = self.key.retest(strict=strict) or is_unicode, self.item.retest(strict=strict)

        def test(x: Any) -> bool:
            return isinstance(x, dict) and all(map(key, x)) and (item is None or all(map(item, x.values())))

        return test

    def finisher(self) -> Callable[[Any], Any] | None:
        """The values finished."""
        item = self.item.finisher()
        if self.category is None or item is None:
            return super().finisher()
        return lambda x: {key: item(part) for key, part in x.items()}

    def read(self, x: Any) -> Any:
        """A tuple of pairs."""
        return tuple((self.key.read(key), self.item.read(part)) for key, part in x.items())

    def build(self, value: Any) -> Any:
        """A dictionary; of pairs with one key the last counts."""
        return {self.key.build(key): self.item.build(part) for key, part in value[: self.most]}

    def encode(self, x: Any, *, binary: bool) -> Any:
        """An object."""
        if isinstance(self.key, StrField):
            return {key: self.item.encode(part, binary=binary) for key, part in x.items()}
        return {
            str(self.key.encode(key, binary=binary)): self.item.encode(part, binary=binary) for key, part in x.items()
        }

    def json_schema(self) -> dict[str, Any]:
        """An object with any keys."""
        schema = {"type": "object", "additionalProperties": self.item.json_schema()}
        return schema | ({} if self.most is None else {"maxProperties": self.most})

    def arguments(self) -> list[Any]:
        """Those of key and value and, where it is bounded, the number of entries."""
        return [self.kind, self.key.arguments(), self.item.arguments(), *([] if self.most is None else [0, self.most])]

    def __repr__(self) -> str:
        return "a dictionary"


class TupleField(FieldType):
    """`tuple[A, B, C]`; written as a list."""

    kind = "several"

    def __init__(self, items: Iterable[FieldType]) -> None:
        self.items = list(items)

    @cached_property
    def space(self) -> Space[Any]:
        """A `Tuple`."""
        return Tuple([one.space for one in self.items])

    def parts(self) -> Iterable[FieldType]:
        """Those of the places."""
        return self.items

    def validate(self, x: Any, path: str) -> list[Violation]:
        """Every element, or the type and length."""
        if not isinstance(x, tuple) or len(x) != len(self.items):
            return [Violation(path, f"a tuple of {len(self.items)}", shorten(x))]
        each = enumerate(zip(self.items, x, strict=True))
        return [one for i, (item, value) in each for one in item.validate(value, f"{path}[{i}]")]

    def coerce(self, x: Any, path: str, problems: list[Violation]) -> Any:
        """Every element; any kind of list will do."""
        if not isinstance(x, ARRAYS) or len(x) != len(self.items):
            problems.append(Violation(path, f"a tuple of {len(self.items)}", shorten(x)))
            return x
        each = enumerate(zip(self.items, x, strict=True))
        return tuple([item.coerce(value, f"{path}[{i}]", problems) for i, (item, value) in each])

    def quick(self, x: Any) -> Any:
        """Any kind of list of what the elements can be."""
        if not isinstance(x, ARRAYS) or len(x) != len(self.items):
            raise ValueError
        return tuple([item.quick(value) for item, value in zip(self.items, x, strict=True)])

    @property
    def category(self) -> str | None:
        """A list of any kind."""
        return "array" if self.items else None

    def native(self, *, strict: bool) -> Any:
        """The tuple of their types."""
        return tuple[tuple(one.native(strict=strict) for one in self.items)] if self.items else Any

    def retest(self, *, strict: bool) -> Test | None:
        """That it is a tuple, and whatever its elements ask for."""
        if self.category is None:
            return super().retest(strict=strict)
        tests = [(i, test) for i, one in enumerate(self.items) if (test := one.retest(strict=strict)) is not None]
        if not tests and not strict:
            return None
        return lambda x: isinstance(x, tuple) and all(test(x[i]) for i, test in tests)

    def finisher(self) -> Callable[[Any], Any] | None:
        """The elements finished."""
        finishers = [one.finisher() for one in self.items]
        if self.category is None or not any(finishers):
            return super().finisher()
        return lambda x: tuple([part if one is None else one(part) for one, part in zip(finishers, x, strict=True)])

    def read(self, x: Any) -> Any:
        """A tuple of the elements' values."""
        return tuple(item.read(value) for item, value in zip(self.items, x, strict=True))

    def build(self, value: Any) -> Any:
        """The elements in a tuple."""
        return tuple(item.build(one) for item, one in zip(self.items, value, strict=True))

    def encode(self, x: Any, *, binary: bool) -> Any:
        """A list."""
        return [item.encode(value, binary=binary) for item, value in zip(self.items, x, strict=True)]

    def json_schema(self) -> dict[str, Any]:
        """An array with a schema for each place."""
        schemas = [one.json_schema() for one in self.items]
        return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}

    def arguments(self) -> list[Any]:
        """Those of the elements."""
        return [self.kind, [one.arguments() for one in self.items]]

    def __repr__(self) -> str:
        return f"a tuple of {len(self.items)}"


class UnionField(FieldType):
    """`A | B`; written as what it is, and read as the first option that takes it, the one of its own type before all."""

    kind = "union"

    def __init__(self, options: Iterable[FieldType]) -> None:
        self.options = list(options)
        if not self.options:
            raise InvalidSpace("expected at least one option of a union, got none")

    @cached_property
    def space(self) -> Space[Any]:
        """`OneOf` the options."""
        return OneOf([option.space for option in self.options])

    def parts(self) -> Iterable[FieldType]:
        """Those of the options."""
        return self.options

    def _option(self, x: Any) -> int | None:
        """The option that a value is one of: of its own type first."""
        for place, option in enumerate(self.options):
            if option.fits_exactly(x):
                return place
        return next((place for place, option in enumerate(self.options) if not option.validate(x, "")), None)

    def validate(self, x: Any, path: str) -> list[Violation]:
        """The violations of the option that comes nearest, where none fits."""
        return [] if self.fits(x) else self._nearest([one.validate(x, path) for one in self.options], x, path)

    def _nearest(self, found: list[list[Violation]], x: Any, path: str) -> list[Violation]:
        inner = [one for one in found if any(violation.path != path for violation in one)]
        if inner:
            return min(inner, key=len)
        return [Violation(path, " or ".join(one[0].expected for one in found), shorten(x))]

    def coerce(self, x: Any, path: str, problems: list[Violation]) -> Any:
        """The value of its own type, or else of the first option that can make one of it."""
        with suppress(ValueError):
            return self.quick(x)
        refused: list[list[Violation]] = []
        for option in self.options:
            refused.append([])
            value = option.coerce(x, path, refused[-1])
            if not refused[-1]:
                return value
        problems += self._nearest(refused, x, path)
        return x

    def quick(self, x: Any) -> Any:
        """The value of its own type, of the model of its class's name, or of the first option that takes it so."""
        for option in self.options:
            if option.fits_exactly(x):
                return x
        name = type(x).__name__
        for option in sorted(self.options, key=lambda one: _model_name(one) != name):
            with suppress(Exception):
                return option.quick(x)
        raise ValueError

    def fits(self, x: Any) -> bool:
        """Whether one of the options does."""
        return self._option(x) is not None

    def fits_exactly(self, x: Any) -> bool:
        """Whether one of the options does."""
        return any(option.fits_exactly(x) for option in self.options)

    @property
    def category(self) -> str | None:
        """None: a union inside another is told apart by us."""
        return None

    @cached_property
    def is_native(self) -> bool:
        """Whether msgspec can tell the options apart as we do."""
        kinds = [option.category for option in self.options]
        return len(set(kinds)) == len(kinds) and (None not in kinds or {*kinds} <= {None, "none"})

    def native(self, *, strict: bool) -> Any:
        """The union, where msgspec can tell its options apart as we do."""
        if not self.is_native:
            return Any
        return Union[tuple(option.native(strict=strict) for option in self.options)]

    def retest(self, *, strict: bool) -> Test | None:
        """That one of the options fits, where one of them asks for more than msgspec does."""
        if not self.is_native:
            return self.fits if strict else None
        tests = [option.retest(strict=strict) for option in self.options]
        others = [test for test, option in zip(tests, self.options, strict=True) if option.kind != "none"]
        if not any(tests):
            return None
        if len(others) == 1 and (only := others[0]) is not None:
            return lambda x: x is None or only(x)
        return self.fits

    def finisher(self) -> Callable[[Any], Any] | None:
        """The value finished by the option that msgspec found for it."""
        if not self.is_native:
            return self.quick
        finishers = {kind: one for option in self.options if (one := option.finisher()) for kind in _made_types(option)}
        if not finishers:
            return None
        other = finishers.get(object)  # the one option that msgspec left alone, beside None
        if other is not None:
            return lambda x: x if x is None else other(x)
        return lambda x: finishers[type(x)](x) if type(x) in finishers else x

    def read(self, x: Any) -> Any:
        """The number of the option that fits, and its value."""
        place = self._option(x)
        if place is None:
            raise InvalidSpace(f"expected a value of the union, got {shorten(x)}")
        return place, self.options[place].read(x)

    def build(self, value: Any) -> Any:
        """The value of that option."""
        return self.options[int(value[0])].build(value[1])

    def encode(self, x: Any, *, binary: bool) -> Any:
        """The value, as its option writes it."""
        if x is None:
            return None
        return self.options[self._option(x) or 0].encode(x, binary=binary)

    def json_schema(self) -> dict[str, Any]:
        """Any of the options."""
        return {"anyOf": [option.json_schema() for option in self.options]}

    def arguments(self) -> list[Any]:
        """Those of the options."""
        return [self.kind, [option.arguments() for option in self.options]]

    def __repr__(self) -> str:
        return " or ".join(map(repr, self.options))


def _model_name(field: FieldType) -> str | None:
    """The name of the model that a field holds, where it holds one."""
    return getattr(field.space, "name", None) if isinstance(field, SpaceField) else None


def _made_types(option: FieldType) -> tuple[Any, ...]:
    """The types of what msgspec makes of an option; `object` where it leaves it as it came."""
    if isinstance(option, ListField):
        return (option.type,)
    if isinstance(option, DictField | TupleField):
        return (dict,) if isinstance(option, DictField) else (tuple,)
    if isinstance(option, SpaceField) and option.record is not None:
        return (option.record.compiled.type,)
    return (object,)


def _first(found: Iterable[Violation]) -> list[Violation]:
    return list(islice(found, MOST_PROBLEMS))


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def field_from_arguments(data: Any) -> FieldType:
    """The field type that `arguments` came from; raises CodecError, or what `from_description` makes one of."""
    if not isinstance(data, list) or not data:
        raise CodecError(f"field type: expected a list starting with its kind, got {shorten(data)}")
    kind, *rest = data
    if kind in ("none", "bool"):
        return NoneField() if kind == "none" else BoolField()
    if kind in ("int", "float", "str"):
        make: Any = {"int": IntField, "float": FloatField, "str": StrField}[kind]
        return make(named=_space(rest[0])) if len(rest) == 1 else make(*_ends(kind, rest))
    if kind == "choice":
        return ChoiceField(_constants(rest[0]))
    if kind == "value":
        return SpaceField(_space(rest[0]))
    if kind in ("several", "union"):
        parts = [field_from_arguments(one) for one in _parts(rest[0])]
        return TupleField(parts) if kind == "several" else UnionField(parts)
    if kind in LISTS:
        return ListField(kind, field_from_arguments(rest[0]), *_lengths(rest[1:]))
    if kind == "dict":
        return DictField(field_from_arguments(rest[0]), field_from_arguments(rest[1]), *_lengths(rest[2:]))
    raise CodecError(f"field type: expected a known kind, got {shorten(kind)}")


def _space(data: Any) -> Space[Any]:
    if not isinstance(data, Space):
        raise CodecError(f"field type: expected a space, got {shorten(data)}")
    return data


def _parts(data: Any) -> list[Any]:
    if not isinstance(data, list) or len(data) > MOST_PARTS:
        raise CodecError(f"field type: expected a list of at most {MOST_PARTS} types, got {shorten(data)}")
    return data


def _constants(data: Any) -> list[Any]:
    if not isinstance(data, list) or not all(one is None or type(one) in (bool, int, float, str) for one in data):
        raise CodecError(f"field type: expected a list of constants, got {shorten(data)}")
    return data


def _ends(kind: str, data: list[Any]) -> list[Any]:
    if kind == "str":
        return _lengths(data)
    allowed = (int, float) if kind == "float" else (int, type(None))
    if len(data) != 2 or not all(type(one) in allowed for one in data):
        raise CodecError(f"field type: expected two ends of {kind}, got {shorten(data)}")
    return data


def _lengths(data: list[Any]) -> list[Any]:
    if len(data) not in (0, 2) or not all(one is None or (type(one) is int and one >= 0) for one in data[1:]):
        raise CodecError(f"field type: expected a least and a greatest length, got {shorten(data)}")
    if data and not (type(data[0]) is int and 0 <= data[0] <= LONGEST_LEAST):
        raise CodecError(f"field type: expected a least length of at most {LONGEST_LEAST}, got {shorten(data[0])}")
    return data
