"""State: what an author shows of an episode, as plain data; fields marked `Private` only to those who may see them."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import numpy as np

from ludus.errors import ContractViolation, shorten

__all__ = ["Private", "state_data"]

MARK: Final = "ludus.private"
DEPTH = 16

Private = MARK
"""Marks a field of a state that only an orchestrator may see: `answer: Annotated[str, Private]`."""


def state_data(state: Any, *, private: bool = False) -> dict[str, Any]:
    """A state as plain data: of a mapping, a dataclass, a msgspec Struct or a Pydantic model. None is nothing.

    Private fields are left out, in states inside it too, unless `private`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Riddle:
    ...     tries: int
    ...     answer: Annotated[str, Private]
    >>> state_data(Riddle(2, "a candle"))
    {'tries': 2}
    >>> state_data(Riddle(2, "a candle"), private=True)
    {'tries': 2, 'answer': 'a candle'}
    """
    if state is None:
        return {}
    found = _plain(state, private, "state", DEPTH)
    if not isinstance(found, dict):
        raise ContractViolation(f"state: expected a mapping, a dataclass, a Struct or a model, got {shorten(state)}")
    return found


def _plain(value: Any, private: bool, path: str, depth: int) -> Any:
    if depth <= 0:
        raise ContractViolation(f"{path}: expected at most {DEPTH} levels, got more")
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one, private, f"{path}[{place}]", depth - 1) for place, one in enumerate(value)]
    if isinstance(value, Mapping):
        pairs = {str(name): one for name, one in value.items()}
    else:
        hidden = frozenset[str]() if private else _hidden(type(value))
        pairs = {name: getattr(value, name) for name in _fields(value, path) if name not in hidden}
    return {name: _plain(one, private, f"{path}.{name}", depth - 1) for name, one in pairs.items()}


def _fields(value: Any, path: str) -> list[str]:
    """The names of a record's fields."""
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return [one.name for one in dataclasses.fields(kind)]
    for attribute in ("__struct_fields__", "model_fields"):
        if hasattr(kind, attribute):
            return list(getattr(kind, attribute))
    raise ContractViolation(f"{path}: expected plain data or a record, got {shorten(value)}")


def _hidden(kind: type) -> frozenset[str]:
    """The names of the private fields of a class."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if get_origin(hint) is Annotated and MARK in get_args(hint))
