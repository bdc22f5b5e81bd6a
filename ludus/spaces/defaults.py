"""Defaults of a record's fields: as the model makes them, and as data that travels."""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

from ludus.errors import CodecError, InvalidSpace, shorten
from ludus.spaces.field_types import FieldType
from ludus.spaces.kinds import is_list
from ludus.spaces.models import NO_DEFAULT, ModelField, is_shareable
from ludus.spaces.scalar_fields import NoneField
from ludus.spaces.space import Violation, same_data
from ludus.spaces.union_field import UnionField

__all__ = ["Default", "described_default", "model_default"]


def nothing() -> object:
    """What stands for a default that only the model itself, which is elsewhere, can make."""
    raise InvalidSpace("expected a value for the field, got none; its default is made by the model itself")


class Default(NamedTuple):
    """How a field that need not be given is filled in."""

    make: Callable[[], object]
    data: object
    """The default as plain data; `NO_DEFAULT` where it is another each time, so that only the model can make it."""

    @property
    def maker(self) -> Callable[[], object] | None:
        """What makes it, where that can be done here."""
        return None if self.make is nothing else self.make

    @property
    def described(self) -> list[object] | None:
        """It in a description: as data, or None where it is another each time."""
        return None if self.data is NO_DEFAULT else [self.data]


def model_default(fields: dict[str, FieldType], name: str, field: ModelField) -> Default | None:
    """The default of a field of a model; None where it has none, or one that is no value of the field."""
    try:
        value = field.make_default()
    except Exception:  # a factory that only works where its author meant it to
        return None
    if value is NO_DEFAULT:
        return None
    if value is None and not fields[name].fits(None):  # `x: int = None` has always meant `int | None`
        fields[name] = UnionField([*(_options(fields[name])), NoneField()])
    return _checked(fields[name], value, field.make_default if field.factory else None)


def _options(field: FieldType) -> list[FieldType]:
    return field.options if isinstance(field, UnionField) else [field]


def _checked(field: FieldType, value: object, factory: Callable[[], object] | None) -> Default | None:
    """The default that is that value, or is made by the factory; None where it does not fit."""
    problems: list[Violation] = []
    value = value if field.fits(value) else field.coerce(value, "default", problems)
    if problems:
        return None
    data = field.encode(value, binary=False)
    if factory is not None:
        varies = not same_data(data, _again(field, factory))
        return Default(factory, NO_DEFAULT if varies else data)
    return Default(lambda: value if is_shareable(value) else deepcopy(value), data)


def _again(field: FieldType, factory: Callable[[], object]) -> object:
    try:
        return field.encode(factory(), binary=False)
    except Exception:  # it gives now this and now that
        return NO_DEFAULT


def described_default(label: str, field: FieldType, described: object) -> Default:
    """The default in a description, held to its field."""
    if described is None:
        return Default(nothing, NO_DEFAULT)
    if not is_list(described) or len(described) != 1:
        raise CodecError(f"{label}: expected a list of one default, or of none, got {shorten(described)}")
    try:
        found = _checked(field, field.decode(described[0]), None)
    except CodecError as error:
        raise CodecError(f"{label}: expected a default that fits, got {shorten(described[0])}: {error}") from error
    if found is None:
        raise CodecError(f"{label}: expected a default that fits, got {shorten(described[0])}")
    return found
