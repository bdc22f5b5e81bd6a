"""Episodes that autoreset begins, and lanes that fork."""

import numpy as np
import pytest

from ludus.core import AutoresetMode, Episode
from ludus.envs.teaching import GridWorld
from ludus.errors import InvalidArgument, InvalidSeed, InvalidType
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit


def lane():
    return TimeLimit(GridWorld(), 3)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_each_episode_starts_as_planned(mode):
    asked = []

    def plan(lane, number):
        asked.append((lane, number))
        return Episode(seed=1000 * (lane + 1) + number)

    envs = SerialVectorEnv([lane, lane], autoreset_mode=mode, episodes=plan)
    envs.reset(seed=0)
    goals = []
    for _ in range(12):
        infos = envs.step(np.zeros(2, np.int64))[4]
        if asked and len(goals) < len(asked):
            goals += [infos["goal"][one] for one in range(2)]
    expected = [GridWorld().reset(seed=1000 * (one + 1) + number)[1]["goal"] for one, number in asked]
    assert asked[:4] == [(0, 1), (1, 1), (0, 2), (1, 2)]
    assert np.array_equal(goals, expected)


@pytest.mark.parametrize(
    ("wrong", "error"), [((3, None), InvalidType), (None, InvalidType), (Episode(seed=-3), InvalidSeed)]
)
def test_a_plan_that_gives_no_episode_is_refused(wrong, error):
    envs = SerialVectorEnv([lane], autoreset_mode="SameStep", episodes=lambda lane, number: wrong)
    envs.reset(seed=0)
    envs.step([0])
    envs.step([0])
    with pytest.raises(error, match=r"episodes\(0, 1\)"):
        envs.step([0])


def test_a_reset_counts_episodes_anew():
    asked = []
    envs = SerialVectorEnv(
        [lane], autoreset_mode="SameStep", episodes=lambda lane, number: asked.append(number) or Episode()
    )
    for _ in range(2):
        envs.reset(seed=0)
        for _ in range(6):
            envs.step([0])
    assert asked == [1, 2, 1, 2]


def test_forked_lanes_go_on_alike_and_apart():
    envs = SerialVectorEnv([lane] * 3)
    envs.reset(seed=5)
    envs.step([1, 2, 3])
    twin = envs.fork([2, 2, 0])
    ours, theirs = envs.step([1, 1, 1]), twin.step([1, 1, 1])
    assert np.array_equal(theirs.observation, ours.observation[[2, 2, 0]])
    for _ in range(5):
        ours, theirs = envs.step([0, 1, 2]), twin.step([2, 2, 0])
        assert np.array_equal(theirs.observation, ours.observation[[2, 2, 0]])
        assert np.array_equal(theirs.terminated, ours.terminated[[2, 2, 0]])
    twin.step([3, 3, 3])
    assert np.array_equal(envs.step([0, 1, 2]).observation, envs.fork([0, 1, 2])._stacked())


@pytest.mark.parametrize("lanes", [[], [3], [-1], [0.5], "0", [[0]]])
def test_lanes_that_are_none_are_refused(lanes):
    envs = SerialVectorEnv([lane] * 3)
    envs.reset(seed=5)
    with pytest.raises(InvalidArgument, match="fork: expected"):
        envs.fork(lanes)
