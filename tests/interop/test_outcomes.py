"""Outcomes from and to Gymnasium: ours by their text, and what means something else is a fact."""

import gymnasium
import numpy as np
import pytest

from ludus.core import Env, Outcome, Step
from ludus.interop.gymnasium import from_gymnasium, to_gymnasium
from ludus.spaces import Box, Discrete
from ludus.vector import SerialVectorEnv


class Match(gymnasium.Env):
    """Somebody else's, which has used the word for years."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(3)
    words = ("success", "a draw", None)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action):
        word = self.words[action]
        return np.ones(1), 1.0, True, False, {} if word is None else {"outcome": word, "facts": {"goals": 2}}


class Ours(Match):
    words = ("success", "failure", None)


class Plain(Env):
    observation_space, action_space = Box(0.0, 1.0, (1,), np.float64), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action):
        return (Step.success if action else Step.failure)(np.ones(1), 0.5)


def test_one_environment_of_gymnasiums_tells_ours_or_a_fact():
    env = from_gymnasium(Match())
    told = []
    for action in range(3):
        env.reset(seed=0)
        told.append(env.step(action).info)
    assert told[0] == {"outcome": Outcome.SUCCESS, "facts": {"goals": 2}}
    assert type(told[0]["outcome"]) is Outcome
    assert told[1:] == [{"facts": {"goals": 2, "outcome": "a draw"}}, {}]


@pytest.mark.parametrize(("kind", "codes"), [(Ours, [1, 2, 0]), (Match, None)])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_batch_of_gymnasiums_has_a_column_of_codes_where_all_are_ours(kind, codes, mode):
    theirs = gymnasium.vector.SyncVectorEnv([kind] * 3, autoreset_mode=gymnasium.vector.AutoresetMode(mode))
    with from_gymnasium(theirs) as envs:
        envs.reset(seed=0)
        info = envs.step(np.arange(3)).info
        info = info["final_info"] if mode == "SameStep" else info
        if codes is None:
            assert "outcome" not in info
            assert info["facts"]["outcome"].tolist() == ["success", "a draw", None]
        else:
            assert (info["outcome"].tolist(), info["outcome"].dtype) == (codes, np.int8)
            assert info["_outcome"].tolist() == [True, True, False]


def test_ours_go_to_gymnasium_and_come_back_the_same():
    there = to_gymnasium(Plain())
    there.reset(seed=0)
    assert there.step(1)[4]["outcome"] == "success"
    batch = from_gymnasium(to_gymnasium(SerialVectorEnv([Plain] * 2)))
    batch.reset(seed=0)
    info = batch.step(np.array([1, 0])).info
    assert (info["outcome"].tolist(), info["_outcome"].tolist()) == ([1, 2], [True, True])
