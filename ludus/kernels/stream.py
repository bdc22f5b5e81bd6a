"""The stream of a lane as a row of words, and as NumPy's generator: what needs no compiler.

A stream is a row of six words: state and increment of 128 bits as two halves each, and the half draw that 32-bit
integers leave over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["WORDS", "Stream", "Words", "generator_of", "stream_rows", "write_stream"]

Words = npt.NDArray[np.uint64]
WORDS = 6
HIGH, LOW, STEP_HIGH, STEP_LOW, HAS_HALF, HALF = range(WORDS)

U = np.uint64


class Stream(NamedTuple):
    """The stream of one lane, as compiled rules see it; `ludus.kernels.random` gives it the methods of a generator."""

    words: Words
    lane: int


def stream_rows(seeds: Sequence[int]) -> Words:
    """The rows of freshly seeded streams.

    >>> generator_of(stream_rows([7]), 0).random() == np.random.default_rng(7).random()
    True
    """
    rows = np.zeros((len(seeds), WORDS), dtype=np.uint64)
    for lane, seed in enumerate(seeds):
        write_stream(rows, lane, np.random.PCG64(seed))
    return rows


def write_stream(rows: Words, lane: int, bits: np.random.BitGenerator) -> None:
    """Put the state of a PCG64 bit generator into a row."""
    state = bits.state
    for place, value in ((HIGH, state["state"]["state"]), (STEP_HIGH, state["state"]["inc"])):
        rows[lane, place], rows[lane, place + 1] = U(value >> 64), U(value & 0xFFFFFFFFFFFFFFFF)
    rows[lane, HAS_HALF], rows[lane, HALF] = U(state["has_uint32"]), U(state["uinteger"])


def generator_of(rows: Words, lane: int) -> np.random.Generator:
    """A NumPy generator that goes on where a row is."""
    words = [int(word) for word in rows[lane]]
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": words[HIGH] << 64 | words[LOW], "inc": words[STEP_HIGH] << 64 | words[STEP_LOW]},
        "has_uint32": words[HAS_HALF],
        "uinteger": words[HALF],
    }
    return np.random.Generator(bits)
