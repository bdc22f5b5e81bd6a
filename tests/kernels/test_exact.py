"""Every operation a rule may use has the interpreter's bits when it is compiled, on every kind of machine."""

import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

from ludus.kernels.exact.program import Program
from tests.kernels.operations import EDGES, RATIOS, REALS, ROWS, WHOLE, numbers

pytestmark = pytest.mark.no_cover

OPTIONS = {"nogil": True, "error_model": "numpy", "forceinline": False}
SEED = 20


def bits(values):
    """The bits of numbers, with one NaN for all."""
    values = np.asarray(values)
    return np.where(np.isnan(values), np.nan, values).view(np.int64) if values.dtype == np.float64 else values


def compiled(expressions, names):
    """A compiled function that gives each expression of its own row of arguments."""
    first, second = names
    lines = [f"def run(all_{first}, all_{second}, out):", "    for n in range(out.shape[1]):"]
    for k, expression in enumerate(expressions):
        lines += [f"        {first}, {second} = all_{first}[{k}, n], all_{second}[{k}, n]", f"        out[{k}, n] = {expression}"]
    scope = {"np": np, "math": math}
    exec("\n".join(lines), scope)
    rule = Program(OPTIONS).compiled(scope["run"])
    return numba.njit(lambda a, b, out: rule(a, b, out))


def interpreted(expressions, names):
    return [eval(f"lambda {', '.join(names)}: {one}", {"np": np, "math": math}) for one in expressions]


def differences(expressions, names, run, left, right, result=np.float64):
    """The expressions whose results differ: how often, and the first inputs, what was expected and found."""
    found = np.empty(left.shape[:2], result)
    run(left, right, found)
    wrong = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k, (name, call) in enumerate(zip(expressions, interpreted(expressions, names), strict=True)):
            lefts, rights = (list(one[k]) if one.ndim > 2 else one[k].tolist() for one in (left, right))
            expected = [call(a, b) for a, b in zip(lefts, rights, strict=True)]
            apart = np.flatnonzero(bits(found[k]) != bits(np.array(expected, result)))
            if len(apart):
                at = apart[0]
                wrong[name] = (len(apart), lefts[at], rights[at], expected[at], found[k, at])
    return wrong


@pytest.fixture(scope="module")
def reals():
    return compiled(REALS, ("x", "y"))


def compare_reals(run, count, seed):
    x = np.array([numbers(domain, count, seed + k) for k, domain in enumerate(REALS.values())])
    y = np.array([numbers("any", count, seed + 500 + k) for k in range(len(REALS))])
    return differences(REALS, ("x", "y"), run, x, y)


def test_every_operation_on_numbers_has_the_interpreters_bits(reals):
    assert compare_reals(reals, 10_000, SEED) == {}


@pytest.mark.full
def test_every_operation_has_the_interpreters_bits_a_million_times(reals):
    for part in range(10):
        assert compare_reals(reals, 100_000, SEED + 1000 * part) == {}


def compare_whole(count, seed):
    rng = np.random.default_rng(seed)
    wrong = {}
    for expressions, result in ((WHOLE, np.int64), (RATIOS, np.float64)):
        i, j = (rng.integers(-100_000, 100_000, (len(expressions), count)) for _ in range(2))
        i[:, :50], j[:, :50] = np.arange(50) - 25, 3 * np.arange(50) - 75
        wrong |= differences(expressions, ("i", "j"), compiled(expressions, ("i", "j")), i, j, result)
    return wrong


def test_every_operation_on_integers_is_the_interpreters():
    assert compare_whole(10_000, SEED) == {}


def compare_rows(run, length, count, seed):
    rng = np.random.default_rng(seed)
    shape = (len(ROWS), count, length)
    return differences(ROWS, ("a", "b"), run, rng.normal(size=shape), rng.normal(size=shape) * 10.0)


def test_every_operation_on_rows_has_the_interpreters_bits_at_any_length():
    run = compiled(ROWS, ("a", "b"))
    for length in (1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 127, 128, 129, 1000):
        assert compare_rows(run, length, 60 if length < 100 else 10, SEED + length) == {}


if __name__ == "__main__":  # in a process whose NumPy has other loops
    assert compare_reals(compiled(REALS, ("x", "y")), 5_000, SEED) == {}
    assert compare_rows(compiled(ROWS, ("a", "b")), 37, 100, SEED) == {}
    print("equal")
