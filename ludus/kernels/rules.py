"""`Rules`: the contract between an environment's arithmetic and whatever runs it.

Rules are plain functions. They touch nothing but their arguments and the constants of their module, draw only from
`rng`, use only `math`, scalars, tuples and small arrays, call only functions written alike, and so can be compiled as
they are. State and parameters are NamedTuples: values, never changed in place.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Rules"]


class Rules(NamedTuple):
    """The functions of one environment.

    >>> class State(NamedTuple):
    ...     place: int
    >>> class Params(NamedTuple):
    ...     goal: int = 3
    >>> def step(state, action, rng, params):
    ...     place = state.place + (1 if action == 1 else -1)
    ...     return State(place), 1.0 if place == params.goal else 0.0, place == params.goal
    >>> walk = Rules(State, Params, lambda rng, params: State(0), step, lambda state, params: state.place)
    >>> walk.step(State(2), 1, None, Params())
    (State(place=3), 1.0, True)
    """

    state: type[Any]
    """A NamedTuple class: numbers, bools and arrays of fixed shape.

    Rules that unpack their state may return it as the plain tuple of its fields, which saves a tenth of a small step.
    """
    params: type[Any]
    """A NamedTuple class whose every field has a default: numbers, bools, bytes, tuples of numbers and arrays.

    Values that are given for `float`, `int` and `bool` fields are checked.
    """
    reset: Callable[..., Any]
    """`reset(rng, params) -> State`."""
    step: Callable[..., Any]
    """`step(state, action, rng, params) -> (State, reward, terminated)`.

    The action is an int for a Discrete, an array of the space's dtype for a Box, a tuple for a Tuple.
    """
    observe: Callable[..., Any]
    """`observe(state, params)`: an int, a tuple of numbers for a Box of one axis, or a tuple for a Tuple space."""
    inform: Callable[..., Any] | None = None
    """`inform(state, params) -> NamedTuple`: what goes into `info`; None for nothing."""
    renew: Callable[..., Any] | None = None
    """`renew(state, rng, params) -> State`: the next episode's first state, where it depends on how the last one went.

    None for `reset`. A reset with a seed never calls it: the same seed gives the same history, whatever came before.
    """
    compiled: bool = False
    """Whether one environment runs compiled, as a batch does: then rules may use what has other bits interpreted."""
