"""A batch is open or closed as a whole."""

import numpy as np
import pytest

from ludus.envs.teaching import GridWorld
from ludus.errors import ClosedEnvironment, InvalidAction
from ludus.vector import SerialVectorEnv


class Counted(GridWorld):
    open = 0

    def __init__(self):
        super().__init__()
        Counted.open += 1

    def close(self):
        Counted.open -= 1


def broken():
    raise RuntimeError("no such maze")


def test_a_lane_that_cannot_be_built_closes_those_before_it():
    with pytest.raises(RuntimeError, match="no such maze"):
        SerialVectorEnv([Counted, Counted, broken])
    assert Counted.open == 0


def test_a_closed_batch_says_so():
    envs = SerialVectorEnv([Counted, Counted])
    envs.reset(seed=0)
    envs.close()
    envs.close()
    assert Counted.open == 0
    with pytest.raises(ClosedEnvironment, match="step: expected an open batch, got one that was closed"):
        envs.step(np.zeros(2, int))
    with pytest.raises(ClosedEnvironment, match="reset: expected an open batch"):
        envs.reset()


def test_a_choice_that_is_none_stops_the_batch_before_any_lane_moves():
    envs = SerialVectorEnv([GridWorld] * 3)
    envs.reset(seed=0)
    with pytest.raises(InvalidAction, match=r"action\[2\]: expected Discrete\(4\), got 7"):
        envs.step(np.array([1, 3, 7]))
    assert all((env.agent == 0).all() for env in envs.envs)
