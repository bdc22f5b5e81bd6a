"""The teaching environments: their rules, their refusals, and the same seed twice."""

import numpy as np
import pytest

from ludus.envs.teaching import Bandit, GridWorld
from ludus.errors import InvalidAction, InvalidArgument
from tests.core.wording import says


@pytest.mark.parametrize("make", [GridWorld, Bandit])
def test_the_same_seed_gives_the_same_episodes(make):
    def play(seed):
        env, seen = make(), []
        env.reset(seed=seed)
        env.action_space.seed(seed)
        for _ in range(50):
            step = env.step(env.action_space.sample())
            seen.append((np.asarray(step.observation).tolist(), step.reward, step.terminated))
            if step.terminated:
                env.reset()
        return seen

    assert play(3) == play(3)
    assert play(3) != play(4)


@pytest.mark.parametrize("make", [GridWorld, lambda: GridWorld(size=2), Bandit, lambda: Bandit(arms=2)])
def test_observations_are_in_their_space_and_rewards_are_zero_or_one(make):
    env = make()
    assert env.reset(seed=0)[0] in env.observation_space
    for _ in range(100):
        step = env.step(env.action_space.sample())
        assert step.observation in env.observation_space
        assert step.reward in (0.0, 1.0)
        assert type(step.reward) is float
        assert not step.truncated
        if step.terminated:
            env.reset()


@pytest.mark.parametrize(
    ("action", "place"), [(0, [0, 0]), (1, [1, 0]), (2, [0, 0]), (3, [0, 1])], ids=["up", "down", "left", "right"]
)
def test_moves_lead_where_they_say_and_walls_stop_them(action, place):
    env = GridWorld()
    env.reset(seed=0)
    assert env.step(action).observation.tolist() == place


def test_the_walk_ends_at_the_goal_with_a_reward():
    env = GridWorld(size=4)
    for seed in range(10):
        _, info = env.reset(seed=seed)
        rows, columns = info["goal"]
        assert (rows, columns) != (0, 0)
        steps = [env.step(action) for action in [1] * rows + [3] * columns]
        assert [step.terminated for step in steps] == [False] * (len(steps) - 1) + [True]
        assert sum(step.reward for step in steps) == 1.0
        assert np.array_equal(steps[-1].observation, info["goal"])


def test_what_is_returned_is_the_callers():
    env = GridWorld()
    observation, info = env.reset(seed=0)
    observation += 3
    info["goal"] += 3
    step = env.step(0)
    assert step.observation.tolist() == [0, 0]
    assert step.info["goal"].max() <= 4


def test_a_pull_ends_the_episode_and_pays_by_chance():
    env = Bandit(arms=2)
    rewards = []
    for action in (0, 1):
        env.reset(seed=0)
        env.chances[:] = 0.0, 1.0
        step = env.step(action)
        assert step.terminated
        rewards.append(step.reward)
    assert rewards == [0.0, 1.0]


def test_gaussian_arms_pay_around_their_means():
    env = Bandit(arms=2, gaussian=True)
    pay = []
    for seed in range(300):
        env.reset(seed=seed)
        env.chances[:] = -5.0, 5.0
        pay.append(env.step(1).reward)
    assert abs(np.mean(pay) - 5.0) < 0.3
    assert 0.8 < np.std(pay) < 1.2


@pytest.mark.parametrize("size", [1, 0, -3, 2.5, "4", None])
def test_a_square_has_at_least_two_cells_a_side(size):
    with says(InvalidArgument, f"GridWorld size: expected an integer from 2, got {size!r}"):
        GridWorld(size=size)


@pytest.mark.parametrize(
    ("make", "action", "text"),
    [
        (GridWorld, 4, "action: expected Discrete(4), got 4"),
        (GridWorld, -1, "action: expected Discrete(4), got -1"),
        (GridWorld, np.int64(9), "action: expected Discrete(4), got 9 (int64)"),
        (GridWorld, "up", "action: expected Discrete(4), got 'up'"),
        (Bandit, 10, "action: expected Discrete(10), got 10"),
        (Bandit, 1.0, "action: expected Discrete(10), got 1.0"),
    ],
)
def test_an_action_outside_the_space_is_refused(make, action, text):
    env = make()
    env.reset(seed=0)
    with says(InvalidAction, text):
        env.step(action)
