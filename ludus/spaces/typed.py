"""From types to lenses: what an annotation, and the constraints on it, say about a value."""

import types
from copy import deepcopy
from dataclasses import MISSING, is_dataclass
from dataclasses import fields as dataclass_fields
from enum import Enum
from math import ceil, floor
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints
from typing import Union as TypingUnion

import numpy as np

from ludus.errors import InvalidSpace, InvalidType, listing, shorten
from ludus.spaces.box import Box
from ludus.spaces.discrete import Discrete
from ludus.spaces.lens import Choice, Items, Lens, Mapped, Scalar, Several, Union, text_lens
from ludus.spaces.space import Space, known_space
from ludus.spaces.text import Text

__all__ = ["Field", "is_model", "lens_of", "model_fields"]

_BOUNDS = ("ge", "le", "gt", "lt", "min_length", "max_length")
MOST_CHOICES = 2**16
"""Bounded integers with at most this many values become `Discrete`; wider ones an integer `Box`."""


def is_model(kind: Any) -> bool:
    """Whether `kind` is a dataclass, msgspec Struct or Pydantic model class."""
    return isinstance(kind, type) and (
        is_dataclass(kind) or hasattr(kind, "__struct_fields__") or hasattr(kind, "model_fields")
    )


class Field(NamedTuple):
    """What a model says about one of its fields."""

    annotation: Any
    metadata: tuple[Any, ...]
    required: bool
    keyword: str
    """What the constructor calls it."""


def model_fields(model: Any) -> dict[str, Field]:
    """The fields of a model that its constructor takes."""
    if not is_model(model):
        raise InvalidType(f"Record: expected a dataclass, msgspec Struct or Pydantic model class, got {shorten(model)}")
    pydantic: Any = getattr(model, "__pydantic_fields__", None)
    if pydantic is not None:
        return {name: _pydantic_field(name, one) for name, one in pydantic.items() if one.init is not False}
    try:
        hints = get_type_hints(model, include_extras=True)
    except NameError as error:
        raise InvalidSpace(f"Record({model.__name__}): expected annotations that resolve, got {error}") from error
    if hasattr(model, "__struct_fields__"):
        from msgspec import structs  # here already, or there would be no Struct

        return {one.name: Field(hints[one.name], (), one.required, one.name) for one in structs.fields(model)}
    plain = [one for one in dataclass_fields(model) if one.init]
    required = {one.name: one.default is MISSING and one.default_factory is MISSING for one in plain}
    return {name: Field(hints[name], (), needed, name) for name, needed in required.items()}


def _pydantic_field(name: str, info: Any) -> Field:
    keyword = info.validation_alias if isinstance(info.validation_alias, str) else name
    return Field(info.annotation, tuple(info.metadata), info.is_required(), keyword)


