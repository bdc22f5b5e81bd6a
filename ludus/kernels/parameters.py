"""Parameters: checked against the fields of a `Params` class, so that rules meet only the types they expect."""

from collections.abc import Callable, Mapping
from inspect import get_annotations
from typing import NamedTuple, TypeVar

import numpy as np

from ludus.errors import InvalidArgument, InvalidType, listing, shorten

__all__ = ["coerce_parameter", "coerce_parameters"]

EXPECTED = {"float": "a number", "int": "an integer", "bool": "True or False", "tuple": "a tuple"}
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
    if kind == "bool" and isinstance(value, bool | np.bool_):
        return bool(value)
    if kind == "int" and isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if (
        kind == "float"
        and isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and value == value
    ):
        return float(value)
    if kind == "tuple" and isinstance(value, tuple | list):
        return tuple(value)
    if isinstance(kind, str) and kind in EXPECTED:
        raise InvalidType(f"{owner} {name}: expected {EXPECTED[kind]}, got {shorten(value)}")
    return value
