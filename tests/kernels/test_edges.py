"""NumPy's functions that compiled rules run as instructions: zeros of either sign, infinities and NaN have its bits."""

import math
from typing import Any

import numba
import numpy as np
import pytest

from ludus.kernels.exact.functions import NATIVE
from ludus.kernels.exact.pipeline import program_of

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


def delicate(kind, x, i):
    if kind == 0:
        return float(int(x))
    if kind == 1:
        return float(i >> int(x))
    if kind == 2:
        return float(5 << i)
    if kind == 3:
        return x**-1.0
    if kind == 4:
        return math.pow(x, -1.5)
    return float(np.sum(~(np.array([x, 1.0]) > 0.0)))


DELICATE = [
    *((0, x, 1) for x in (math.nan, math.inf, -2.5)),
    *((1, x, i) for x in (-1.0, 0.0, 63.0, 64.0, 1e6) for i in (-7, 7)),
    *((2, 0.0, i) for i in (-1, 0, 3, 60)),
    *((kind, x, 0) for kind in (3, 4) for x in (0.0, -0.0, 2.0, math.inf)),
    *((5, x, 0) for x in (1.0, -1.0)),
]


def end_of(call, *args):
    try:
        return call(*args)
    except (ArithmeticError, ValueError) as error:
        return type(error)


def test_what_has_no_result_raises_the_interpreters_exception_and_shifts_go_any_way():
    compiled: Any = program_of({"nogil": True, "error_model": "numpy"}).compiled(delicate)
    run = numba.njit(lambda kind, x, i: compiled(kind, x, i))
    for case in DELICATE:
        assert end_of(run, *case) == end_of(delicate, *case), case
    with pytest.raises(OverflowError, match="larger than 64 bits"):  # Python's grows
        run(2, 0.0, 64)
