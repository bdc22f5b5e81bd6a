"""From annotations to field types: what a type, and the constraints on it, say about a value."""

import types
from collections.abc import Callable, Mapping
from collections.abc import Sequence as AbstractSequence
from copy import deepcopy
from enum import Enum
from math import ceil, floor, inf, nextafter
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin
from typing import Union as TypingUnion

from ludus.errors import InvalidSpace, listing, shorten
from ludus.spaces.container_fields import DictField, ListField, TupleField
from ludus.spaces.field_types import FieldType, SpaceField
from ludus.spaces.json import Json
from ludus.spaces.kinds import is_list
from ludus.spaces.models import is_model
from ludus.spaces.nan_field import NanField
from ludus.spaces.scalar import SCALARS, Scalar
from ludus.spaces.scalar_fields import BoolField, ChoiceField, FloatField, IntField, NoneField, StrField
from ludus.spaces.space import Space, is_space, known_space
from ludus.spaces.union_field import UnionField

__all__ = ["ALONE", "WITH_NAN", "Within", "field_type"]

_BOUNDS = ("ge", "le", "gt", "lt", "min_length", "max_length")
_LENGTHS = ("min_length", "max_length")
Limits = dict[str, Any]
"""What constraints on a type ask for, by their names: numbers, of whichever type the author wrote."""
_NAMES = {kind: name for name, kind in SCALARS.items()}
_DATA: dict[object, str] = {Any: "any", object: "any", dict: "object", list: "array"}
"""Types that leave the form of the data open."""
_NUMBERS_AND_TEXT: dict[object, type[IntField | FloatField | StrField]] = {
    int: IntField,
    float: FloatField,
    str: StrField,
}
_LISTS: dict[object, str] = {
    list: "list",
    set: "set",
    frozenset: "frozenset",
    AbstractSequence: "list",
}


class Within(NamedTuple):
    """Where an annotation stands."""

    models: tuple[type, ...] = ()
    """Those that it is inside of."""
    nan: bool = False
    """Whether a float without bounds may be NaN there."""


ALONE, WITH_NAN = Within(), Within(nan=True)


def field_type(
    annotation: object, metadata: tuple[object, ...] = (), path: str = "value", within: Within = ALONE
) -> FieldType:
    """The field type of an annotation; raises InvalidSpace, naming the field, for types that have none.

    >>> field_type(int | None)
    int or None
    """
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return field_type(inner, (*more, *metadata), path, within)
    space = next(filter(is_space, metadata), None)
    if space is not None:
        return _named(annotation, space, path)
    try:
        return _of_type(annotation, metadata, path, within)
    except InvalidSpace as error:
        if str(error).startswith(path.partition(".")[0]):
            raise
        raise InvalidSpace(f"{path}: {error}") from error


def _of_type(annotation: object, metadata: tuple[object, ...], path: str, within: Within) -> FieldType:
    if get_origin(annotation) in (TypingUnion, types.UnionType):  # what is said of a union is said of each of its types
        return UnionField([_option(one, metadata, path, within) for one in get_args(annotation)])
    limits = _constraints(metadata, path)
    if annotation in (None, type(None)):
        return NoneField()
    if annotation is float and within.nan and not limits and not any(map(_is_finite_only, metadata)):
        return NanField()
    if isinstance(annotation, type) and annotation in _SCALARS:
        return _SCALARS[annotation](limits)
    found = _container(annotation, limits, path, within)
    if found is not None:
        return found
    if limits:
        raise InvalidSpace(
            f"{path}: expected constraints on numbers, text, bytes, lists or dictionaries, "
            f"got {listing(limits)} on {shorten(annotation)}"
        )
    return _unbounded(annotation, path, within)


def _option(annotation: object, metadata: tuple[object, ...], path: str, within: Within) -> FieldType:
    """One of a union's types; what is said of the union and makes no sense of None is not said of it."""
    return NoneField() if annotation in (None, type(None)) else field_type(annotation, metadata, path, within)