def lens_of(annotation: Any, metadata: tuple[Any, ...] = (), path: str = "value", seen: tuple[Any, ...] = ()) -> Lens:
    """The lens of an annotation; raises InvalidSpace, naming the field, for types that have none."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return lens_of(inner, (*more, *metadata), path, seen)
    space = next((one for one in metadata if isinstance(one, Space)), None)
    if space is not None:
        return _named_space(annotation, space, path)
    if annotation is None or (isinstance(annotation, type) and annotation in _SCALARS):  # others may have no hash
        return _scalar(annotation, _constraints(metadata, path), path)
    if is_model(annotation):
        if annotation in seen:
            raise InvalidSpace(f"{path}: expected a type of bounded depth, got {annotation.__name__} inside itself")
        return Lens(known_space("Record")(annotation, seen=seen))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Choice(annotation)
    return _container(annotation, metadata, path, seen)


def _container(annotation: Any, metadata: tuple[Any, ...], path: str, seen: tuple[Any, ...]) -> Lens:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (TypingUnion, types.UnionType):  # what is said of a union is said of each of its types
        return Union([lens_of(one, metadata, path, seen) for one in args])
    limits = _constraints(metadata, path)
    if args and (origin is list or (origin is tuple and args[1:] == (Ellipsis,))):
        item = lens_of(args[0], (), f"{path}[]", seen)
        return Items(origin.__name__, item, limits.get("min_length", 0), limits.get("max_length"))
    if limits:
        raise InvalidSpace(
            f"{path}: expected constraints on numbers, text, lists or tuple[T, ...], "
            f"got {listing(limits)} on {shorten(annotation)}"
        )
    if origin is Literal:
        return Choice(args)
    if origin is tuple and args:
        return Several([lens_of(one, (), f"{path}[{i}]", seen) for i, one in enumerate(args)])
    if origin is dict and args and args[0] is str:
        return Mapped(text_lens(), lens_of(args[1], (), f"{path}[]", seen))
    raise InvalidSpace(
        f"{path}: expected bool, int, float, str, None, Literal, an enum, list, tuple, dict[str, …], a union, a model "
        f"or Annotated[type, space], got {shorten(annotation)}; name its space, as in Annotated[np.ndarray, Box(…)]"
    )


def _named_space(annotation: Any, space: Space[Any], path: str) -> Lens:
    """A space named outright: plain Python scalars are still read and built as such."""
    name = {bool: "bool", int: "int", float: "float", str: "str"}.get(annotation)
    if name and space.shape:
        raise InvalidSpace(
            f"{path}: expected a space of single values for {name}, got {space!r}; "
            "give it shape=(), or annotate np.ndarray"
        )
    own = deepcopy(space)  # the one in the annotation is shared by all, its generator included
    return Scalar(name, own) if name else Lens(own)


def _constraints(metadata: tuple[Any, ...], path: str) -> dict[str, Any]:
    """`ge`, `le`, `gt`, `lt`, `min_length` and `max_length`, whichever library they were said with."""
    found: dict[str, Any] = {}
    for one in metadata:
        inner = getattr(one, "metadata", None)  # a Pydantic `Field(…)` inside Annotated keeps them one level down
        found |= _constraints(tuple(inner), path) if isinstance(inner, list) else {}
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


def _scalar(annotation: Any, limits: dict[str, Any], path: str) -> Lens:
    try:
        return _SCALARS[annotation](limits)
    except InvalidSpace as error:
        raise InvalidSpace(f"{path}: {error}") from error


def _int(limits: dict[str, Any]) -> Lens:
    low = ceil(limits["ge"]) if "ge" in limits else floor(limits["gt"]) + 1 if "gt" in limits else None
    high = floor(limits["le"]) if "le" in limits else ceil(limits["lt"]) - 1 if "lt" in limits else None
    if low is not None and high is not None and high - low < MOST_CHOICES:
        return Scalar("int", Discrete(high - low + 1, start=low))
    ends = -np.inf if low is None else low, np.inf if high is None else high
    return Scalar("int", Box(*ends, shape=(), dtype=np.int64))


def _float(limits: dict[str, Any]) -> Lens:
    low = limits.get("ge", float(np.nextafter(limits["gt"], np.inf)) if "gt" in limits else -np.inf)
    high = limits.get("le", float(np.nextafter(limits["lt"], -np.inf)) if "lt" in limits else np.inf)
    return Scalar("float", Box(float(low), float(high), shape=(), dtype=np.float64))


def _str(limits: dict[str, Any]) -> Lens:
    if not limits:
        return text_lens()
    most = int(limits.get("max_length", 65_536))
    return Scalar("str", Text(most, min_length=int(limits.get("min_length", 0)), charset=None))


_SCALARS: dict[Any, Any] = {
    bool: lambda _: Scalar("bool", Discrete(2)),
    int: _int,
    float: _float,
    str: _str,
    None: lambda _: Scalar("none", Discrete(1)),
    type(None): lambda _: Scalar("none", Discrete(1)),
}
