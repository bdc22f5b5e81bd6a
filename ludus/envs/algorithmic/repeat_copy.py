"""RepeatCopy: write the input, then backwards, then again."""

import numpy as np

from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
from ludus.envs.algorithmic.tape import MAX_TAPE_LENGTH, Params, State, blank, observe, promoted, ready, step
from ludus.kernels import Rules

__all__ = ["RepeatCopy"]


def begin(rng: np.random.Generator, params: Params, grade: tuple[int, int]) -> State:
    """Random symbols; the target is there, back and there again."""
    tape, length = blank(rng, params, grade[0])
    target = np.zeros(3 * MAX_TAPE_LENGTH, dtype=np.int8)
    for place in range(length):
        symbol = rng.integers(params.base)
        tape[place, 0] = symbol
        target[place] = symbol
        target[2 * length - 1 - place] = symbol
        target[2 * length + place] = symbol
    return ready(tape, length, target, 3 * length, length + 3 * length + 4, grade)


def reset(rng: np.random.Generator, params: Params) -> State:
    """At the first grade."""
    return begin(rng, params, (params.starting_min_length, 0))


def renew(state: State, rng: np.random.Generator, params: Params) -> State:
    """At the grade that the last episode led to."""
    return begin(rng, params, promoted(state, params))


class RepeatCopy(AlgorithmicEnv):
    """Write the input three times, the second time backwards.

    >>> env = RepeatCopy()
    >>> _ = env.reset(seed=0)
    >>> env.text_of(env.input_data), env.text_of(env.target)
    ('DCBB', 'DCBBBBCDDCBB')
    """

    rules = Rules(State, Params, reset, step, observe, renew=renew)

    def __init__(self, base: int = 5, render_mode: str | None = None, starting_min_length: int = 2) -> None:
        super().__init__(
            render_mode=render_mode,
            base=base,
            chars=True,
            last=50,
            shortfall=0.1,
            starting_min_length=starting_min_length,
        )
