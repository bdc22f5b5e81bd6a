"""Parameters: checked against the fields of a `Params` class, so that rules meet only the types they expect."""

from collections.abc import Callable, Mapping
from inspect import get_annotations
from typing import NamedTuple, TypeGuard, TypeVar

import numpy as np

from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.spaces.kinds import is_integer, is_list_or_tuple

__all__ = ["coerce_parameter", "coerce_parameters"]

EXPECTED = {"float": "a number", "int": "an integer", "bool": "True or False", "tuple": "a tuple"}
BOOLS: tuple[type[object], ...] = (bool, np.bool_)
NUMBERS: tuple[type[object], ...] = (int, float, np.number)
Params = TypeVar("Params", bound=NamedTuple)


def coerce_parameters(owner: str, params: type[Params], given: Mapping[str, object]) -> Params:
    """The parameters with those in `given` instead of their defaults."""
    known = params._fields
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InvalidArgument(f"{owner}: expected parameters out of {listing(known)}, got {listing(unknown)}")
    return _created(params, {name: coerce_parameter(owner, params, name, value) for name, value in given.items()})


def _created(kind: Callable[..., Params], fields: Mapping[str, object]) -> Params:
    return kind(**fields)


def _is_number(value: object) -> TypeGuard[float | np.integer | np.floating]:
    return isinstance(value, NUMBERS)


def coerce_parameter(owner: str, params: type[object], name: str, value: object) -> object:
    """`value` as the type that `params` annotates `name` with; raises InvalidType where it is none.

    >>> from typing import NamedTuple
    >>> class Params(NamedTuple):
    ...     length: float = 0.5
    >>> coerce_parameter("Rod", Params, "length", 2)
    2.0
    >>> coerce_parameter("Rod", Params, "length", "long")
    Traceback (most recent call last):
    ludus.errors.InvalidType: Rod length: expected a number, got 'long'
    """
    annotation = get_annotations(params).get(name)
    kind = getattr(annotation, "__name__", annotation)  # text where annotations are not evaluated
    if kind == "bool" and isinstance(value, BOOLS):
        return bool(value)
    if kind == "int" and is_integer(value) and not isinstance(value, bool):
        return int(value)
    if kind == "float" and _is_number(value) and not isinstance(value, bool) and value == value:
        return float(value)
    if kind == "tuple" and is_list_or_tuple(value):
        return tuple(value)
    if isinstance(kind, str) and kind in EXPECTED:
        raise InvalidType(f"{owner} {name}: expected {EXPECTED[kind]}, got {shorten(value)}")
    return value
