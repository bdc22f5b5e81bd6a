"""Every operation a rule may use has the interpreter's bits when it is compiled, on every kind of machine."""

import math
import os
import subprocess
import sys
import warnings
from typing import NamedTuple

import numba
import numpy as np
import pytest

from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.exact.pipeline import program_of
from ludus.spaces import Box, Discrete
from tests.kernels.operations import EDGES, RATIOS, REALS, ROWS, WHOLE, numbers

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
        lines.append(f"        {first}, {second} = all_{first}[{k}, n], all_{second}[{k}, n]")
        lines.append(f"        out[{k}, n] = {expression}")
    scope = {"np": np, "math": math}
    exec("\n".join(lines), scope)
    rule = program_of(OPTIONS).compiled(scope["run"])
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
    assert compare_reals(reals, 2_000, SEED) == {}


def test_every_edge_has_the_interpreters_bits_or_its_error():
    """One program for each kind of end: an expression that fails takes no other down."""
    edges = ("math.sqrt(x)", "math.exp(x)", "x ** y", "x / y", "x % y", "math.atan2(x, y)", "max(x, y)", "np.tanh(x)")
    for name in edges:
        run, (alone,) = compiled([name], ("x", "y")), interpreted([name], ("x", "y"))
        for x in EDGES:
            for y in EDGES[::3]:
                assert result_of(alone, x, y) == result_of(first_of(run), x, y), f"{name} of {x} and {y}"


def first_of(run):
    def call(x, y):
        out = np.empty((1, 1))
        run(np.array([[x]]), np.array([[y]]), out)
        return out[0, 0]

    return call


def result_of(call, x, y):
    """The bits that a call gives, or "error"."""
    try:
        with np.errstate(all="ignore"):
            found = call(x, y)
    except (ArithmeticError, ValueError):
        return "error"
    return "error" if isinstance(found, complex) else int(bits(np.array(found, np.float64)))


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


@pytest.mark.full
def test_every_operation_on_integers_is_the_interpreters_a_million_times():
    for part in range(5):
        assert compare_whole(200_000, SEED + 1 + part) == {}


LENGTHS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 127, 128, 129, 1000)
"""Around those at which NumPy goes over to other code."""


def compare_rows(expressions, seed, many=60, long=10):
    run, wrong = compiled(expressions, ("a", "b")), {}
    for length in LENGTHS:
        rng = np.random.default_rng(seed + length)
        shape = (len(expressions), many if length < 100 else long, length)
        a, b = rng.normal(size=shape), rng.normal(size=shape) * 10.0
        wrong |= differences(expressions, ("a", "b"), run, a, b)
    return wrong


def test_operations_on_rows_have_the_interpreters_bits_at_any_length():
    assert compare_rows(ROWS[SEED % 6 :: 6], SEED, many=20, long=5) == {}


@pytest.mark.full
def test_every_operation_on_rows_has_the_interpreters_bits_at_any_length():
    assert compare_rows(ROWS, SEED) == {}


def test_it_holds_where_numpy_has_other_loops():
    """NumPy chooses its code by the processor: without the newer instructions it computes other bits."""
    compare_without_simd("without_simd(whole=False, count=3_000)")


@pytest.mark.full
def test_all_of_it_holds_where_numpy_has_other_loops():
    compare_without_simd("without_simd(whole=True, count=100_000, parts=10); rows_without_simd()")


def compare_without_simd(call):
    found = np._core._multiarray_umath
    switched_off = " ".join(one for one in found.__cpu_dispatch__ if found.__cpu_features__.get(one))
    if not switched_off:
        pytest.skip("this processor has nothing to switch off")
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": switched_off}
    command = [sys.executable, "-c", f"from tests.kernels.test_exact import *; {call}; print('equal')"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert told.stdout == "equal\n", told.stderr


AT_ONCE = 16
"""How many operations are compiled together."""


def without_simd(whole, count, parts=1):
    """What the other process does: the operations that NumPy has several codes for."""
    expressions = [(name, domain) for name, domain in REALS.items() if "np." in name]
    chosen = expressions if whole else [one for one in expressions if one[0].count("np.") == 1][::3]
    for begin in range(0, len(chosen), AT_ONCE):
        some = dict(chosen[begin : begin + AT_ONCE])
        run = compiled(some, ("x", "y"))
        for part in range(parts):
            seeds = [SEED + begin + k + 1000 * part for k in range(len(some))]
            x = np.array([numbers(domain, count, seed) for domain, seed in zip(some.values(), seeds, strict=True)])
            assert differences(some, ("x", "y"), run, x, x[:, ::-1].copy()) == {}


def rows_without_simd():
    """The same for arrays, and what is reduced to numbers."""
    assert compare_rows(ROWS, SEED) == {}


@pytest.mark.parametrize("compiled_alone", [False, True])
def test_twenty_thousand_rewards_are_the_same_alone_and_in_a_batch(compiled_alone):
    """What was seen first: rewards of a stranger's rules that differed in a third of the steps."""
    kind = rewarding(compiled_alone)
    batch, alone = KernelVectorEnv(kind, 1), kind()
    assert batch.compiled
    assert alone.compiled is compiled_alone
    batch.reset(seed=3)
    alone.reset(seed=3)
    steps = 300 if compiled_alone else 2_000  # of ten rewards each
    for _ in range(steps):
        mine, theirs = batch.step(np.zeros(1, int)), alone.step(0)
        assert np.array_equal(bits(mine.observation[0]), bits(theirs.observation))
        assert mine.reward[0] == theirs.reward


class Numbers(NamedTuple):
    x: float
    y: float
    row: np.ndarray


class NoParams(NamedTuple):
    nothing: int = 0


def first(rng, params):
    row = np.zeros(9)
    for place in range(9):
        row[place] = rng.random()
    return Numbers(rng.uniform(0.1, 3.0), rng.uniform(0.1, 3.0), row)


def seen(state, params):
    x, y, row = state.x, state.y, state.row
    return (
        *(x**2, x**3, np.tanh(x), np.sum(row), x**5, x**0.5, np.exp(x), np.log(x), np.power(x, y)),
        *(np.arctan2(x, y), np.arctan(x), np.tan(x)),
    )


def rewarding(compiled_alone):
    def step(state, action, rng, params):
        x = state.x
        return first(rng, params), x**3 + x**2, False

    def inexactly(state, params):
        x, y, row = state.x, state.y, state.row
        return math.hypot(x, y), math.gamma(x), math.lgamma(y), np.std(row), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0

    class Rewarding(RuleEnv):
        observation_space = Box(-np.inf, np.inf, (12,), np.float64)
        action_space = Discrete(2)
        rules = Rules(Numbers, NoParams, first, step, inexactly if compiled_alone else seen, compiled=compiled_alone)

    return Rewarding
