"""`ThreadVectorEnv`: errors wait for everybody, a lane keeps its thread, and the lock is given up in fact."""

import os
import threading

import numpy as np
import pytest

from ludus.envs.teaching import GridWorld
from ludus.errors import ClosedEnvironment, InvalidArgument
from ludus.vector import ThreadVectorEnv
from tests.core.wording import says
from tests.vector.lanes import Troubled


def test_an_error_is_raised_when_all_lanes_have_made_their_step():
    with ThreadVectorEnv([Troubled] * 4, num_threads=2) as envs:
        envs.reset(seed=0)
        with pytest.raises(KeyError, match="a hole in the floor") as caught:
            envs.step(np.array([0, 1, 0, 1]))
        assert caught.value.__notes__ == ["lane 1", "lane 3 too: KeyError: 'a hole in the floor'"]
        assert envs.step(np.zeros(4, np.int64)).observation.tolist() == [[2, 0], [1, 0], [2, 0], [1, 0]]
        with pytest.raises(KeyError, match="a hole in the floor"):
            envs.reset(options={"trouble": 1})


def test_lanes_of_different_threads_make_their_steps_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)

    class Meeting(GridWorld):
        def step(self, action):
            meeting.wait()
            return super().step(action)

    with ThreadVectorEnv([Meeting] * 2, num_threads=2) as envs:
        envs.reset(seed=0)
        envs.step([1, 1])


def test_a_lane_keeps_its_thread():
    class Named(GridWorld):
        def step(self, action):
            return super().step(action)._replace(info={"thread": threading.get_ident()})

    with ThreadVectorEnv([lambda: Named(30)] * 5, num_threads=3) as envs:
        envs.reset(seed=0)
        first = envs.step(np.ones(5, np.int64)).info["thread"]
        assert all((envs.step(np.ones(5, np.int64)).info["thread"] == first).all() for _ in range(5))
        assert len(set(first.tolist())) == envs.num_threads == 3
        assert threading.get_ident() not in first


def test_threads_are_as_many_as_cores_and_lanes():
    cores = len(os.sched_getaffinity(0))
    for lanes, asked, expected in ((1, None, 1), (3, None, min(3, cores)), (2, 5, 2), (5, 3, 3)):
        with ThreadVectorEnv([GridWorld] * lanes, num_threads=asked) as envs:
            assert envs.num_threads == expected


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_a_number_of_threads_that_is_none_is_refused(count):
    with says(InvalidArgument, f"num_threads: expected a positive integer, got {count!r}"):
        ThreadVectorEnv([GridWorld], num_threads=count)


def test_a_closed_batch_says_so():
    envs = ThreadVectorEnv([GridWorld] * 2)
    envs.reset(seed=0)
    envs.close()
    envs.close()
    with pytest.raises(ClosedEnvironment, match="step: expected an open batch, got one that was closed"):
        envs.step([0, 0])
    assert not any(thread.is_alive() for thread in envs._threads)