def _unbounded(annotation: object, path: str, within: Within) -> FieldType:
    origin, args = get_origin(annotation), get_args(annotation)
    if is_model(annotation):
        if annotation in within.models:
            raise InvalidSpace(f"{path}: expected a type of bounded depth, got {annotation.__name__} inside itself")
        return SpaceField(known_space("Record")(annotation, within=within))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ChoiceField(annotation, annotation)
    if isinstance(annotation, type) and annotation in _NAMES:
        return SpaceField(Scalar(_NAMES[annotation]))
    if _hashable(annotation) and annotation in _DATA:
        return SpaceField(Json(_DATA[annotation]))
    if origin is Literal:
        return ChoiceField(args)
    if origin is tuple and args:
        return TupleField([field_type(one, (), f"{path}[{i}]", within) for i, one in enumerate(args)])
    raise InvalidSpace(
        f"{path}: expected bool, int, float, str, bytes, None, Literal, an enum, a date or time, UUID, Decimal, Any, "
        f"list, tuple, set, dict, a union, a model or Annotated[type, space], got {shorten(annotation)}; "
        "name its space, as in Annotated[np.ndarray, Box(…)]"
    )


def _container(annotation: object, limits: Limits, path: str, within: Within) -> FieldType | None:
    """Lists and dictionaries, which may have lengths; None of any other type."""
    origin, args = get_origin(annotation), get_args(annotation)
    lengths = int(limits.get("min_length", 0)), limits.get("max_length")
    if not args or any(name not in _LENGTHS for name in limits):
        return None
    if origin in _LISTS or (origin is tuple and args[1:] == (Ellipsis,)):
        return ListField(_LISTS.get(origin, "tuple"), field_type(args[0], (), f"{path}[]", within), *lengths)
    if origin not in (dict, Mapping):
        return None
    if args == (str, Any) and not limits:
        return SpaceField(Json("object"))
    return DictField(
        field_type(args[0], (), f"{path} key", within), field_type(args[1], (), f"{path}[]", within), *lengths
    )


def _hashable(annotation: object) -> bool:
    try:
        hash(annotation)
    except TypeError:
        return False
    return True


def _named(annotation: object, space: Space[object], path: str) -> FieldType:
    """A space named outright: plain Python scalars are still read and built as such."""
    own = deepcopy(space)  # the one in the annotation is shared by all, its generator included
    make = _NUMBERS_AND_TEXT.get(annotation)
    if make is None or not isinstance(annotation, type):
        return BoolField() if annotation is bool and space.shape == () else SpaceField(own)
    if space.shape:
        raise InvalidSpace(
            f"{path}: expected a space of single values for {annotation.__name__}, got {space!r}; "
            "give it shape=(), or annotate np.ndarray"
        )
    return make(named=own)


def _constraints(metadata: tuple[object, ...], path: str) -> Limits:
    """`ge`, `le`, `gt`, `lt`, `min_length` and `max_length`, whichever library they were said with."""
    found: Limits = {}
    for one in metadata:
        inner = getattr(one, "metadata", None)  # a Pydantic `Field(…)` inside Annotated keeps them one level down
        found |= _constraints(tuple(inner), path) if is_list(inner) else {}
        for name in (*_BOUNDS, "pattern", "multiple_of"):
            value = getattr(one, name, None)
            if value is not None:
                found[name] = value
    strange = [name for name in found if name not in _BOUNDS]
    if strange:
        raise InvalidSpace(
            f"{path}: expected {listing(_BOUNDS)} as constraints, got {listing(strange)}, which no space can sample; "
            "name a space, as in Annotated[str, Text(…)]"
        )
    return found


def _is_finite_only(said: object) -> bool:
    """Whether Pydantic was told so."""
    return getattr(said, "allow_inf_nan", None) is False


def _bool(metadata: object) -> FieldType:
    del metadata
    return BoolField()


def _int(limits: Limits) -> FieldType:
    low = ceil(limits["ge"]) if "ge" in limits else floor(limits["gt"]) + 1 if "gt" in limits else None
    high = floor(limits["le"]) if "le" in limits else ceil(limits["lt"]) - 1 if "lt" in limits else None
    return IntField(low, high)


def _float(limits: Limits) -> FieldType:
    low = limits.get("ge", nextafter(limits["gt"], inf) if "gt" in limits else -inf)
    high = limits.get("le", nextafter(limits["lt"], -inf) if "lt" in limits else inf)
    return FloatField(low, high)


def _str(limits: Limits) -> FieldType:
    return StrField(int(limits.get("min_length", 0)), limits.get("max_length"))


def _bytes(limits: Limits) -> FieldType:
    lengths = {name: one for name, one in limits.items() if name in _LENGTHS}
    return SpaceField(Scalar("bytes", **lengths))


_SCALARS: dict[object, Callable[[Limits], FieldType]] = {
    bool: _bool,
    int: _int,
    float: _float,
    str: _str,
    bytes: _bytes,
}
