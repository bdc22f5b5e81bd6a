"""NumPy's functions that compiled rules run as instructions: zeros of either sign, infinities and NaN have its bits."""

from typing import Any

import numba
import numpy as np
import pytest

from ludus.kernels.exact.functions import NATIVE
from ludus.kernels.exact.pipeline import program_of

pytestmark = pytest.mark.no_cover
EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, -1.5, 2.5, 5e-324, -5e-324, 1e308, -1e308])


def signs(x):
    return (np.sqrt(abs(x)), np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.fabs(x), np.square(x), np.negative(x))


def rows(x):
    return (np.sqrt(np.abs(x)), np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.fabs(x), np.square(x), -x)


def sign_of(x):
    return (np.sign(x), np.sign(np.copysign(x, -1.0)))


def bits(found: Any) -> list[bytes]:
    return [np.where(np.isnan(one), np.nan, one).tobytes() for one in found]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", [signs, sign_of])
def test_numbers_at_the_edges_have_numpys_bits(rule):
    compiled: Any = program_of({"nogil": True}).compiled(rule)
    run = numba.njit(lambda x: compiled(x))
    for x in EDGES.tolist():
        assert bits(run(x)) == bits(rule(x)), x


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", [rows, sign_of])
def test_arrays_at_the_edges_have_numpys_bits(rule):
    compiled: Any = program_of({"nogil": True}).compiled(rule)
    assert bits(numba.njit(lambda x: compiled(x))(EDGES)) == bits(rule(EDGES))


def test_all_that_runs_as_instructions_is_looked_at():
    named = {*signs.__code__.co_names, *rows.__code__.co_names}
    assert {one.__name__ for one in NATIVE} <= named
