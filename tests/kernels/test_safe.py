"""An error of the interpreter is an error of a compiled batch, with lane, step and line, and never memory."""

import math
import re
from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.errors import InvalidArgument, KernelError, ResetNeeded
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete
from ludus.testing import check_env
from ludus.vector import Kernel

TABLE = np.arange(5.0)
LANES, STEPS = 3, 9


class State(NamedTuple):
    row: np.ndarray
    n: int
    x: float


class Params(NamedTuple):
    kind: int = 0


def reset(rng, params):
    return State(np.zeros(4), 1, 0.5)


def faulty(state, action, rng, params):
    row, n, x, kind = state.row.copy(), state.n, 0.5, params.kind
    if kind == 0:
        x = row[n]  # past the end
    elif kind == 1:
        x = row[1 - n]  # before the beginning
    elif kind == 2:
        row[n] = 1.0  # written past the end
    elif kind == 3:
        x = TABLE[n + 1]  # past the end of a constant
    elif kind == 4:
        x = 1.0 / (3 - n)  # by an integer
    elif kind == 5:
        x = 1.0 / (3.0 - n)  # by a float
    elif kind == 6:
        x = float(7 % (3 - n))  # of integers
    elif kind == 7:
        x = math.sqrt(2.5 - n)  # of a negative number
    elif kind == 8:
        x = math.exp(300.0 * n)  # too large
    elif kind == 9:
        x = math.log(3.0 - n)  # of zero
    elif kind == 10:
        x = 10.0 ** (n * 150.0)  # a power too large
    elif kind == 11:
        x = float(rng.integers(3 - n))  # out of nothing
    elif kind == 12:
        x = np.zeros((2, 4))[..., n][0]  # after an ellipsis
    return State(row, n + 1, x), 0.0, False


def observe(state, params):
    return (state.x,)


class Faulty(RuleEnv):
    observation_space, action_space = Box(-np.inf, np.inf, (1,), np.float64), Discrete(2)
    rules = Rules(State, Params, reset, faulty, observe)


def fails(step, most=STEPS):
    """At which step it raises what; None where it does not."""
    for number in range(1, most):
        try:
            step()
        except (ArithmeticError, IndexError, ValueError) as error:
            return number, error
    return None


@pytest.mark.parametrize("kind", range(13))
def test_an_error_of_the_interpreter_is_one_of_a_batch_with_lane_step_and_line(kind):
    alone, batch = Faulty(kind=kind), KernelVectorEnv(Faulty, LANES, params=[Params(20)] * 2 + [Params(kind)])
    alone.reset(seed=0)
    batch.reset(seed=0)
    number, expected = fails(lambda: alone.step(0))
    found, error = fails(lambda: batch.step(np.zeros(LANES, int)))
    assert (found, type(error)) == (number, type(expected))
    assert str(error).startswith(f"lane 2, step {number}: ")
    assert str(error).endswith("; the batch has to be reset")
    line = faulty.__code__.co_firstlineno + 3 + 2 * kind
    assert f"test_safe.py:{line}" in str(error)
    with pytest.raises(ResetNeeded):
        batch.step(np.zeros(LANES, int))
    batch.reset(seed=0)
    batch.step(np.zeros(LANES, int))


def drawing(state, action, rng, params):
    n, kind, x = state.n, params.kind, 0.5
    if kind == 0:
        x = float(rng.integers(5, 7 - n))
    elif kind == 1:
        x = rng.uniform(2.0, high=4.0 - n)
    elif kind == 2:
        x = rng.uniform(0.0, 1e308 * n)
    elif kind == 3:
        x = rng.normal(0.0, 1.5 - n)
    elif kind == 4:
        x = rng.exponential(scale=1.5 - n)
    elif kind == 5:
        x = float(rng.choice(2 - n))
    elif kind == 6:
        x = float(rng.choice(3, p=np.array([0.5, 0.25, 0.25 * n])))
    elif kind == 7:
        x = float(rng.choice(3 + n - 1, p=np.array([0.5, 0.25, 0.25])))
    elif kind == 8:
        x = rng.uniform(n - 1.0)
    return State(state.row, n + 1, x), 0.0, False


class Drawing(RuleEnv):
    observation_space, action_space = Box(-np.inf, np.inf, (1,), np.float64), Discrete(2)
    rules = Rules(State, Params, reset, drawing, observe)


class DrawingAlone(Drawing):
    rules = Rules(State, Params, reset, drawing, observe, compiled=True)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("checks", [False, True])
def test_a_draw_that_numpy_refuses_is_an_error_with_the_line_that_draws(checks):
    for kind in range(9):
        alone, batch = Drawing(kind=kind), KernelVectorEnv(Drawing, 2, params=[Params(20), Params(kind)], checks=checks)
        alone.reset(seed=0)
        batch.reset(seed=0)
        number, expected = fails(lambda env=alone: env.step(0))
        found, error = fails(lambda envs=batch: envs.step(np.zeros(2, int)))
        assert (kind, found, type(error)) == (kind, number, type(expected))
        line = drawing.__code__.co_firstlineno + 3 + 2 * kind
        assert re.match(rf"lane 1, step {number}: rng\.\w+: expected .* at .*test_safe\.py:{line} ", str(error))


