"""Models of an OpenEnv class: which ones its actions, observations and state have, and the spaces that they are."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from ludus.errors import InvalidAction, InvalidType, LudusError, shorten
from ludus.spaces import Record, Space
from ludus.spaces.annotations import ALONE, WITH_NAN, field_type
from ludus.spaces.json import Json
from ludus.spaces.kinds import class_of, is_mapping
from ludus.spaces.models import is_model

__all__ = ["Models", "data_of", "instance_of", "models_of", "schema_of", "space_of_model"]


class Models(NamedTuple):
    """The classes of an environment's values; None where nothing says which."""

    action: type | None = None
    observation: type | None = None
    state: type | None = None
    reset_observation: type | None = None


def models_of(kind: type) -> Models:
    """What a class says by its type arguments, else by the annotations of `step`, `reset` and `state`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Move:
    ...     column: int
    >>> class Game:
    ...     def step(self, action: Move): ...
    >>> models_of(Game).action.__name__
    'Move'
    """
    arguments = _type_arguments(kind)
    steps, resets = _hints(kind, "step"), _hints(kind, "reset")
    shown = _hints_of(getattr(inspect.getattr_static(kind, "state", None), "fget", None))
    action = next((one for name, one in steps.items() if name != "return"), None)
    told = (action, steps.get("return"), shown.get("return"), resets.get("return"))
    found = [_model(one) for one in told]
    generic = [*map(_model, arguments[:3]), None]
    return Models(*(mine or theirs for mine, theirs in zip(generic, found, strict=False)))


def _type_arguments(kind: type) -> tuple[Any, ...]:
    for base in (one for cls in kind.__mro__ for one in getattr(cls, "__orig_bases__", ())):
        arguments = get_args(base)
        if len(arguments) >= 2 and not any(isinstance(one, TypeVar) for one in arguments):
            return (*arguments, None, None, None)[:3]
    return (None, None, None)


def _hints(kind: type, name: str) -> dict[str, Any]:
    return _hints_of(getattr(kind, name, None))


def _hints_of(function: Any) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception:  # annotations that do not resolve say nothing
        return {}


def _model(found: Any) -> type | None:
    return found if is_model(found) else None


def space_of_model(model: type[Any] | None, *, observed: bool = False) -> Space[Any]:
    """A `Record` of the model, where every field has a space and JSON of its own would say just what they do.

    Else the objects that its schema describes: a model that takes fields of any name, keeps the values of enums in
    place of their members, or holds bytes, which Pydantic writes as text. So are `observed` ones that compute fields,
    leave some out, or write them in a way of their own; their floats without bounds may be NaN, as for Pydantic.
    """
    if model is None:
        return Json("object")
    within = list(_models_within(model, set()))
    if any(map(_holds_other, within)) or (observed and any(map(_writes_other, within))):
        return Json("object", schema_of(model))
    try:
        return Record(model, spaces=_patterned(model), within=WITH_NAN if observed else ALONE)
    except LudusError:
        return Json("object", schema_of(model))


def _models_within(kind: Any, seen: set[Any]) -> Iterator[Any]:
    """A model, those that its fields name, and, where one does, `bytes` and Pydantic's serializers."""
    for one in get_args(kind):
        yield from _models_within(one, seen)
    if _is_serializer(kind):
        yield kind
        return
    fields: dict[str, Any] | None = getattr(kind, "__pydantic_fields__", None)
    if kind is not bytes and (fields is None or kind in seen):
        return
    seen.add(kind)
    yield kind
    for field in (fields or {}).values():
        yield from _models_within(field.annotation, seen)
        yield from filter(_is_serializer, field.metadata)


def _is_serializer(said: object) -> bool:
    """Whether it is a `PlainSerializer` or `WrapSerializer`, as annotations have them."""
    return hasattr(said, "when_used") and callable(getattr(said, "func", None))


def _holds_other(kind: Any) -> bool:
    """Whether values are not those that the annotations of the fields say."""
    if kind is bytes:
        return True
    config: Mapping[str, Any] = getattr(kind, "model_config", {})
    return config.get("extra") == "allow" or bool(config.get("use_enum_values"))


def _writes_other(kind: Any) -> bool:
    """Whether Pydantic writes something else than the values of the fields."""
    if _is_serializer(kind):
        return True
    own = kind.__pydantic_decorators__
    written = own.computed_fields or own.field_serializers or own.model_serializers
    return bool(written) or any(one.exclude for one in kind.__pydantic_fields__.values())


def _patterned(model: Any) -> dict[str, Space[Any]]:
    """Fields of text with a pattern, as any text: no space samples a pattern, and the model itself checks it."""
    fields: Any = getattr(model, "__pydantic_fields__", {})
    return {
        name: field_type(str, (), name).space
        for name, one in fields.items()
        if one.annotation is str and any(getattr(rule, "pattern", None) is not None for rule in one.metadata)
    }


def schema_of(model: type[Any] | None) -> dict[str, Any] | None:
    """The JSON schema that the model itself tells, or its record."""
    told: Any = getattr(model, "model_json_schema", None)
    if told is not None:
        return told()
    return None if model is None else Record(model).json_schema()


def instance_of(model: type | None, value: Any) -> Any:
    """The author's own instance of what was given: an object of the fields, or a dictionary of them."""
    if model is None or isinstance(value, model):
        return value
    data: Mapping[str, Any] = value if is_mapping(value) else data_of(value)
    validate: Any = getattr(model, "model_validate", None)
    try:
        return model(**data) if validate is None else validate(dict(data))
    except (TypeError, ValueError) as error:
        raise InvalidAction(
            f"action: expected the fields of {model.__name__}, got {shorten(value)}: {error}"
        ) from error


@cache
def _written() -> Callable[..., Any]:
    """What writes values of whatever type as JSON has them."""
    from pydantic import ConfigDict, TypeAdapter  # here already, or there would be no model to write

    return TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants")).dump_python


def data_of(value: Any) -> dict[str, Any]:
    """The fields of an object, as JSON has them.

    A Pydantic model writes itself first, and JSON what it wrote, as at OpenEnv's server: serializers for JSON alone and
    formats of a model's configuration are not asked there.
    """
    dump: Any = getattr(value, "model_dump", None)
    if dump is not None:
        if hasattr(class_of(value), "__pydantic_fields__"):
            with suppress(ValueError):  # classes that only the model knows how to write
                return _written()(dump(), mode="json")
        return dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    found = vars(value) if hasattr(value, "__dict__") else None
    if found is None:
        raise InvalidType(f"openenv: expected an object with fields, got {shorten(value)}")
    return dict(found)
