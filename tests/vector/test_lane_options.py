"""`options["each"]`: every lane gets an option of its own, whatever runs the lanes."""

from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.errors import InvalidArgument, InvalidType
from ludus.kernels import RuleEnv
from ludus.testing import data_equal
from tests.kernels.strange_games import Rover

LANES = 3
EXECUTORS = ("serial", "thread", "process", "kernel")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_lane_of_any_executor_starts_where_it_is_told_to(executor):
    with ludus.make_vec(Rover, LANES, executor) as envs:
        seen, _ = envs.reset(seed=3, options={"each": {"x": [1.0, 2.0, 3.0]}})
        for lane, place in enumerate((1.0, 2.0, 3.0)):
            alone, _ = Rover().reset(seed=3 + lane, options={"x": place})
            assert data_equal(alone["pose"], seen["pose"][lane])
        some = {"reset_mask": np.array([False, True, True]), "each": {"x": np.array([9.0, 8.0, 7.0])}}
        assert envs.reset(options=some)[0]["pose"][:, 0].tolist() == [1.0, 8.0, 7.0]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_lane_of_cartpole_may_have_bounds_of_its_own(executor):
    with ludus.make_vec("CartPole-v1", LANES, executor) as envs:
        seen, _ = envs.reset(seed=5, options={"high": 0.5, "each": {"low": [0.1, 0.2, 0.3]}})
        for lane, low in enumerate((0.1, 0.2, 0.3)):
            alone, _ = ludus.make("CartPole-v1").reset(seed=5 + lane, options={"low": low, "high": 0.5})
            assert data_equal(alone, seen[lane])


@pytest.mark.parametrize("executor", ["serial", "kernel"])
@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"each": 3}, InvalidType, r"options\['each'\]: expected a dictionary of lists"),
        ({"each": {"x": 1.0}}, InvalidType, r"options\['each'\]\['x'\]: expected a list of 3 values, one a lane"),
        ({"each": {"x": [1.0]}}, InvalidArgument, r"options\['each'\]\['x'\]: expected 3 values, one a lane, got 1"),
        ({"x": 1.0, "each": {"x": [1.0] * 3}}, InvalidArgument, "options: expected each option once, got x for all"),
    ],
)
def test_what_is_no_value_for_each_lane_is_told(executor, options, error, text):
    with ludus.make_vec(Rover, LANES, executor) as envs, pytest.raises(error, match=text):
        envs.reset(seed=0, options=options)


class Marked(NamedTuple):
    each: int = 0


def test_rules_cannot_have_an_option_that_batches_understand():
    with pytest.raises(InvalidArgument, match=r"expected other names than each and reset_mask.*, got each"):
        type("Odd", (RuleEnv,), {"rules": Rover.rules._replace(options=Marked)})
