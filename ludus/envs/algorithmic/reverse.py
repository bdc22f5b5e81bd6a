"""Reverse: write the input backwards."""

import numpy as np

from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
from ludus.envs.algorithmic.tape import MAX_TAPE_LENGTH, Params, State, blank, observe, promoted, ready, step
from ludus.kernels import Rules

__all__ = ["Reverse"]


def begin(rng: np.random.Generator, params: Params, grade: tuple[int, int]) -> State:
    """Random symbols; the target is backwards."""
    tape, length = blank(rng, params, grade[0])
    target = np.zeros(MAX_TAPE_LENGTH, dtype=np.int8)
    for place in range(length):
        tape[place, 0] = rng.integers(params.base)
        target[length - 1 - place] = tape[place, 0]
    return ready(tape, length, target, length, length + length + 4, grade)


def reset(rng: np.random.Generator, params: Params) -> State:
    """At the first grade."""
    return begin(rng, params, (params.starting_min_length, 0))


def renew(state: State, rng: np.random.Generator, params: Params) -> State:
    """At the grade that the last episode led to."""
    return begin(rng, params, promoted(state, params))


class Reverse(AlgorithmicEnv):
    """Write the input backwards: the reading head has to find its end first.

    >>> env = Reverse()
    >>> _ = env.reset(seed=0)
    >>> env.text_of(env.input_data), env.text_of(env.target)
    ('BBA', 'ABB')
    """

    rules = Rules(State, Params, reset, step, observe, renew=renew)

    def __init__(self, base: int = 2, render_mode: str | None = None, starting_min_length: int = 1) -> None:
        super().__init__(
            render_mode=render_mode,
            base=base,
            chars=True,
            last=50,
            shortfall=0.1,
            starting_min_length=starting_min_length,
        )
