"""Planned episodes: each has its seed in the file, and the run is replayed by the plan it recorded."""

import numpy as np
import pytest

import ludus
from ludus.core import Episode
from ludus.trajectory import Recorder, Run, replay
from tests.trajectory.conftest import random_actions


def plan(lane: int, number: int) -> Episode:
    return Episode(seed=None if number == 2 else 1000 * lane + number, options=None)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("executor", ["kernel", "serial"])
def test_planned_episodes_have_their_seeds_and_are_replayed(path, executor, mode):
    envs = ludus.make_vec("CartPole-v1", 4, executor=executor, autoreset_mode=mode, episodes=plan)
    with Recorder(envs, path) as recorder:
        recorder.reset(seed=[7, 8, 9, 10])
        for action in random_actions(recorder, 150):
            recorder.step(action)
    run = Run.open(path)
    numbers = np.zeros(4, int)
    for episode in run:
        number = numbers[episode.lane]
        expected = 7 + episode.lane if number == 0 else plan(episode.lane, number).seed
        assert episode.seed == expected
        numbers[episode.lane] += 1
    assert numbers.min() > 3
    assert replay(run)
    assert replay(run, executor="serial")


def test_autoreset_by_hand_asks_the_plan_as_well(path):
    envs = ludus.make_vec("CartPole-v1", 3, executor="serial", episodes=plan)
    with Recorder(envs, path, "full") as recorder:
        recorder.reset(seed=0)
        recorder.step(np.ones(3, np.int64))
        recorder.autoreset(np.array([True, False, True]))
        for action in random_actions(recorder, 60):
            recorder.step(action)
    run = Run.open(path)
    assert run.plan(2, 1) == Episode(2001)
    assert sorted(episode.seed for episode in run if episode.start == 2) == [1, 2001]
    assert replay(run)
