"""Policies as opponents: the same game in one environment and in every lane of a batch."""

from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode
from ludus.errors import InvalidType
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Discrete
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


class Race(NamedTuple):
    left: int
    player: int


class Start(NamedTuple):
    left: int = 9


def begin(rng, params):
    return Race(params.left, rng.integers(2))


def run(state, action, rng, params):
    left = max(state.left - 1 - action, 0)
    player = state.player if rng.random() < 0.3 else 1 - state.player
    return Race(left, player), (0.25, -0.5) if state.player == 0 else (-1.0, 2.0), left == 0


def ahead(state, params, player):
    return state.left


def mover(state, params):
    return state.player


def steps(state, params):
    return np.ones(2, np.int8)


class PaidRace(RuleEnv):
    """Whoever moves is paid, anybody may begin, and some move twice."""

    rules = Rules(Race, Start, begin, run, ahead, legal=steps, players=2, turn=mover)
    observation_space, action_space = Discrete(10), Discrete(2)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("game", [Nim, PaidRace])
def test_a_batch_against_a_policy_is_its_lanes(game, mode, seat):
    batch = PlayAgainst(KernelVectorEnv(game, LANES, autoreset_mode=mode), least, seat)
    lanes = SerialVectorEnv([lambda: PlayAgainst(game(), least, seat)] * LANES, autoreset_mode=mode)
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
