"""State: what an author shows of an episode, as plain data; fields marked `Private` only to those who may see them."""

from ludus.core.step import Info
from ludus.spaces.kinds import is_mapping
from ludus.spaces.models import field_names
from ludus.spaces.plain import PlainLimits
from ludus.spaces.shown import Private, Shown

__all__ = ["Private", "state_data"]

LIMITS = PlainLimits(depth=16)
FORMS = {private: Shown(words=False, private=private, limits=LIMITS) for private in (False, True)}
"""Floats stay floats: a state is plain data in this process too, and each protocol has its own words for NaN."""


def state_data(state: object, *, private: bool = False) -> Info:
    """A state as plain data: of a mapping, a dataclass, a named tuple, a msgspec Struct or a Pydantic model.

    Private fields are left out, in states inside it too, unless `private`. Anything else that an environment happens to
    call its state, an array say, is its own affair: nothing of it is shown.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Riddle:
    ...     tries: int
    ...     answer: Annotated[str, Private]
    >>> state_data(Riddle(2, "a candle"))
    {'tries': 2}
    >>> state_data(Riddle(2, "a candle"), private=True)
    {'tries': 2, 'answer': 'a candle'}
    """
    known = is_mapping(state) or field_names(type(state)) is not None
    return FORMS[private].write(state, "state") if known else {}
