"""Rules of any shape: what a stranger's game observes, keeps and tells is the same in a batch as in one environment."""

from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.errors import ContractViolation, KernelError
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Dict, Discrete, Tuple
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit
from tests.kernels.strange_games import GAMES
from tests.kernels.test_batch import same_infos

LANES, LIMIT = 3, 25


def pair(kind, mode):
    compiled = KernelVectorEnv(kind, LANES, autoreset_mode=mode, max_episode_steps=LIMIT)
    serial = SerialVectorEnv([lambda: TimeLimit(kind(), LIMIT)] * LANES, autoreset_mode=mode)
    return compiled, serial


def same(found, expected):
    assert data_equal(found[0], expected[0])
    told, theirs = dict(found[-1]), dict(expected[-1])
    last, wanted = told.pop("final_obs", ()), theirs.pop("final_obs", ())
    assert all(data_equal(a, b) for a, b in zip(last, wanted, strict=True))
    same_infos(told, theirs)
    for mine, theirs in zip(found[1:-1], expected[1:-1], strict=True):
        assert np.array_equal(mine, theirs)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", GAMES)
def test_a_batch_of_any_game_is_its_lanes(kind, mode):
    compiled, serial = pair(kind, mode)
    same(compiled.reset(seed=7), serial.reset(seed=7))
    compiled.action_space.seed(5)
    ended = np.zeros(LANES, bool)
    for _ in range(90):
        if mode is AutoresetMode.DISABLED and ended.any():
            same(*(one.reset(options={"reset_mask": ended}) for one in (compiled, serial)))
        actions = compiled.action_space.sample()
        step, expected = compiled.step(actions), serial.step(actions)
        same(step, expected)
        ended = step.terminated | step.truncated


# --- what does not fit is an error, in one environment and in a batch ---


class Place(NamedTuple):
    place: int
    row: Any


class Params(NamedTuple):
    pass


def begin(rng, params):
    return Place(0, np.zeros(2))


def walk(state, action, rng, params):
    return Place(state.place + 1, state.row), 0.0, False


def observing(see, space=None, step=walk):
    class Observed(RuleEnv):
        rules = Rules(Place, Params, begin, step, see)
        observation_space = space or Box(-9, 9, (3,))
        action_space = Discrete(2)

    return Observed


def grows(state, params):
    return np.zeros(3 + state.place)


def shrinks(state, params):
    return np.zeros(3 - state.place)


def overflows(state, params):
    return np.full(3, 255 + state.place)


@pytest.mark.parametrize(
    ("see", "space", "text"),
    [
        (lambda state, params: (1.0, 2.0), None, r"observation: expected shape \(3,\) from observe, got shape \(2,\)"),
        (lambda state, params: (1.0, 2.0, 3.0, 4.0), None, r"expected shape \(3,\) from observe, got shape \(4,\)"),
        (lambda state, params: np.zeros((3, 1)), None, r"expected shape \(3,\) from observe, got shape \(3, 1\)"),
        (lambda state, params: (1, 2), Tuple((Discrete(3),)), "expected a tuple of 1 from observe"),
        (lambda state, params: {"b": 1}, Dict(a=Discrete(3)), r"expected the keys \['a'\], in a dictionary or a Named"),
    ],
)
def test_an_observation_of_another_shape_is_an_error(see, space, text):
    kind = observing(see, space)
    with pytest.raises(ContractViolation, match=text):
        kind().reset(seed=0)
    with pytest.raises(ContractViolation, match=text):
        KernelVectorEnv(kind, 2)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("see", [grows, shrinks, overflows])
def test_an_observation_that_stops_fitting_is_an_error_when_it_does(see):
    kind = observing(see, Box(0, 255, (3,), np.uint8) if see is overflows else None)
    alone, batch = kind(), KernelVectorEnv(kind, 2)
    alone.reset(seed=0)
    batch.reset(seed=0)
    with pytest.raises(ContractViolation, match="observation: expected"):
        alone.step(0)
    with pytest.raises(ContractViolation, match="observation: expected"):
        batch.step(np.zeros(2, int))


def test_a_float_for_an_integer_is_refused_while_compiling():
    kind = observing(lambda state, params: state.place * 0.5, Discrete(3))
    with pytest.raises(KernelError, match="observation: expected int64, got float64 from the rules"):
        KernelVectorEnv(kind, 2)


def halves_later(state, action, rng, params):
    return Place(state.place / 2 if action == 1 else state.place + 1, state.row), 0.0, False


def test_a_float_in_a_field_of_integers_is_refused_whatever_action_it_comes_from():
    with pytest.raises(KernelError, match="an integer in one branch and a float in another; write float"):
        KernelVectorEnv(observing(lambda state, params: (1.0, 2.0, 3.0), None, halves_later), 2)


@pytest.mark.parametrize(
    "see", [lambda state, params: [1.0, 2.0, 3.0], lambda state, params: (np.zeros(1), np.zeros(1), np.zeros(1))]
)
def test_lists_and_tuples_of_arrays_are_no_observations_of_a_box(see):
    with pytest.raises(KernelError, match="expected a number, a tuple of numbers or an array from observe"):
        KernelVectorEnv(observing(see), 2)


def two_orders(state, params):
    if state.place > 2:
        return {"b": 1, "a": 2}
    return {"a": 0, "b": 1}


def test_a_dictionary_is_written_in_one_order():
    with pytest.raises(KernelError, match="expected a dictionary written out in one place and one order"):
        KernelVectorEnv(observing(two_orders, Dict(a=Discrete(3), b=Discrete(3))), 2)


def test_a_dictionary_of_one_key_is_one():
    kind = observing(lambda state, params: {"a": state.place}, Dict(a=Discrete(3)))
    batch = KernelVectorEnv(kind, 2)
    assert batch.reset(seed=0)[0]["a"].tolist() == [0, 0]
    assert batch.step(np.zeros(2, int)).observation["a"].tolist() == [1, 1]


def test_compiling_does_not_take_longer_for_more_numbers():
    def seconds(count):
        kind = observing(lambda state, params: np.zeros(10_000)[:count], Box(-9, 9, (count,)))
        start = process_time()
        KernelVectorEnv(kind, 2)
        return process_time() - start

    few, many = seconds(3), seconds(10_000)
    assert many <= 2 * few + 1.0
