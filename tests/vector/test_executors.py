"""Executors agree: whatever the serial executor gives, processes and threads give, to the last bit and type."""

from functools import partial

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.testing import data_equal
from ludus.vector import ProcessVectorEnv, SerialVectorEnv, ThreadVectorEnv
from tests.sampling import covering
from tests.vector.lanes import LANES, Office, Pictures, Sentences, Steered, Ticket, cartpole, grid, plan

EXECUTORS = {
    "process": partial(ProcessVectorEnv, num_workers=2),
    "one worker": partial(ProcessVectorEnv, num_workers=1),
    "thread": partial(ThreadVectorEnv, num_threads=2),
}
EVERY_EXECUTOR = pytest.mark.parametrize("executor", EXECUTORS)
MODES = pytest.mark.parametrize("mode", AutoresetMode)
N = 3


class Pair:
    """The serial executor and another one, side by side."""

    def __init__(self, executor, make, n=N, **options):
        self.serial = SerialVectorEnv([make] * n, **options)
        self.other = EXECUTORS[executor]([make] * n, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.serial.close()
        self.other.close()

    def both(self, name, *args, **kwargs):
        """What both give, which is the same."""
        ours, theirs = (getattr(envs, name)(*args, **kwargs) for envs in (self.serial, self.other))
        ours, theirs = (tuple(one) if isinstance(one, tuple) else one for one in (ours, theirs))
        assert data_equal(ours, theirs), f"{name}: {ours}\n{theirs}"
        return ours

    def walk(self, steps):
        """Random actions; with autoreset disabled, ended lanes are reset, with options."""
        for number in range(steps):
            action = self.serial.action_space.sample()
            _, _, terminated, truncated, _ = self.both("step", action)
            ended = terminated | truncated
            if self.serial.autoreset_mode is AutoresetMode.DISABLED and ended.any():
                self.both("reset", options={"reset_mask": ended})
            elif number % 40 == 39:
                mask = np.arange(N) == number % N
                self.both("reset", seed=[5, None, number], options={"reset_mask": mask})


@pytest.mark.no_cover
@covering("executor, mode, name", list(EXECUTORS), list(AutoresetMode), list(LANES), strength=1)
def test_histories_are_those_of_the_serial_executor(executor, mode, name):
    with Pair(executor, LANES[name], autoreset_mode=mode) as pair:
        pair.serial.action_space.seed(1)
        pair.both("reset", seed=7)
        pair.walk(100)
        pair.both("reset", seed=[3, 1, 2])
        pair.walk(30)


@EVERY_EXECUTOR
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episodes_begin_as_planned(executor, mode):
    with Pair(executor, Sentences, autoreset_mode=mode, episodes=plan) as pair:
        pair.both("reset", seed=7, options={"first": 1})
        pair.walk(60)


FORCES = {
    "float32": np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], np.float32),
    "float64": np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]),
    "lists": [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]],
    "integers": np.array([[5, 6], [7, 8], [9, 10]]),
}
GEARS = {"int64": np.array([0, 1, 2]), "list": [0, 1, 2], "int32": np.array([0, 1, 2], np.int32)}


@covering("executor, force, gear", list(EXECUTORS), list(FORCES), list(GEARS))
def test_lanes_are_given_actions_as_the_serial_executor_gives_them(executor, force, gear):
    with Pair(executor, Steered) as pair:
        pair.both("reset", seed=0)
        for _ in range(3):
            pair.both("step", {"force": FORCES[force], "gear": GEARS[gear]})
        pair.both("step", {"force": np.zeros((3, 2), np.float32), "gear": np.zeros(3, np.int64)})


@EVERY_EXECUTOR
def test_records_come_and_go(executor):
    with Pair(executor, Office) as pair:
        pair.both("reset", seed=0)
        for number in range(10):
            pair.both("step", tuple(Ticket(f"lane {lane}", 0.5, [number]) for lane in range(N)))
        pair.both("step", ({"title": "a record", "price": 1, "seats": []},) * N)


