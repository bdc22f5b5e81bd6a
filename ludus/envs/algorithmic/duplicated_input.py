"""DuplicatedInput: write each symbol once, though the input has it several times."""

import numpy as np

from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
from ludus.envs.algorithmic.tape import MAX_TAPE_LENGTH, Params, State, blank, observe, promoted, ready, step
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import Rules

__all__ = ["DuplicatedInput"]


def begin(rng: np.random.Generator, params: Params, grade: tuple[int, int]) -> State:
    """Random symbols, each `duplication` times; the target has each once."""
    tape, length = blank(rng, params, grade[0])
    target = np.zeros(MAX_TAPE_LENGTH, dtype=np.int8)
    count = max(length, params.duplication) // params.duplication
    for place in range(count):
        target[place] = rng.integers(params.base)
        for copy in range(params.duplication):
            tape[place * params.duplication + copy, 0] = target[place]
    length = count * params.duplication
    return ready(tape, length, target, count, length + count + 4, grade)


def reset(rng: np.random.Generator, params: Params) -> State:
    """At the first grade."""
    return begin(rng, params, (params.starting_min_length, 0))


def renew(state: State, rng: np.random.Generator, params: Params) -> State:
    """At the grade that the last episode led to."""
    return begin(rng, params, promoted(state, params))


class DuplicatedInput(AlgorithmicEnv):
    """Write every symbol of the input once; there, each stands `duplication` times in a row.

    >>> env = DuplicatedInput()
    >>> _ = env.reset(seed=0)
    >>> env.text_of(env.input_data), env.text_of(env.target)
    ('DDCC', 'DC')
    """

    rules = Rules(State, Params, reset, step, observe, renew=renew)

    def __init__(
        self, duplication: int = 2, base: int = 5, render_mode: str | None = None, starting_min_length: int = 2
    ) -> None:
        if not isinstance(duplication, int) or not 1 <= duplication <= MAX_TAPE_LENGTH:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(
                f"DuplicatedInput duplication: expected an integer from 1 to {MAX_TAPE_LENGTH}, "
                f"got {shorten(duplication)}"
            )
        super().__init__(
            render_mode=render_mode,
            base=base,
            chars=True,
            duplication=duplication,
            starting_min_length=starting_min_length,
        )
