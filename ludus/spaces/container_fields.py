"""Field types that hold others: lists, tuples, sets and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from functools import cached_property
from itertools import islice
from types import GenericAlias
from typing import Annotated, Any, TypeGuard

from ludus.errors import InvalidSpace, shorten
from ludus.spaces.field_types import FieldType, Test
from ludus.spaces.kinds import is_dict, is_mapping, is_tuple
from ludus.spaces.scalar_fields import BoolField, ChoiceField, FloatField, IntField, StrField
from ludus.spaces.sequence import Sequence
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import is_unicode
from ludus.spaces.tuple import Tuple

__all__ = ["LISTS", "DictField", "ListField", "TupleField"]

Kind = type[list[object]] | type[tuple[object, ...]] | type[set[object]] | type[frozenset[object]]
LISTS: dict[str, Kind] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
ARRAYS = (list, tuple, set, frozenset)
"""What may stand for a list, as msgspec has it."""
MAX_PROBLEMS = 100
"""How many wrong elements of one list are named."""


def _is_arrayed(x: object) -> TypeGuard[Collection[object]]:
    return isinstance(x, ARRAYS)


def _each(kind: type[Collection[object]], test: Test) -> Test:
    def fits(x: Iterable[object]) -> bool:
        return isinstance(x, kind) and all(map(test, x))

    return fits


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
    def space(self) -> Space[object]:
        """A `Sequence`, whose samples are cut or filled."""
        return Sequence(self.item.space)

    def parts(self) -> Iterable[FieldType]:
        """The element's."""
        return (self.item,)

    def validate(self, x: object, path: str) -> list[Violation]:
        """Every element, or the type and length."""
        if not _is_arrayed(x) or not isinstance(x, self.type):
            return [Violation(path, f"a {self.kind}", shorten(x))]
        return self._wrong_length(x, path) or _first(
            one for i, part in enumerate(x) for one in self.item.validate(part, f"{path}[{i}]")
        )

    def _wrong_length(self, x: Sized, path: str) -> list[Violation]:
        if len(x) >= self.least and (self.most is None or len(x) <= self.most):
            return []
        number = f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"
        return [Violation(path, f"{self.least if self.least == self.most else number} elements", f"{len(x)}")]

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """Every element; any kind of list will do."""
        if not _is_arrayed(x):
            problems.append(Violation(path, f"a {self.kind}", shorten(x)))
            return x
        before, found = len(problems), list[object]()
        problems += self._wrong_length(x, path)
        for i, part in enumerate(x):
            found.append(self.item.coerce(part, f"{path}[{i}]", problems))
            if len(problems) - before >= MAX_PROBLEMS:
                break
        try:
            return x if len(problems) > before else self.type(found)
        except TypeError as error:  # an element of a set that has no hash
            problems.append(Violation(path, f"a {self.kind}", f"{shorten(x)}: {error}"))
            return x

    def quick(self, x: object) -> object:
        """Any kind of list of what the elements can be."""
        if not _is_arrayed(x) or self._wrong_length(x, ""):
            raise ValueError
        return self.type([self.item.quick(part) for part in x])

    @property
    def category(self) -> str | None:
        """A list of any kind."""
        return "array"

    def native(self, *, strict: bool) -> object:
        """The list of the element's type."""
        import msgspec

        item = self.item.native(strict=strict)
        kind = tuple[item, ...] if self.kind == "tuple" else GenericAlias(self.type, (item,))
        if not self.least and self.most is None:
            return kind
        return Annotated[kind, msgspec.Meta(min_length=self.least, max_length=self.most)]

    def retest(self, *, strict: bool) -> Test | None:
        """That the list is of its own type, and whatever its elements ask for."""
        kind, item = self.type, self.item.retest(strict=strict)
        if item is None:
            return (lambda x: isinstance(x, kind)) if strict else None
        return _each(kind, item)

    def finisher(self) -> Callable[[Iterable[object]], object] | None:
        """The elements finished."""
        kind, item = self.type, self.item.finisher()
        return None if item is None else lambda x: kind([item(part) for part in x])

    def read(self, x: Iterable[object]) -> object:
        """A tuple of the elements' values."""
        return tuple(self.item.read(part) for part in x)

    def build(self, value: tuple[object, ...]) -> object:
        """The elements in a list."""
        values = list(value[: self.most])
        values += [values[-1] if values else self.item.space.default()] * (self.least - len(values))
        return self.type(self.item.build(part) for part in values)

    def encode(self, x: Iterable[object], *, binary: bool) -> object:
        """A list."""
        item = self.item
        if isinstance(item, IntField | BoolField | StrField) or (binary and isinstance(item, FloatField)):
            return list(x)  # written as they are
        return [item.encode(part, binary=binary) for part in x]

    def json_schema(self) -> Mapping[str, object]:
        """An array, with its lengths where they are bounded."""
        schema: dict[str, object] = {"type": "array", "items": self.item.json_schema()}
        schema |= {"uniqueItems": True} if self.kind in ("set", "frozenset") else {}
        schema |= {"minItems": self.least} if self.least else {}
        return schema | ({} if self.most is None else {"maxItems": self.most})

    def arguments(self) -> list[object]:
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
    def space(self) -> Space[object]:
        """A `Sequence` of pairs."""
        return Sequence(Tuple((self.key.space, self.item.space)))

    def parts(self) -> Iterable[FieldType]:
        """Those of key and value."""
        return (self.key, self.item)

    def _wrong_length(self, x: Sized, path: str) -> list[Violation]:
        too_long = self.most is not None and len(x) > self.most
        return [Violation(path, f"at most {self.most} entries", f"{len(x)}")] if too_long else []

    def validate(self, x: object, path: str) -> list[Violation]:
        """Every key and value, or the type."""
        if not is_dict(x):
            return [Violation(path, "a dictionary", shorten(x))]
        return self._wrong_length(x, path) or _first(
            one
            for key, part in x.items()
            for one in (self.key.validate(key, f"{path} key") or self.item.validate(part, f'{path}["{key}"]'))
        )

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """Every key and value; any mapping will do, and text for a key that is a number."""
        if not is_mapping(x):
            problems.append(Violation(path, "a dictionary", shorten(x)))
            return x
        before, found = len(problems), dict[object, object]()
        problems += self._wrong_length(x, path)
        for key, part in x.items():
            one = self._key(key, f"{path} key", problems)
            value = self.item.coerce(part, f'{path}["{key}"]', problems)
            if len(problems) - before >= MAX_PROBLEMS:
                break
            if len(problems) == before:
                found[one] = value
        return x if len(problems) > before else found

    def _key(self, key: object, path: str, problems: list[Violation]) -> object:
        if isinstance(key, str) and not isinstance(self.key, StrField):
            number = _whole(key)
            if number is not None and self.key.validate(key, path):
                key = number
        return self.key.coerce(key, path, problems)

    def quick(self, x: object) -> object:
        """Any mapping of what keys and values can be."""
        if not is_mapping(x) or self._wrong_length(x, ""):
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

    def native(self, *, strict: bool) -> object:
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

        def test(x: object) -> bool:
            return is_dict(x) and all(map(key, x)) and (item is None or all(map(item, x.values())))

        return test

    def finisher(self) -> Callable[[Mapping[object, object]], object] | None:
        """The values finished."""
        item = self.item.finisher()
        if self.category is None or item is None:
            return super().finisher()
        return lambda x: {key: item(part) for key, part in x.items()}

    def read(self, x: Mapping[object, object]) -> object:
        """A tuple of pairs."""
        return tuple((self.key.read(key), self.item.read(part)) for key, part in x.items())

    def build(self, value: tuple[tuple[object, object], ...]) -> object:
        """A dictionary; of pairs with one key the last counts."""
        return {self.key.build(key): self.item.build(part) for key, part in value[: self.most]}

    def encode(self, x: Mapping[object, object], *, binary: bool) -> object:
        """An object."""
        if isinstance(self.key, StrField):
            return {key: self.item.encode(part, binary=binary) for key, part in x.items()}
        return {
            str(self.key.encode(key, binary=binary)): self.item.encode(part, binary=binary) for key, part in x.items()
        }

    def json_schema(self) -> Mapping[str, object]:
        """An object with any keys."""
        schema = {"type": "object", "additionalProperties": self.item.json_schema()}
        return schema | ({} if self.most is None else {"maxProperties": self.most})

    def arguments(self) -> list[object]:
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
    def space(self) -> Space[object]:
        """A `Tuple`."""
        return Tuple([one.space for one in self.items])

    def parts(self) -> Iterable[FieldType]:
        """Those of the places."""
        return self.items

    def validate(self, x: object, path: str) -> list[Violation]:
        """Every element, or the type and length."""
        if not is_tuple(x) or len(x) != len(self.items):
            return [Violation(path, f"a tuple of {len(self.items)}", shorten(x))]
        each = enumerate(zip(self.items, x, strict=True))
        return [one for i, (item, value) in each for one in item.validate(value, f"{path}[{i}]")]

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """Every element; any kind of list will do."""
        if not _is_arrayed(x) or len(x) != len(self.items):
            problems.append(Violation(path, f"a tuple of {len(self.items)}", shorten(x)))
            return x
        each = enumerate(zip(self.items, x, strict=True))
        return tuple([item.coerce(value, f"{path}[{i}]", problems) for i, (item, value) in each])

    def quick(self, x: object) -> object:
        """Any kind of list of what the elements can be."""
        if not _is_arrayed(x) or len(x) != len(self.items):
            raise ValueError
        return tuple([item.quick(value) for item, value in zip(self.items, x, strict=True)])

    @property
    def category(self) -> str | None:
        """A list of any kind."""
        return "array" if self.items else None

    def native(self, *, strict: bool) -> object:
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

    def finisher(self) -> Callable[[tuple[object, ...]], object] | None:
        """The elements finished."""
        finishers = [one.finisher() for one in self.items]
        if self.category is None or not any(finishers):
            return super().finisher()
        return lambda x: tuple([part if one is None else one(part) for one, part in zip(finishers, x, strict=True)])

    def read(self, x: tuple[object, ...]) -> object:
        """A tuple of the elements' values."""
        return tuple(item.read(value) for item, value in zip(self.items, x, strict=True))

    def build(self, value: tuple[object, ...]) -> object:
        """The elements in a tuple."""
        return tuple(item.build(one) for item, one in zip(self.items, value, strict=True))

    def encode(self, x: tuple[object, ...], *, binary: bool) -> object:
        """A list."""
        return [item.encode(value, binary=binary) for item, value in zip(self.items, x, strict=True)]

    def json_schema(self) -> dict[str, object]:
        """An array with a schema for each place."""
        schemas = [one.json_schema() for one in self.items]
        return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}

    def arguments(self) -> list[object]:
        """Those of the elements."""
        return [self.kind, [one.arguments() for one in self.items]]

    def __repr__(self) -> str:
        return f"a tuple of {len(self.items)}"


def _first(found: Iterable[Violation]) -> list[Violation]:
    return list(islice(found, MAX_PROBLEMS))


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