@EVERY_EXECUTOR
def test_what_the_caller_gets_is_the_callers(executor):
    with EXECUTORS[executor]([Pictures] * N) as envs:
        first, _ = envs.reset(seed=0)
        step = envs.step(np.zeros(N, np.int64))
        kept = [one.copy() for one in (first, *step[:4])]
        envs.step(np.ones(N, np.int64))
        assert all(map(np.array_equal, kept, (first, *step[:4])))
        first[:] = 9
        assert envs.step(np.zeros(N, np.int64)).observation.max() == 3


@EVERY_EXECUTOR
def test_without_copies_the_buffer_is_reused(executor):
    with EXECUTORS[executor]([Pictures] * N, copy=False) as envs:
        first, _ = envs.reset(seed=0)
        assert envs.step(np.zeros(N, np.int64)).observation is first
        assert first.max() == 1
    assert first.max() == 1


@EVERY_EXECUTOR
def test_attributes_methods_and_streams_are_those_of_the_lanes(executor):
    with Pair(executor, Sentences) as pair:
        pair.both("reset", seed=4)
        assert pair.both("get_attr", "count") == (0, 0, 0)
        pair.both("call", "observe")
        pair.both("set_attr", "count", [1, 2, 3])
        pair.both("set_attr", "last", 9)
        assert pair.both("get_attr", "count") == (1, 2, 3)
        pair.both("step", ("a", "b", "c"))
        assert pair.other.np_random_seed == (4, 5, 6)
        ours, theirs = pair.serial.np_random, pair.other.np_random
        assert [one.bit_generator.state for one in ours] == [one.bit_generator.state for one in theirs]
        assert [a.random() == b.random() for a, b in zip(pair.serial.stream("x"), pair.other.stream("x"), strict=True)]
        pair.other.np_random = [np.random.default_rng(one) for one in range(N)]
        assert pair.other.np_random_seed == (-1, -1, -1)


@EVERY_EXECUTOR
def test_snapshots_hold_every_lane(executor):
    with EXECUTORS[executor]([Sentences] * N, autoreset_mode="SameStep") as envs:
        envs.reset(seed=4)
        envs.step(("a",) * N)
        before = envs.snapshot()
        first = [tuple(envs.step(("b",) * N)) for _ in range(20)]
        envs.restore(before)
        assert data_equal(first, [tuple(envs.step(("b",) * N)) for _ in range(20)])
        envs.restore(before)
        assert data_equal(first, [tuple(envs.step(("b",) * N)) for _ in range(20)])


@EVERY_EXECUTOR
@MODES
def test_forked_lanes_go_on_alike(executor, mode):
    with EXECUTORS[executor]([grid] * N, autoreset_mode=mode) as envs:
        envs.reset(seed=5)
        envs.step(np.array([1, 2, 3]))
        with envs.fork([2, 2, 0]) as twin:
            assert type(twin) is type(envs)
            for _ in range(20):
                ours, theirs = envs.step(np.array([1, 0, 3])), twin.step(np.array([3, 3, 1]))
                for one, other in zip(ours[:4], theirs[:4], strict=True):
                    assert np.array_equal(other, one[[2, 2, 0]])
                if mode is AutoresetMode.DISABLED and ours.done.any():
                    envs.reset(seed=3, options={"reset_mask": np.ones(3, bool)})
                    twin.reset(seed=[5, 5, 3], options={"reset_mask": np.ones(3, bool)})


@EVERY_EXECUTOR
def test_lanes_can_be_wrapped_from_outside(executor):
    from ludus.wrappers import RepeatAction

    with EXECUTORS[executor]([grid] * N) as envs, SerialVectorEnv([grid] * N) as serial:
        wrapped, expected = RepeatAction(envs, 2), RepeatAction(serial, 2)
        assert data_equal(wrapped.reset(seed=1), expected.reset(seed=1))
        for _ in range(10):
            assert data_equal(tuple(wrapped.step([1, 3, 1])), tuple(expected.step([1, 3, 1])))


@EVERY_EXECUTOR
def test_an_executor_says_what_it_is(executor):
    with EXECUTORS[executor]([cartpole] * N) as envs:
        assert envs.executor == {"thread": "thread"}.get(executor, "process")
        assert envs.batch_shape == (N,)
        assert envs.single_action_space == cartpole().action_space
        assert envs.observation_space.shape == (N, 4)
        assert repr(envs) == f"{type(envs).__name__}(num_envs={N})"
        assert envs.get_attr("spec")[0] == cartpole().spec
