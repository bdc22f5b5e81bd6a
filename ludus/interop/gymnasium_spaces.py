"""Spaces, from Ludus to Gymnasium and back: equal bounds, dtypes and random state, so that samples go on alike."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ludus.errors import CodecError, InvalidSpace, listing, shorten
from ludus.interop.gymnasium_library import gymnasium
from ludus.seeding import copy_generator
from ludus.spaces import (
    Box,
    Dict,
    Discrete,
    Graph,
    Json,
    MultiBinary,
    MultiDiscrete,
    OneOf,
    Record,
    Sequence,
    Space,
    Text,
    Tuple,
)
from ludus.spaces.message import read_json, write_json

__all__ = ["AnyText", "ForeignSpace", "JsonText", "space_from_gymnasium", "space_to_gymnasium"]

theirs: Any = gymnasium.spaces


MAX_TEXT_CHARS = 2**31 - 1
"""Characters of text without a limit, which Gymnasium does not have."""


class AnyText(theirs.Text):
    """Gymnasium's `Text` without a character set, which it does not have: every string of allowed length is in it.

    >>> "naïve ☃" in AnyText(10)
    True
    """

    def contains(self, x: object) -> bool:
        """Whether `x` is a string of allowed length."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short one where there is no limit."""
        if self.max_length == MAX_TEXT_CHARS and mask is None and probability is None:
            mask = (int(self.np_random.integers(self.min_length, self.min_length + 33)), None)
        drawn: str = theirs.Text.sample(self, mask, probability)
        return drawn

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText) and (self.min_length, self.max_length) == (other.min_length, other.max_length)

    def __repr__(self) -> str:
        return f"AnyText({self.min_length}, {self.max_length})"


