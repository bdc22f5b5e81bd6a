"""Sums, means, products and extremes of zeros of either sign, of short rows and of none, have NumPy's own bits."""

from itertools import product
from typing import Any

import numba
import numpy as np
import pytest

from ludus.kernels.exact.pipeline import program_of

REDUCED = {
    "sum": lambda row: np.sum(row),
    "mean": lambda row: np.mean(row),
    "prod": lambda row: np.prod(row),
    "max": lambda row: np.max(row),
    "min": lambda row: np.min(row),
}
ROWS = [row for length in range(1, 5) for row in product((0.0, -0.0, 1.5, -1.5), repeat=length)]
LONG = [(-0.0,) * length for length in (7, 8, 9, 128, 129)]


@pytest.mark.parametrize("name", REDUCED)
def test_zeros_of_either_sign_are_reduced_as_numpy_does(name):
    rule: Any = program_of({"nogil": True}).compiled(REDUCED[name])

    @numba.njit
    def all_of(table, lengths, out):
        for place in range(len(lengths)):
            out[place] = rule(table[place, : lengths[place]])

    rows = [*ROWS, *LONG, *([()] if name in ("sum", "prod") else [])]
    table, found = np.zeros((len(rows), 129)), np.zeros(len(rows))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    all_of(table, np.array([len(row) for row in rows]), found)
    expected = np.array([REDUCED[name](np.array(row)) for row in rows])
    differ = [row for row, a, b in zip(rows, found, expected, strict=True) if a.tobytes() != b.tobytes()]
    assert differ == []
