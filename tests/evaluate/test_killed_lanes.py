"""A tenth of the lanes is killed: mean and interval are those of the episodes that survived, and the result says so."""

import os
import signal

import numpy as np
import pytest

from ludus.core import Env, Outcome, Step
from ludus.errors import LudusError
from ludus.evaluate import evaluate, mean
from ludus.spaces import Box, Discrete
from ludus.vector import Process

EPISODES = 20


class Furnace(Env):
    """Burns for a few steps; where the seed is one of `fatal`, its process is gone in the third."""

    observation_space, action_space = Box(0.0, 99.0, (1,), np.float64), Discrete(2)

    def __init__(self, fatal=()):
        self.fatal = tuple(fatal)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.age, self.seed, self.lasts = 0, seed, int(self.np_random.integers(4, 9))
        return np.zeros(1), {}

    def step(self, action):
        self.age += 1
        if self.age == 3 and self.seed in self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        reward = float(self.np_random.random())
        seen = np.array([float(self.age)])
        return Step.success(seen, reward) if self.age >= self.lasts else Step.transition(seen, reward)


def test_of_twenty_episodes_of_which_two_are_killed_eighteen_count():
    whole = evaluate(Furnace, "random", episodes=EPISODES, executor="serial")
    chosen = np.random.default_rng(8).choice(EPISODES, 2, replace=False).tolist()
    survivors = [one for one in whole.episodes if one.number not in chosen]
    options = {"num_envs": 5, "executor": Process(workers=5, on_failure="restart")}
    options["kwargs"] = {"fatal": [whole.episodes[number].seed for number in chosen]}
    found = evaluate(Furnace, "random", episodes=EPISODES, max_masked=0.1, **options)
    assert {one.number: one.outcome for one in found.episodes if one not in found.counted} == dict.fromkeys(
        chosen, Outcome.INFRASTRUCTURE_FAILED
    )
    assert found.marks[-1] == "2 of 20 episodes masked, and left out"
    assert list(found.counted) == survivors
    expected = whole._replace(episodes=tuple(survivors))
    assert found.interval(mean) == expected.interval(mean)
    with pytest.raises(LudusError, match=r"got 10.0% \(2 of 20: infrastructure_failed\)"):
        evaluate(Furnace, "random", episodes=EPISODES, max_masked=0.05, **options)