class JsonText(AnyText):
    """JSON written as text, for `Json`, which Gymnasium does not have.

    >>> JsonText("object").sample(), "[1]" in JsonText("object"), "[1]" in JsonText("any")
    ('{}', False, True)
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        theirs.Text.__init__(self, MAX_TEXT_CHARS, min_length=0)

    def contains(self, x: object) -> bool:
        """Whether `x` is text that such JSON is written as."""
        try:
            return isinstance(x, str) and read_json(x, "value") in Json(self.kind)
        except CodecError:
            return False

    def sample(self, mask: object = None, probability: object = None) -> str:
        """The plainest one."""
        del mask, probability
        return write_json(Json(self.kind).default()).decode()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonText) and self.kind == other.kind

    def __repr__(self) -> str:
        return f"JsonText({self.kind!r})"


class ForeignSpace(Space[object]):
    """A space that only Gymnasium knows, such as one a package defines for itself: every question is passed on to it.

    >>> class Even(gymnasium.Space):
    ...     def sample(self, mask=None, probability=None):
    ...         return 2 * int(self.np_random.integers(50))
    ...     def contains(self, x):
    ...         return isinstance(x, int) and x % 2 == 0
    >>> space = space_from_gymnasium(Even(seed=0))
    >>> space.sample(), 3 in space
    (84, False)
    """

    def __init__(self, space: Any) -> None:
        self.space = space
        super().__init__(space.shape, space.dtype)

    def seed(self, seed: Any = None) -> Any:
        """Seed the space."""
        return self.space.seed(None if seed is None else int(seed))

    @property
    def np_random(self) -> np.random.Generator:
        """The generator of the space."""
        return self.space.np_random

    def copy_rng_from(self, other: Space[object]) -> None:
        """Continue from where the generator of an equal space is."""
        other_one: Any = other
        _carry(other_one.space, self.space)

    def sample(self, mask: object = None, probability: object = None) -> object:
        """A random value."""
        given = {"mask": mask, "probability": probability}
        return self.space.sample(**{name: one for name, one in given.items() if one is not None})

    def contains(self, x: object) -> bool:
        """Whether the space says so."""
        return bool(self.space.contains(x))

    def __repr__(self) -> str:
        return f"ForeignSpace({self.space!r})"


# --- both directions, by the kind of space ---

Convert = Callable[[Any], Any]


def space_to_gymnasium(space: Space[object]) -> Any:
    """The equal space of Gymnasium, which will draw the same samples; a `Record` becomes the `Dict` of its fields.

    >>> space_to_gymnasium(Discrete(3, start=1))
    Discrete(3, start=1)
    """
    made = _once(_for_gymnasium)(space)
    _carry(space, made)
    return made


def space_from_gymnasium(space: Any) -> Space[object]:
    """The equal space of Ludus, which will draw the same samples; one that only Gymnasium knows is a `ForeignSpace`.

    >>> space_from_gymnasium(gymnasium.spaces.Discrete(3, start=1))
    Discrete(3, start=1)
    """
    made = _once(_for_ludus)(space)
    _carry(space, made)
    return made


def _once(make: Callable[[Any, Convert], Any]) -> Convert:
    """A conversion that keeps two names for one space two names for one: they share a generator."""
    made: dict[int, object] = {}

    def convert(space: Any) -> Any:
        if id(space) not in made:
            made[id(space)] = make(space, convert)
        return made[id(space)]

    return convert


def _for_gymnasium(space: Any, convert: Convert) -> Any:
    if isinstance(space, ForeignSpace):
        return space.space
    if type(space) is Record:
        fields = [(name, convert(field.space)) for name, field in space.fields.items()]
        return theirs.Dict(fields, sort_keys=False)
    if type(space) is Text and space.arguments()["charset"] is None:
        return AnyText(MAX_TEXT_CHARS if space.max_length is None else space.max_length, min_length=space.min_length)
    if type(space) is Json:
        return JsonText(space.kind)
    if type(space) not in _NAMES:
        raise InvalidSpace(
            f"to_gymnasium: expected a Record or one of {listing(one.__name__ for one in _NAMES)}, "
            f"got {shorten(space)}, which only Ludus knows; "
            "show it as one of these first, as with wrappers.TransformObservation"
        )
    name = _NAMES[type(space)]
    return _MAKERS[name](getattr(theirs, name), space, convert)


def _for_ludus(space: Any, convert: Convert) -> Any:
    if not isinstance(space, theirs.Space):
        raise InvalidSpace(f"from_gymnasium: expected a gymnasium Space, got {shorten(space)}")
    if type(space) is JsonText:
        return Json(space.kind)
    if type(space) is AnyText:
        longest = None if space.max_length == MAX_TEXT_CHARS else space.max_length
        return Text(longest, min_length=space.min_length, charset=None)
    kind = next((one for one, name in _NAMES.items() if type(space) is getattr(theirs, name)), None)
    return ForeignSpace(space) if kind is None else _MAKERS[_NAMES[kind]](kind, space, convert)


def _box(kind: Any, space: Any, convert: Convert) -> Any:
    del convert
    made = kind(space.low.copy(), space.high.copy(), shape=space.shape, dtype=space.dtype)
    # Not by infinite bounds: an integer box has none, and a double would round the ends of int64.
    made.bounded_below, made.bounded_above = space.bounded_below.copy(), space.bounded_above.copy()
    return made


# The attributes of both libraries' spaces have the same names, so one maker does for both directions.
_MAKERS: dict[str, Callable[[Any, Any, Convert], Any]] = {
    "Box": _box,
    "Discrete": lambda kind, space, _: kind(space.n, start=space.start, dtype=space.dtype),
    "MultiDiscrete": lambda kind, space, _: kind(space.nvec, dtype=space.dtype, start=space.start),
    "MultiBinary": lambda kind, space, _: kind(space.n),
    "Text": lambda kind, space, _: kind(
        space.max_length, min_length=space.min_length, charset="".join(space.character_list)
    ),
    "Tuple": lambda kind, space, convert: kind([convert(one) for one in space.spaces]),
    "Dict": lambda kind, space, convert: kind(
        [(key, convert(one)) for key, one in space.spaces.items()], sort_keys=space.sort_keys
    ),
    "Sequence": lambda kind, space, convert: kind(convert(space.feature_space), stack=space.stack),
    "Graph": lambda kind, space, convert: kind(
        convert(space.node_space), None if space.edge_space is None else convert(space.edge_space)
    ),
    "OneOf": lambda kind, space, convert: kind([convert(one) for one in space.spaces]),
}
_NAMES: dict[type, str] = {
    kind: kind.__name__
    for kind in (Box, Discrete, MultiDiscrete, MultiBinary, Text, Tuple, Dict, Sequence, Graph, OneOf)
}


# --- random state ---


def _carry(source: Any, target: Any) -> None:
    """Give `target` the random state of `source`, part by part; what is not seeded yet stays so."""
    if isinstance(target, ForeignSpace) or isinstance(source, ForeignSpace):
        return
    rng = source._np_random
    target._np_random = None if rng is None else copy_generator(rng)
    for one, other in zip(_parts(source), _parts(target), strict=True):
        _carry(one, other)


def _parts(space: Any) -> Iterable[Any]:
    if isinstance(space, Space):
        return space.subspaces
    if isinstance(space, theirs.Dict):
        return space.spaces.values()
    if isinstance(space, theirs.Tuple | theirs.OneOf):
        return space.spaces
    if isinstance(space, theirs.Sequence):
        return (space.feature_space,)
    if isinstance(space, theirs.Graph):
        return (space.node_space,) if space.edge_space is None else (space.node_space, space.edge_space)
    return ()