def test_one_environment_that_runs_compiled_tells_the_line_that_draws():
    env = DrawingAlone(kind=1)
    env.reset(seed=0)
    _, error = fails(lambda: env.step(0))
    line = drawing.__code__.co_firstlineno + 5
    assert re.match(rf"rng\.uniform: expected low <= high.* at .*test_safe\.py:{line} ", str(error))


class Tally(NamedTuple):
    n: int


def multiplied(state, action, rng, params):
    n = state.n * 3 if params.kind == 0 else (state.n << 20 if params.kind == 1 else state.n + 2**61)
    return Tally(n), 0.0, False


class Growing(RuleEnv):
    observation_space, action_space = Box(-np.inf, np.inf, (1,), np.float64), Discrete(2)
    rules = Rules(Tally, Params, lambda rng, params: Tally(1), multiplied, lambda state, params: (float(state.n),))


@pytest.mark.parametrize("kind", range(3))
def test_integers_past_64_bits_are_errors_where_checks_are_on(kind):
    batch = ludus.make_vec(Growing, 2, executor=Kernel(checks=True), kind=kind)
    assert batch.checks
    batch.reset(seed=0)
    number, error = fails(lambda: batch.step(np.zeros(2, int)), most=60)
    assert isinstance(error, OverflowError)
    assert re.match(r"lane 0, step \d+: an integer is larger than 64 bits at .*test_safe.py", str(error)), number


def test_checks_are_on_or_off():
    with pytest.raises(InvalidArgument, match=r"Kernel\.checks: expected True or False, got 1"):
        Kernel(checks=1)


def test_the_contract_plays_a_compiled_batch_with_checks_beside_the_environment():
    report = check_env(Growing, steps=10)
    (finding,) = [one for one in report.errors if one.rule == "a-compiled-batch-is-its-lanes"]
    assert "step 40: no error alone, OverflowError: lane 0" in finding.message
    assert "rules-can-be-compiled" in report.rules


class Counted(NamedTuple):
    n: int
    x: float


def counted(rng, params):
    return Counted(0, 0.5)


def taken(state, action, rng, params):
    if state.n == 3:
        raise ValueError("cell", state.n, "is taken", state.x, state.n > 2)
    return Counted(state.n + 1, state.x), 0.0, False


def count(state, params):
    return (state.x,)


def row_taken(state, action, rng, params):
    if state.n == 3:
        raise IndexError(state.n)
    return State(state.row, state.n + 1, state.x), 0.0, False


def number(state, params):
    return (state.x,)


def until_it_fails(env, action):
    for _ in range(STEPS):
        env.step(action)


@pytest.mark.parametrize(
    "given", [Rules(Counted, Params, counted, taken, count), Rules(State, Params, reset, row_taken, number)]
)
def test_an_exception_of_the_rules_tells_the_numbers_it_was_given(given):
    class Raising(RuleEnv):
        rules = given
        observation_space = Box(-9, 9, (1,), np.float64)
        action_space = Discrete(2)

    alone, batch = Raising(), KernelVectorEnv(Raising, LANES)
    alone.reset(seed=0)
    with pytest.raises((ValueError, IndexError)) as single:
        until_it_fails(alone, 0)
    for seed in range(2):  # what was raised once does not stay
        batch.reset(seed=seed)
        with pytest.raises(single.type) as found:
            until_it_fails(batch, np.zeros(LANES, int))
        assert f": {single.value} at " in str(found.value)


def tells_a_row(state, action, rng, params):
    if state.n == 3:
        raise ValueError(state.row)
    return State(state.row, state.n + 1, state.x), 0.0, False


def test_an_exception_that_tells_an_array_is_refused_with_its_line():
    class Telling(RuleEnv):
        rules = Rules(State, Params, reset, tells_a_row, number)
        observation_space = Box(-9, 9, (1,), np.float64)
        action_space = Discrete(2)

    with pytest.raises(
        KernelError, match=r"test_safe.py:\d+ \(raise ValueError\(state.row\)\).*write numbers and text"
    ):
        KernelVectorEnv(Telling, LANES)


def test_one_environment_that_runs_compiled_tells_the_numbers_too():
    class Compiled(RuleEnv):
        rules = Rules(Counted, Params, counted, taken, count, compiled=True)
        observation_space = Box(-9, 9, (1,), np.float64)
        action_space = Discrete(2)

    env = Compiled()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"^\('cell', 3, 'is taken', 0\.5, True\) at .*test_safe\.py"):
        until_it_fails(env, 0)
