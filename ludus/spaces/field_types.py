"""Field types: what a model's annotation says of a value, one class for each kind.

A field type answers three questions of a value: is it one (`validate`), can it be made one (`coerce`, which takes what
JSON or another class has in its place), and how is it written (`encode`). `native` says the same to msgspec, which does
the work wherever it can; the methods here decide, and explain, whenever msgspec refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ludus.errors import CodecError, InvalidValue, shorten
from ludus.spaces.scalar import SCALARS, Scalar
from ludus.spaces.space import ODD_ERRORS, Space, Violation

if TYPE_CHECKING:
    from ludus.spaces.record import Record

__all__ = ["FieldType", "SpaceField", "Test", "held_by"]

Test = Callable[[Any], bool]


class FieldType:
    """What a field may hold. What `read`, `build` and `encode` take is `Any` here, of which each type says more.

    >>> from ludus.spaces import Discrete
    >>> SpaceField(Discrete(9)).validate(12, "count")
    [Violation(path='count', expected='Discrete(9)', got='12')]
    """

    kind: str
    named: Space[object] | None = None
    """The space of numbers or arrays that an annotation names, or that was named in its place."""

    @cached_property
    def space(self) -> Space[object]:
        """The space that samples and flat forms come from; most records are only checked, and never make it."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, object]:
        # A copy, since `space` is made when it is first used: by another thread, perhaps, while this one copies.
        return vars(self).copy()

    def parts(self) -> Iterable[FieldType]:
        """The field types inside it."""
        return ()

    def walk(self) -> Iterator[FieldType]:
        """It and all inside it."""
        yield self
        for part in self.parts():
            yield from part.walk()

    def validate(self, x: object, path: str) -> list[Violation]:
        """Every reason why the value does not fit as it is."""
        raise NotImplementedError

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """The value that `x` stands for: itself, its plain form, or its like; what is wrong is added to `problems`."""
        problems += self.validate(x, path)
        return x

    def fits(self, x: object) -> bool:
        """Whether the value fits as it is."""
        return not self.validate(x, "")

    def fits_exactly(self, x: object) -> bool:
        """Whether it fits, and is of no other type that only stands for it: so unions tell their options apart."""
        return self.fits(x)

    def quick(self, x: object) -> object:
        """What `coerce` gives, of a value or its plain form, with no explanation: ValueError where it is neither."""
        if not self.fits(x):
            raise ValueError
        return x

    @property
    def category(self) -> str | None:
        """What msgspec tells options of a union apart by; None where it does not know the type, and leaves it to us."""
        return self.kind

    def native(self, *, strict: bool) -> object:
        """The type by which msgspec takes a value as it is when `strict`, else its plain form too.

        It may take more, which `retest` or `finisher` refuse; `Any` leaves all to them.
        """
        return Any

    def retest(self, *, strict: bool) -> Test | None:
        """What must hold beside `native`: of a value as it came when `strict`, and else of what msgspec made of it."""
        return self.fits if strict and self.category is None else None

    def finisher(self) -> Callable[[Any], object] | None:
        """What makes the value of what msgspec made of it, or raises; None where that is the value already."""
        return self.quick if self.category is None else None

    def read(self, x: Any) -> object:
        """The sampling space's value of a valid value."""
        return x

    def build(self, value: Any) -> object:
        """The value of a value of the sampling space."""
        return value

    def encode(self, x: Any, *, binary: bool) -> object:
        """Plain data, as the type itself would be written."""
        raise NotImplementedError

    def decode(self, data: object) -> object:
        """The value in plain data; raises CodecError."""
        problems: list[Violation] = []
        value = self.coerce(data, self.kind, problems)
        if problems:
            raise CodecError("; ".join(map(str, problems)))
        return value

    def json_schema(self) -> Mapping[str, object]:
        """The schema of the plain data."""
        return self.space.json_schema()

    def arguments(self) -> list[object]:
        """The field type as data: kind, then what it is made of."""
        return [self.kind]

    def __repr__(self) -> str:
        return self.kind


class SpaceField(FieldType):
    """A value of a space: a model inside another, data of no fixed form, a date, what `Annotated[T, space]` names."""

    kind = "value"

    def __init__(self, space: Space[object]) -> None:
        self.__dict__["space"] = space
        self.named = space if space.shape is not None else None

    def validate(self, x: object, path: str) -> list[Violation]:
        """As the space says."""
        return held_by(self.space, x, path)

    def coerce(self, x: object, path: str, problems: list[Violation]) -> object:
        """The value, or the one that is written so."""
        if self.record is not None:
            return self.record.coerce_fields(x, path, problems)
        try:
            return self.take(x, path)
        except (CodecError, InvalidValue):
            problems += self.validate(x, path) or [Violation(path, repr(self.space), shorten(x))]
            return x

    def take(self, x: object, path: str = "value") -> object:
        """The value in `x`, which may be one already; raises CodecError or InvalidValue."""
        if self.space.typed:
            return self.space.coerce(x, path)
        if type(x) not in (list, bytes, dict, str) and self.space.contains(x):
            return x
        return self.space.read(x, path)

    def fits(self, x: object) -> bool:
        """As the space says."""
        try:
            return self.space.contains(x)
        except ODD_ERRORS:
            return False

    def quick(self, x: object) -> object:
        """The value, or the one that is written so."""
        return self.take(x) if self.record is None else self.record.quick(x)

    @property
    def record(self) -> Record | None:
        """The space, where it is a record."""
        space: Any = self.space
        return space if hasattr(space, "coerce_fields") else None

    @property
    def category(self) -> str | None:
        """An object, of a record; text, which is how msgspec writes dates and their like."""
        if self.record is not None:
            return "dict"
        space = self.space
        if not isinstance(space, Scalar) or space.kind == "decimal":
            return None
        return "str" if (space.min_length, space.max_length) == (0, None) else None

    def native(self, *, strict: bool) -> object:
        """The record's own type, or the type itself where msgspec knows it, of plain data."""
        if self.category is None or strict:
            return Any
        if self.record is not None:
            return self.record.compiled.type
        return SCALARS[self.space.kind] if isinstance(self.space, Scalar) else Any

    def retest(self, *, strict: bool) -> Test | None:
        """That it is in the space."""
        if not strict:
            return None
        return self.space.contains if self.record is not None else self.fits

    def finisher(self) -> Callable[[object], object] | None:
        """Makes a record of what msgspec made of its fields, and takes what msgspec does not know."""
        if self.record is None:
            return super().finisher()
        made, read = self.record.compiled.type, self.record.compiled.read
        return lambda x: read(x) if type(x) is made else x

    def encode(self, x: object, *, binary: bool) -> object:
        """As the space writes it."""
        return self.space.encode(x, binary=binary)

    def arguments(self) -> list[object]:
        """The space."""
        return [self.kind, self.space]

    def __repr__(self) -> str:
        return repr(self.space)


def held_by(space: Space[object], x: object, path: str) -> list[Violation]:
    """The violations of a space, whose own code may stumble over what it did not expect."""
    try:
        return space.validate(x, path)
    except ODD_ERRORS as error:
        return [Violation(path, repr(space), f"{shorten(x)} ({type(error).__name__}: {error})")]
