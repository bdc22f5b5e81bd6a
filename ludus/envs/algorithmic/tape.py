"""Tapes: the rules that all algorithmic tasks share. One head reads an input, another writes an output.

What differs is the input and the target; each task has them in its own file. Episodes grow longer as they are solved:
the state carries the least length of inputs from one episode to the next.
"""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["HARDEST", "MAX_TAPE_LENGTH", "Params", "State", "blank", "observe", "promoted", "ready", "step"]

HARDEST = 30
"""The least length of inputs does not grow beyond this."""
MAX_TAPE_LENGTH = HARDEST + 2
Symbols = NDArray[np.int8]


class State(NamedTuple):
    """Input and target, where the heads are, and what the agent has achieved."""

    tape: Symbols
    """The input, a column for each place; only the first `length` columns count."""
    length: int
    target: Symbols
    target_length: int
    time_limit: int
    x: int
    """The reading head's column, and `y` its row."""
    y: int
    written: int
    """How many symbols are on the output."""
    time: int
    total: float
    """The sum of this episode's rewards."""
    min_length: int
    """The least length of an input."""
    streak: int
    """How many episodes in a row, since the last promotion, were good enough."""


class Params(NamedTuple):
    """The alphabet, and how the difficulty grows."""

    base: int = 5
    """How many symbols there are."""
    rows: int = 1
    duplication: int = 1
    starting_min_length: int = 2
    last: int = 10
    """How many good episodes in a row make inputs longer by one."""
    shortfall: float = 1.0
    """By how much a good episode's return may miss the best."""


def step(
    state: State, action: tuple[int, int, int], rng: np.random.Generator, params: Params
) -> tuple[State, float, bool]:
    """Write, or do not; then move the reading head. A wrong symbol ends the episode, and so does the last right one."""
    move, write, symbol = action
    reward, ended, written = 0.0, False, state.written
    if write == 1:
        ended = written >= state.target_length or symbol != state.target[written]
        reward = -0.5 if ended else 1.0
        written += 1
        ended = ended or written >= state.target_length
    x = state.x + (move == 1) - (move == 0)
    y = state.y + (move == 3) - (move == 2)
    time = state.time + 1
    if time > state.time_limit:
        reward, ended = -1.0, True
    after = State(
        state.tape,
        state.length,
        state.target,
        state.target_length,
        state.time_limit,
        x,
        y,
        written,
        time,
        state.total + reward,
        state.min_length,
        state.streak,
    )
    return after, reward, ended


def observe(state: State, params: Params) -> int:
    """The symbol under the reading head; one more than the last symbol where there is none."""
    if 0 <= state.x < state.length and 0 <= state.y < params.rows:
        return int(state.tape[state.x, state.y])
    return params.base


def blank(rng: np.random.Generator, params: Params, min_length: int) -> tuple[Symbols, int]:
    """An empty tape, and how much of it to fill."""
    return np.zeros((MAX_TAPE_LENGTH, params.rows), dtype=np.int8), min_length + int(rng.integers(3))


def ready(
    tape: Symbols, length: int, target: Symbols, target_length: int, time_limit: int, grade: tuple[int, int]
) -> State:
    """The first state of an episode; `grade` is the least length and the streak."""
    return State(tape, length, target, target_length, time_limit, 0, 0, 0, 0, 0.0, grade[0], grade[1])


def promoted(state: State, params: Params) -> tuple[int, int]:
    """The least length and the streak after an episode."""
    good = state.total - state.target_length >= -params.shortfall
    streak = state.streak + 1 if good else 0
    if streak >= params.last and state.min_length < HARDEST:
        return state.min_length + 1, 0
    return state.min_length, streak
