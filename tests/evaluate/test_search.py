"""Agents that search beat chance, know nothing of what will be drawn, and leave the environment as it was."""

import numpy as np
import pytest

from ludus.core import Env, Step
from ludus.errors import InvalidArgument, InvalidType
from ludus.evaluate import MctsAgent, OneStepAgent, evaluate
from ludus.spaces import Discrete


@pytest.mark.parametrize(
    ("name", "agent", "options", "least"),
    [
        ("CartPole-v1", OneStepAgent(rollouts=8, depth=15), {"max_steps": 60, "episodes": 1}, 50.0),
        ("CartPole-v1", MctsAgent(iterations=4, rollouts=4, depth=15), {"max_steps": 40, "episodes": 1}, 35.0),
        ("CliffWalking-v1", OneStepAgent(rollouts=8, depth=10), {"max_steps": 30, "episodes": 1}, -31.0),
        ("CliffWalking-v1", MctsAgent(iterations=8, rollouts=4, depth=10), {"max_steps": 20, "episodes": 1}, -21.0),
        ("FrozenLake-v1", OneStepAgent(rollouts=100, depth=50), {"episodes": 2, "kwargs": {"is_slippery": False}}, 0.5),
        ("FrozenLake-v1", MctsAgent(8, 50, 40), {"episodes": 1, "kwargs": {"is_slippery": False}}, 0.5),
    ],
    ids=["pole one-step", "pole mcts", "cliff one-step", "cliff mcts", "lake one-step", "lake mcts"],
)
def test_searching_beats_chance(name, agent, options, least):
    found = evaluate(name, agent, num_envs=2, **options)
    chance = evaluate(name, "random", **(options | {"episodes": 40}))
    assert found.totals().mean() >= least > chance.totals().mean()


class Coin(Env):
    """A stranger's: guess what the environment is about to draw. Nobody can."""

    observation_space, action_space = Discrete(2), Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 40
        return 0, {}

    def step(self, action):
        drawn = int(self.np_random.integers(2))
        self.left -= 1
        return Step(drawn, float(action == drawn), self.left == 0, False, {})


def test_what_will_be_drawn_is_not_known():
    found = evaluate(Coin, OneStepAgent(rollouts=1, depth=1), episodes=6, num_envs=3)
    assert 0.35 < np.mean(found.totals()) / 40 < 0.65


def test_every_executor_that_can_fork_finds_the_same():
    agent = OneStepAgent(rollouts=3, depth=5)
    options = {"episodes": 2, "max_steps": 6}
    compiled = evaluate("CliffWalking-v1", agent, **options)
    assert compiled.episodes == evaluate("CliffWalking-v1", agent, executor="serial", num_envs=1, **options).episodes


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InvalidType, match=r"OneStepAgent: expected actions of Discrete\(n\), got Box"):
        evaluate("Pendulum-v1", OneStepAgent, episodes=1)
    with pytest.raises(InvalidArgument, match=r"MctsAgent: expected at least 1 iteration, got 0"):
        MctsAgent(iterations=0)
    with pytest.raises(InvalidArgument, match=r"search: expected rollouts and depth of at least 1"):
        OneStepAgent(depth=0)
