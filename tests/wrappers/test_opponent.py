"""Policies as opponents: the same game in one environment and in every lane of a batch."""

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode
from ludus.errors import InvalidType
from ludus.kernels.batch import KernelVectorEnv
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from ludus.wrappers import PlayAgainst
from tests.kernels.strange_games import Nim

LANES = 4


def least(observation, info):
    """The first legal action, for one game or for each of a batch."""
    mask = np.asarray(info["action_mask"])
    return mask.argmax(axis=-1) if mask.ndim > 1 else int(mask.argmax())


def same(first, second):
    assert data_equal(first.observation, second.observation)
    for a, b in zip(first[1:4], second[1:4], strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_batch_against_a_policy_is_its_lanes(mode, seat):
    batch = PlayAgainst(KernelVectorEnv(Nim, LANES, autoreset_mode=mode), least, seat)
    lanes = SerialVectorEnv([lambda: PlayAgainst(Nim(), least, seat)] * LANES, autoreset_mode=mode)
    found, info = batch.reset(seed=3)
    expected, told = lanes.reset(seed=3)
    assert data_equal(found, expected)
    assert np.array_equal(info["action_mask"], told["action_mask"])
    for _ in range(40):
        assert (info["turn"][info["_turn"]] == seat).all() or mode is not AutoresetMode.SAME_STEP
        mask = np.array(info["action_mask"])
        action = np.array([np.flatnonzero(row)[-1] if row.any() else 0 for row in mask])
        step, theirs = batch.step(action), lanes.step(action)
        same(step, theirs)
        info = step.info
        assert np.array_equal(info["action_mask"], theirs.info["action_mask"])
        if mode is AutoresetMode.DISABLED and step.done.any():
            options = {"reset_mask": step.done}
            found, told = batch.reset(options=options)
            assert data_equal(found, lanes.reset(options=options)[0])
            info["action_mask"][step.done] = told["action_mask"][step.done]


def test_a_policy_is_a_function():
    with pytest.raises(InvalidType, match="PlayAgainst policy: expected a function, got 3"):
        PlayAgainst(Nim(), 3)


def test_an_environment_without_turns_is_refused_with_what_to_do():
    env = PlayAgainst(ludus.make("CartPole-v1"), least)
    with pytest.raises(InvalidType, match=r"expected a game whose info tells the `turn`, got info with \[\]; rules do"):
        env.reset(seed=0)
