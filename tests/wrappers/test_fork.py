"""Forks of wrapped batches go on from where lanes are, wrappers included."""

import numpy as np
import pytest

from ludus import wrappers as w
from ludus.core import AutoresetMode, Wrapper
from ludus.errors import InvalidArgument, InvalidType
from ludus.kernels.batch import KernelVectorEnv
from ludus.testing import data_equal
from ludus.vector import ProcessVectorEnv, SerialVectorEnv
from tests.core.wording import says
from tests.wrappers.drift import Drift

BATCHES = {
    "serial": lambda mode: SerialVectorEnv([Drift] * 3, autoreset_mode=mode),
    "process": lambda mode: ProcessVectorEnv([Drift] * 3, autoreset_mode=mode, num_workers=2),
    "kernel": lambda mode: KernelVectorEnv(Drift, 3, autoreset_mode=mode),
}
STACK = [
    w.FrameStackObservation.using(2),
    w.DelayObservation.using(1),
    w.RecordEpisodeStatistics.using(),
    w.StickyAction.using(0.5),
    w.RepeatAction.using(2),
    w.TimeLimit.using(3),
    w.NormalizeReward.using(),
]
LANES = [2, 0, 2, 1]


def wrapped(env, stack=STACK):
    for wrapper in stack:
        env = wrapper(env)
    return env


@pytest.mark.parametrize("executor", BATCHES)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=lambda mode: mode.value)
def test_lanes_of_a_fork_do_what_their_lane_does(executor, mode):
    with wrapped(BATCHES[executor](mode), STACK[:-1]) as envs:
        envs.reset(seed=0)
        for number in range(7):
            envs.step(np.full(3, number % 3))
        with envs.fork(LANES) as twin:
            assert twin.num_envs == 4
            assert twin.observation_space.shape == (4, *envs.observation_space.shape[1:])
            for number in range(12):
                ours, theirs = envs.step(np.full(3, number % 3)), twin.step(np.full(4, number % 3))
                for lane, original in enumerate(LANES):
                    for mine, other in zip(theirs[:4], ours[:4], strict=True):
                        assert data_equal(mine[lane], other[original])


def test_a_fork_goes_its_own_way():
    envs = wrapped(SerialVectorEnv([Drift] * 3))
    envs.reset(seed=0)
    twin = envs.fork([0, 1, 2])
    for _ in range(5):
        twin.step(np.zeros(3, int))
    other = wrapped(SerialVectorEnv([Drift] * 3))
    other.reset(seed=0)
    for _ in range(6):
        assert data_equal(tuple(envs.step(np.ones(3, int)))[:4], tuple(other.step(np.ones(3, int)))[:4])


def test_a_wrapper_with_a_constructor_says_what_lanes_have():
    class Counting(Wrapper):
        def __init__(self, env):
            super().__init__(env)
            self.counts = np.zeros(env.batch_shape)

    class Declared(Counting):
        lane_fields = ("counts",)

        def __init__(self, env):
            super().__init__(env)

    with says(
        InvalidType,
        "fork: expected Counting to say which of its attributes have an entry for each lane, got nothing; "
        "set `lane_fields`, a tuple of their names, () for none",
    ):
        Counting(SerialVectorEnv([Drift] * 2)).fork([0])
    Counting.lane_fields = ()
    envs = Declared(SerialVectorEnv([Drift] * 2))
    envs.reset(seed=0)
    envs.counts[:] = 4, 5
    assert envs.fork([1, 1]).counts.tolist() == [5, 5]


def test_one_environment_and_a_batch_without_lanes_are_told_what_to_write():
    env = w.TimeLimit(Drift(), 5)
    env.reset(seed=0)
    for lanes in ((), (2,), ([0, 0],)):
        with says(
            InvalidType,
            "fork: expected a batch, got one environment; take a snapshot() of it, and restore() that into another",
        ):
            env.fork(*lanes)
    with says(InvalidArgument, "fork: expected the lanes to go on from, as in fork([0, 0]), got none"):
        w.TimeLimit(SerialVectorEnv([Drift] * 2), 5).fork()


def test_every_wrapper_knows_what_lanes_have():
    unknown = []
    for name in w.__all__:
        kind = getattr(w, name)
        if isinstance(kind, type) and issubclass(kind, w.Transform):
            unknown += [
                one.__name__
                for one in kind.__mro__
                if issubclass(one, Wrapper) and "__init__" in vars(one) and "lane_fields" not in vars(one)
            ]
    assert unknown == []
