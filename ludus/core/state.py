"""State: what an author shows of an episode, as plain data; fields marked `Private` only to those who may see them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import numpy as np

from ludus.errors import ContractViolation, shorten
from ludus.spaces.models import field_names

__all__ = ["Private", "state_data"]

MARK: Final = "ludus.private"
DEPTH = 16

Private = MARK
"""Marks a field of a state that only an orchestrator may see: `answer: Annotated[str, Private]`."""


def state_data(state: Any, *, private: bool = False) -> dict[str, Any]:
    """A state as plain data: of a mapping, a dataclass, a named tuple, a msgspec Struct or a Pydantic model.

    Private fields are left out, in states inside it too, unless `private`. Anything else that an environment happens to
    call its state, an array say, is its own affair: nothing of it is shown.

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
    return _plain(state, private, "state", DEPTH) if _is_record(state) else {}


def _is_record(state: Any) -> bool:
    return isinstance(state, Mapping) or field_names(type(state)) is not None


def _plain(value: Any, private: bool, path: str, depth: int) -> Any:
    if depth <= 0:
        raise ContractViolation(f"{path}: expected at most {DEPTH} levels, got more")
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [_plain(one, private, f"{path}[{place}]", depth - 1) for place, one in enumerate(value)]
    if isinstance(value, Mapping):
        pairs = {str(name): one for name, one in value.items()}
    else:
        hidden = frozenset[str]() if private else _hidden(type(value), path)
        pairs = {name: getattr(value, name) for name in _fields(value, path) if name not in hidden}
    return {name: _plain(one, private, f"{path}.{name}", depth - 1) for name, one in pairs.items()}


def _fields(value: Any, path: str) -> tuple[str, ...]:
    """The names of a record's fields."""
    names = field_names(type(value))
    if names is None:
        raise ContractViolation(f"{path}: expected plain data or a record, got {shorten(value)}")
    return names


@lru_cache(maxsize=512)
def _hidden(kind: type, path: str) -> frozenset[str]:
    """The names of the private fields of a class; where that cannot be known, nothing of it is shown."""
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception as error:
        raise ContractViolation(
            f"{path}: expected annotations of {kind.__name__} that can be read, since they say what is private, "
            f"got {type(error).__name__}: {error}"
        ) from error
    return frozenset(name for name, hint in hints.items() if _is_marked(hint))


def _is_marked(hint: Any) -> bool:
    """Whether the mark is on a hint, or on any part of it."""
    if get_origin(hint) is Annotated and any(isinstance(one, str) and one == MARK for one in hint.__metadata__):
        return True
    return any(_is_marked(one) for one in get_args(hint) if one is not hint and not isinstance(one, str))
