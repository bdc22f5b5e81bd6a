"""The contestants that can run here do the work they claim to do."""

import shutil

import numpy as np
import pytest

import ludus
from ludus.benchmarks.contestants.c_loop import TimedBatch as Loop
from ludus.benchmarks.contestants.gymnasium_batch import TimedBatch as Batch
from ludus.benchmarks.driver import ring_length

LANES = 3


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_loop_in_c_is_our_cartpole_bit_for_bit():
    loop, envs = Loop("CartPole-v1", LANES, ring=4), ludus.make_vec("CartPole-v1", LANES)
    first, _ = envs.reset(seed=0)
    assert np.array_equal(loop.observations, first)
    rng = np.random.default_rng(1)
    ends = np.zeros(2, int)
    for number in range(1200):
        upright = (loop.observations[:, 2] + 0.3 * loop.observations[:, 3] > 0).astype(np.int64)
        # Some lanes are balanced until the time limit, the last one falls.
        actions = np.where(np.arange(LANES) < LANES - 1, upright, rng.integers(0, 2, LANES))
        loop.step(actions.ctypes.data)
        step = envs.step(actions)
        assert np.array_equal(loop.observations, step.observation), number
        assert np.array_equal(loop.rewards, step.reward)
        assert np.array_equal(loop.terminated, step.terminated)
        assert np.array_equal(loop.truncated, step.truncated)
        ends += step.terminated.sum(), step.truncated.sum()
    assert (ends > 0).all()


def test_a_loop_in_c_is_there_for_cartpole_alone():
    with pytest.raises(LookupError, match="there is no C loop for Pendulum-v1"):
        Loop("Pendulum-v1", LANES, ring=4)


@pytest.mark.parametrize("name", ["Cheap", "Pictures"])
@pytest.mark.filterwarnings("ignore")
def test_a_workload_is_the_same_in_both_libraries(name):
    target = f"ludus.benchmarks.workloads:{name}"
    theirs, ours = Batch(target, 2, ring=2, mode="sync"), ludus.make_vec(target, 2)
    ours.reset(seed=0)
    for _ in range(203):
        mine, other = ours.step(np.zeros(2, int)), theirs.step(np.zeros(2, int))
        assert mine.observation.dtype == other[0].dtype
        assert all(np.array_equal(a, b) for a, b in zip(mine[:4], other[:4], strict=True))
    theirs.close()


def test_large_batches_have_fewer_actions_drawn_beforehand():
    assert [ring_length(lanes) for lanes in (1, 4096, 16384, 65536, 10**6)] == [32, 32, 16, 8, 8]
