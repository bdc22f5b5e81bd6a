"""`UnionField`: `A | B`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any, SupportsInt, Union

from ludus.errors import InvalidSpace, shorten
from ludus.spaces.container_fields import DictField, ListField, TupleField
from ludus.spaces.field_types import FieldType, SpaceField, Test
from ludus.spaces.one_of import OneOf
from ludus.spaces.space import Space, Violation

__all__ = ["UnionField"]


class UnionField(FieldType):
    """`A | B`; written as what it is, and read as the option of its own type, or else the first that takes it."""

    kind = "union"

    def __init__(self, options: Iterable[FieldType]) -> None:
        self.options = list(options)
        if not self.options:
            raise InvalidSpace("expected at least one option of a union, got none")

    @cached_property
    def space(self) -> Space[object]:
        """`OneOf` the options."""
        return OneOf([option.space for option in self.options])

    def parts(self) -> Iterable[FieldType]:
        """Those of the options."""
        return self.options

    def _option(self, x: object) -> int | None:
        """The option that a value is one of: of its own type first."""
        for place, option in enumerate(self.options):
            if option.fits_exactly(x):
                return place
        return next((place for place, option in enumerate(self.options) if not option.validate(x, "")), None)

    def validate(self, x: object, path: str) -> list[Violation]:
        """The violations of the option that comes nearest, where none fits."""
        return [] if self.fits(x) else self._nearest([one.validate(x, path) for one in self.options], x, path)

    def _nearest(self, found: list[list[Violation]], x: object, path: str) -> list[Violation]:
        inner = [one for one in found if any(violation.path != path for violation in one)]
        if inner:
            return min(inner, key=len)
        return [Violation(path, " or ".join(one[0].expected for one in found), shorten(x))]

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
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

    def quick(self, x: object) -> object:
        """The value of its own type, of the model of its class's name, or of the first option that takes it so."""
        for option in self.options:
            if option.fits_exactly(x):
                return x
        name = type(x).__name__
        for option in sorted(self.options, key=lambda one: (_model_name(one) != name, not _is_base(one, x))):
            with suppress(Exception):
                return option.quick(x)
        raise ValueError

    def fits(self, x: object) -> bool:
        """Whether one of the options does."""
        return self._option(x) is not None

    def fits_exactly(self, x: object) -> bool:
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

    def native(self, *, strict: bool) -> object:
        """The union, where msgspec can tell its options apart as we do."""
        if not self.is_native:
            return Any
        return Union[tuple(option.native(strict=strict) for option in self.options)]  # noqa: UP007

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

    def finisher(self) -> Callable[[object], object] | None:
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

    def read(self, x: object) -> object:
        """The number of the option that fits, and its value."""
        place = self._option(x)
        if place is None:
            raise InvalidSpace(f"expected a value of the union, got {shorten(x)}")
        return place, self.options[place].read(x)

    def build(self, value: tuple[SupportsInt, object]) -> object:
        """The value of that option."""
        return self.options[int(value[0])].build(value[1])

    def encode(self, x: object, *, binary: bool) -> object:
        """The value, as its option writes it."""
        if x is None:
            return None
        return self.options[self._option(x) or 0].encode(x, binary=binary)

    def json_schema(self) -> dict[str, object]:
        """Any of the options."""
        return {"anyOf": [option.json_schema() for option in self.options]}

    def arguments(self) -> list[object]:
        """Those of the options."""
        return [self.kind, [option.arguments() for option in self.options]]

    def __repr__(self) -> str:
        return " or ".join(map(repr, self.options))


BASES = {"int": int, "float": float, "str": str, "bool": bool}


def _is_base(option: FieldType, x: object) -> bool:
    """Whether a value is of a class derived from the option's own: an enum of integers is an int first."""
    base = BASES.get(option.kind)
    return base is not None and isinstance(x, base) and not (isinstance(x, bool) and base is int)


def _model_name(field: FieldType) -> str | None:
    """The name of the model that a field holds, where it holds one."""
    return getattr(field.space, "name", None) if isinstance(field, SpaceField) else None


def _made_types(option: FieldType) -> tuple[object, ...]:
    """The types of what msgspec makes of an option; `object` where it leaves it as it came."""
    if isinstance(option, ListField):
        return (option.type,)
    if isinstance(option, DictField | TupleField):
        return (dict,) if isinstance(option, DictField) else (tuple,)
    if isinstance(option, SpaceField) and option.record is not None:
        return (option.record.compiled.type,)
    return (object,)
