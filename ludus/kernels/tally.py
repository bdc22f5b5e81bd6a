"""What a recorder takes of one step of a compiled batch, in one pass over its lanes.

`ludus.trajectory` has the same in NumPy: a function for each part of it, which reads the same memory ten times and
costs a third of the step itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numba
import numpy as np

from ludus.spaces.array_space import Array

if TYPE_CHECKING:
    from ludus.kernels.numba_types import Compiled, CompilerOptions
    from ludus.kernels.stream import Words

__all__ = ["kept", "lane_numbers", "row_digest", "tally"]

GROUP = 64
"""How many words of a digest share the keys: few enough to stay in the processor's nearest memory."""
Given = ParamSpec("Given")
Result = TypeVar("Result")
FACTOR = np.uint64(0x9E3779B97F4A7C15)
ZERO, HALF, LOW = np.uint64(0), np.uint64(32), np.uint64(0xFFFFFFFF)


def kept(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function compiled, and kept on disk where there is a place for it."""
    options: CompilerOptions = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(**(options | {"cache": True}))(function)
    except RuntimeError:  # Numba found no folder that can be written to
        return numba.njit(**options)(function)


@kept
def row_digest(words: Words, keys: Words) -> np.uint64:
    """The number of a row, as `RowDigest` computes it."""
    digest = ZERO
    whole = len(words) // GROUP
    for begin in range(whole):
        group = ZERO
        for at in range(GROUP):
            word, key = words[begin * GROUP + at], keys[at]
            group += ((word + key) & LOW) * (((word >> HALF) + (key >> HALF)) & LOW)
        digest = digest * FACTOR + group
    if whole * GROUP < len(words):
        group = ZERO
        for at in range(len(words) - whole * GROUP):
            word, key = words[whole * GROUP + at], keys[at]
            group += ((word + key) & LOW) * (((word >> HALF) + (key >> HALF)) & LOW)
        digest = digest * FACTOR + group
    return digest


@kept
def tally(
    words: Compiled,
    keys: Words,
    step: Compiled,
    action: Compiled,
    lanes: tuple[Array, Array],
    block: tuple[Array, Words],
    ended: tuple[Array, Array, Array],
    numbers: tuple[int, int, int, int],
) -> int:
    """Digest, actions, returns and ended episodes of a step; how many have ended by now.

    -1 for an action that a byte does not hold: then nothing has changed. `words` are the observations as words of 64
    bits; `step` is reward, terminated, truncated; `lanes` starts and returns; `block` the columns action and seen;
    `ended` integers, returns and codes; `numbers` the row in the run and in the block, the row after an end, and how
    many have ended.
    """
    reward, terminated, truncated = step
    starts, returns = lanes
    acted, seen = block
    integers, totals, codes = ended
    row, place, after, count = numbers
    out, fits = acted[place], True
    for lane in range(len(action)):
        fits &= 0 <= action[lane] <= 255
        out[lane] = action[lane]
    if not fits:
        return -1
    seen[place] = row_digest(words, keys)
    for lane in range(len(reward)):
        returns[lane] += reward[lane]
    for lane in range(len(reward)):
        if terminated[lane] | truncated[lane]:
            integers[count, 0] = lane
            integers[count, 1] = starts[lane]
            integers[count, 2] = row
            integers[count, 3] = row - starts[lane]
            totals[count] = returns[lane]
            codes[count, 0] = terminated[lane]
            codes[count, 1] = truncated[lane]
            codes[count, 2] = 0
            count += 1
            returns[lane] = 0.0
            starts[lane] = after
    return count


@kept
def lane_numbers(words: Words, keys: Words) -> Words:
    """The number of each lane of a batch, whose observation is a row of words, as if it were recorded alone."""
    found = np.empty(len(words), np.uint64)
    for lane in range(len(words)):
        found[lane] = row_digest(words[lane], keys)
    return found
