"""Bound models: the author's own classes put into spaces that came as descriptions.

A description names the class that a record was made of, but nobody is led there: `bind_models` takes classes that were
handed over, and `find_models` those that this process has imported already. A server that names a class must not have
code run here by that, so a class whose making runs code of its own has to be handed over.
"""

import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from types import ModuleType
from typing import Any, TypeGuard

from ludus.errors import InvalidSpace, InvalidType, shorten
from ludus.spaces.field_types import FieldType, SpaceField
from ludus.spaces.kinds import class_of
from ludus.spaces.models import StandIn, is_model, runs_code
from ludus.spaces.record import Record
from ludus.spaces.space import Space, is_space

__all__ = ["bind_models", "find_models"]

Choose = Callable[[Record], type[object] | None]


def bind_models(space: Space[object], models: Sequence[type]) -> Space[Any]:
    """The space with each record over the class of its name and fields, where one was handed over.

    >>> from dataclasses import dataclass
    >>> from ludus.spaces import from_json, to_json
    >>> @dataclass
    ... class Point:
    ...     x: int
    >>> space = bind_models(from_json(to_json(Record(Point))), [Point])
    >>> space.read({"x": 3}) == Point(3), space.model is Point
    (True, True)
    """
    wrong = [one for one in models if not is_model(one)]
    if wrong:
        raise InvalidType(f"models: expected dataclasses, msgspec Structs or Pydantic models, got {shorten(wrong[0])}")
    by_name = {one.__name__: one for one in models}
    return _bound(space, lambda record: by_name.get(record.name))


def find_models(space: Space[object]) -> Space[Any]:
    """The space with each record over the class that its description names, where this process has imported it.

    It must have the same fields, and making an instance of it must run no code of its author's.

    >>> from ludus.spaces import Discrete
    >>> find_models(Discrete(3))
    Discrete(3)
    """
    return _bound(space, _imported)


def _imported(record: Record) -> type | None:
    """The class at a record's origin, through `vars` alone: an attribute might be made by code that imports."""
    module_name, _, path = (record.origin or "").partition(":")
    found: object = sys.modules.get(module_name)
    for name in path.split("."):
        if type(found) is not ModuleType and not _is_plain_class(found):
            return None
        found = vars(found).get(name)
    return found if _is_plain_class(found) and _is_quiet(found) else None


def _is_plain_class(found: object) -> TypeGuard[type[object]]:
    """Whether it is a class that can be looked at without running code of its author's: that of a metaclass."""
    kind = class_of(found)
    return kind in (type, ABCMeta) or (
        isinstance(found, type) and kind.__module__.partition(".")[0] in ("msgspec", "pydantic")
    )


def _is_quiet(kind: type) -> bool:
    """Whether it is a model whose instances are made without running code of its author's."""
    try:
        return is_model(kind) and not runs_code(kind)
    except Exception:  # annotations that do not resolve, or types that no space has
        return False


def _bound(space: Space[object], choose: Choose) -> Space[object]:
    """The space, or a copy of it in which the chosen classes are bound."""
    if not any(_choice(record, choose) for record in _records(space)):
        return space
    copy = deepcopy(space)
    if isinstance(copy, Record):
        copy = _replaced(copy, choose)
    for record in list(_records(copy)):
        if record is not copy:
            record.become(_replaced(record, choose))
        record.recompile()
    return copy


def _replaced(record: Record, choose: Choose) -> Record:
    model = _choice(record, choose)
    return record if model is None else record.bind(model)


def _choice(record: Record, choose: Choose) -> type[object] | None:
    """The class to put into a record that has none of its own yet, where it has the same fields."""
    model = choose(record) if issubclass(record.model, StandIn) else None
    try:
        return model if model is not None and record.over(model) == record else None
    except InvalidSpace:
        return None


def _records(space: Space[object]) -> Iterator[Record]:
    """The records in a space, the outer ones first."""
    if isinstance(space, Record):
        yield space
    fields = space.field_types()
    for field in fields:
        for one in _spaces_of(field):
            yield from _records(one)
    if not isinstance(space, Record) and not fields:
        for one in _parts(space):
            yield from _records(one)


def _spaces_of(field: FieldType) -> Iterable[Space[object]]:
    return (one.space for one in field.walk() if isinstance(one, SpaceField))


def _parts(space: Space[object]) -> Iterable[Space[object]]:
    stacked = getattr(space, "stacked_feature_space", None)
    return (*space.subspaces, *((stacked,) if is_space(stacked) else ()))
