"""ReversedAddition: add numbers written below each other, lowest digit first."""

import numpy as np

from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
from ludus.envs.algorithmic.tape import MAX_TAPE_LENGTH, Params, State, blank, observe, promoted, ready, step
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import Rules

__all__ = ["ReversedAddition"]


def begin(rng: np.random.Generator, params: Params, grade: tuple[int, int]) -> State:
    """Random digits in `rows` rows; the target is their sum. The time allowed goes by the input's length alone."""
    tape, length = blank(rng, params, grade[0])
    target = np.zeros(MAX_TAPE_LENGTH + 1, dtype=np.int8)
    carry = 0
    for place in range(length):
        total = carry
        for row in range(params.rows):
            tape[place, row] = rng.integers(params.base)
            total += int(tape[place, row])
        target[place] = total % params.base
        carry = total // params.base
    target[length] = carry
    return ready(tape, length, target, length + 1 if carry > 0 else length, length * 2 + 4, grade)


def reset(rng: np.random.Generator, params: Params) -> State:
    """At the first grade."""
    return begin(rng, params, (params.starting_min_length, 0))


def renew(state: State, rng: np.random.Generator, params: Params) -> State:
    """At the grade that the last episode led to."""
    return begin(rng, params, promoted(state, params))


class ReversedAddition(AlgorithmicEnv):
    """Write the sum of the input's rows, which are numbers with their lowest digit first.

    >>> env = ReversedAddition()
    >>> _ = env.reset(seed=5)
    >>> print(env.text_of(env.input_data))
    2210
    0112
    >>> env.text_of(env.target)
    '20001'
    """

    MOVEMENTS = ("left", "right", "up", "down")
    rules = Rules(State, Params, reset, step, observe, renew=renew)

    def __init__(
        self, rows: int = 2, base: int = 3, render_mode: str | None = None, starting_min_length: int = 2
    ) -> None:
        if not isinstance(rows, int) or not 1 <= rows <= base:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(
                f"ReversedAddition rows: expected an integer from 1 to base={base}, got {shorten(rows)}; "
                "with more, what is carried need not be a digit"
            )
        super().__init__(
            render_mode=render_mode, base=base, chars=False, rows=rows, starting_min_length=starting_min_length
        )
