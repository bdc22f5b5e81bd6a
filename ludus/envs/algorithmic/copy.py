"""Copy: write what is on the input."""

import numpy as np

from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
from ludus.envs.algorithmic.tape import Params, State, blank, observe, promoted, ready, step
from ludus.kernels import Rules

__all__ = ["Copy"]


def begin(rng: np.random.Generator, params: Params, grade: tuple[int, int]) -> State:
    """Random symbols; the target is the same."""
    tape, length = blank(rng, params, grade[0])
    for place in range(length):
        tape[place, 0] = rng.integers(params.base)
    return ready(tape, length, tape[:, 0].copy(), length, length + length + 4, grade)


def reset(rng: np.random.Generator, params: Params) -> State:
    """At the first grade."""
    return begin(rng, params, (params.starting_min_length, 0))


def renew(state: State, rng: np.random.Generator, params: Params) -> State:
    """At the grade that the last episode led to."""
    return begin(rng, params, promoted(state, params))


class Copy(AlgorithmicEnv):
    """Write the input as it is.

    >>> env = Copy()
    >>> _ = env.reset(seed=0)
    >>> env.step((1, 1, 3))
    Step(observation=2, reward=1.0, terminated=False, truncated=False, info={})
    """

    rules = Rules(State, Params, reset, step, observe, renew=renew)

    def __init__(
        self, base: int = 5, chars: bool = True, render_mode: str | None = None, starting_min_length: int = 2
    ) -> None:
        super().__init__(render_mode=render_mode, base=base, chars=chars, starting_min_length=starting_min_length)
