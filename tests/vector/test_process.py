"""`ProcessVectorEnv`: how it is started, lanes under way a few at a time, and what it refuses."""

import multiprocessing
import os
import subprocess
import sys
import threading
from collections import defaultdict

import numpy as np
import pytest

import ludus.vector.payload
from ludus.core import AutoresetMode
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, OutOfTurn, ResetNeeded, SnapshotError
from ludus.testing import data_equal
from ludus.vector import ProcessVectorEnv, SerialVectorEnv
from tests.core.wording import says
from tests.vector.lanes import LANES, GridWorld, Pictures, Sentences, Steered, grid, plan, seeded

MODES = pytest.mark.parametrize("mode", AutoresetMode)


# --- how it is started ---


@pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
def test_every_start_method_gives_the_same(context):
    with (
        ProcessVectorEnv([Sentences] * 3, context=context, episodes=plan, num_workers=2) as envs,
        SerialVectorEnv([Sentences] * 3, episodes=plan) as serial,
    ):
        assert data_equal(envs.reset(seed=1), serial.reset(seed=1))
        for number in range(10):
            action = (f"{number}", "b", "ö")
            assert data_equal(tuple(envs.step(action)), tuple(serial.step(action)))


def test_workers_are_as_many_as_cores_and_lanes():
    cores = len(os.sched_getaffinity(0))
    for lanes, asked, expected in ((1, None, 1), (3, None, min(3, cores)), (2, 5, 2), (5, 3, 3)):
        with ProcessVectorEnv([GridWorld] * lanes, num_workers=asked) as envs:
            assert envs.num_workers == len(envs._pool.links) == expected


@pytest.mark.parametrize("installed", [True, False])
def test_makers_that_cannot_be_pickled(installed, monkeypatch):
    size = 3
    if installed:
        pytest.importorskip("cloudpickle")
        with ProcessVectorEnv([lambda: GridWorld(size)], context="spawn") as envs:
            assert envs.get_attr("size") == (3,)
        return
    monkeypatch.setattr(ludus.vector.payload, "find_spec", lambda name: None)
    with pytest.raises(InvalidType) as caught:
        ProcessVectorEnv([lambda: GridWorld(size)], context="spawn")
    text = str(caught.value)
    assert text.startswith(
        "env_fns and episodes: expected what can be pickled, to be sent to or from a worker process,"
    )
    assert (
        "define it at the top of a module, or install cloudpickle; or use context='fork', which sends nothing" in text
    )


def test_a_batch_may_be_made_in_any_thread():
    made = []

    def make():
        envs = ProcessVectorEnv([GridWorld] * 2)
        made.append((envs, envs.reset(seed=0)))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    ((envs, first),) = made
    with envs:  # which outlives the thread
        assert envs.step([1, 1]).observation.tolist() == [[1, 0]] * 2
        assert data_equal(envs.reset(seed=0), first)


def test_importing_ludus_starts_no_machinery():
    heavy = "msgspec", "ludus.vector.process", "ludus.vector.thread"
    program = f"import sys, ludus; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"num_workers": 0}, "num_workers: expected an integer of at least 1, got 0"),
        ({"num_workers": 1.5}, "num_workers: expected an integer of at least 1, got 1.5"),
        ({"batch_size": 0}, "batch_size: expected an integer of at least 1, got 0"),
        ({"batch_size": 3}, "batch_size: expected at most 2, the number of lanes, got 3"),
        ({"timeout": 0}, "timeout: expected seconds, or None for no limit, got 0"),
        ({"on_failure": "ignore"}, "on_failure: expected 'raise' or 'restart', got 'ignore'"),
        ({"max_restarts": -1}, "max_restarts: expected an integer of at least 0, got -1"),
        ({"context": "thread"}, "context: expected one of fork, spawn, forkserver, got 'thread'"),
        ({"autoreset_mode": "x"}, "autoreset_mode: expected one of NextStep, SameStep, Disabled, got 'x'"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_started(options, text):
    before = multiprocessing.active_children()
    with says(InvalidArgument, text):
        ProcessVectorEnv([lambda: pytest.fail("made")] * 2, **options)
    with says(InvalidArgument, "ProcessVectorEnv: expected at least one environment, got none"):
        ProcessVectorEnv([])
    assert multiprocessing.active_children() == before


# --- order ---


def test_order_is_enforced_for_every_lane():
    with ProcessVectorEnv([GridWorld] * 2) as envs:
        with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
            envs.step([0, 0])
        with says(ResetNeeded, "reset: expected every lane to have been reset once, got none for lanes [1]"):
            envs.reset(options={"reset_mask": np.array([True, False])})
        with says(ResetNeeded, "send: expected reset() first, got no reset yet"):
            envs.send([0, 0])
        envs.reset(options={"reset_mask": np.array([False, True])})
        envs.step([0, 0])


def test_stepping_ended_lanes_is_an_error_when_autoreset_is_disabled():
    with ProcessVectorEnv([grid] * 3, autoreset_mode="Disabled") as envs:
        envs.reset(seed=0)
        while not (step := envs.step([0, 0, 0])).done.any():
            pass
        ended = np.flatnonzero(step.done).tolist()
        text = f"expected lanes under way, got ended lanes {ended}; reset them with options={{'reset_mask': mask}}"
        with says(ResetNeeded, f"step: {text}"):
            envs.step([0, 0, 0])
        with says(ResetNeeded, f"send: {text}"):
            envs.send([0, 0, 0])


def test_lanes_under_way_are_waited_for_before_the_batch_is_asked_again():
    with ProcessVectorEnv([GridWorld] * 3, batch_size=2) as envs:
        envs.reset(seed=0)
        with says(OutOfTurn, "recv: expected batch_size=2 lanes under way, got 0; send() them first"):
            envs.recv()
        envs.send(np.zeros(2, np.int64), [2, 0])
        with says(OutOfTurn, "send: expected lanes that wait for an action, got [0, 2] under way; recv() them first"):
            envs.send(np.zeros(3, np.int64))
        some = {"reset_mask": np.array([False, True, False])}
        for name, arguments in {"step": ([0, 0, 0],), "call": ("size",), "fork": ([0],), "reset": ()}.items():
            with says(OutOfTurn, f"{name}: expected no lanes under way, got [0, 2]; recv() them first"):
                getattr(envs, name)(*arguments, **({"options": some} if name == "reset" else {}))
        assert envs.recv()[0].tolist() == [0, 2]
        envs.step([0, 0, 0])


def test_a_reset_of_all_lanes_forgets_those_under_way():
    with ProcessVectorEnv([GridWorld] * 3, batch_size=2) as envs:
        first = envs.reset(seed=0)
        envs.send(np.ones(3, np.int64))
        envs.recv()
        with pytest.raises(OutOfTurn, match="expected batch_size=2 lanes under way, got 1"):
            envs.recv()
        assert data_equal(envs.reset(seed=0), first)
        assert envs.step([1, 1, 1]).observation.tolist() == [[1, 0]] * 3


@pytest.mark.parametrize("lanes", [[], [0, 0], [3], [-1], [0.5], "0", [[0]]])
def test_lanes_that_are_none_are_refused(lanes):
    with ProcessVectorEnv([GridWorld] * 3) as envs:
        envs.reset(seed=5)
        with pytest.raises(InvalidArgument, match="lanes: expected"):
            envs.send(np.zeros(1, np.int64), lanes)
        with pytest.raises(InvalidArgument, match="expected one for each of 2 lanes, got 3"):
            envs.send(np.zeros(3, np.int64), [0, 1])
        with pytest.raises(InvalidAction, match=r"action\[1\]: expected Discrete\(4\), got 9"):
            envs.send(np.array([0, 9]), [0, 2])
        with pytest.raises(InvalidArgument, match="fork: expected"):
            envs.fork([3])


# --- some lanes at a time ---


def asynchronous(name, mode, workers, batch_size, steps=24):
    """What each lane lives through when actions depend on the lane's own history alone."""
    with ProcessVectorEnv(
        [LANES[name]] * 5, autoreset_mode=mode, num_workers=workers, batch_size=batch_size, episodes=seeded
    ) as envs:
        space, counts = envs.single_action_space, [0] * 5

        def action(lane):
            space.seed(100 * lane + counts[lane])
            counts[lane] += 1
            return space.sample()

        def batch(lanes):
            return space.concatenate([action(lane) for lane in lanes], space.empty(len(lanes)))

        histories = defaultdict(list)
        observations, _ = envs.reset(seed=3)
        envs.send(batch(range(5)))
        while min(map(len, histories.values()), default=0) < steps or len(histories) < 5:
            lanes, step = envs.recv()
            assert len(lanes) == batch_size == len(step.reward)
            for place, lane in enumerate(lanes.tolist()):
                histories[lane].append(one_lane(step, place))
            if mode is AutoresetMode.DISABLED and step.done.any():
                break
            envs.send(batch(lanes), lanes)
        return observations, {lane: history[:steps] for lane, history in histories.items()}


def one_lane(step, place):
    """One lane's part of a step, as far as it can be compared without knowing the batch."""
    seen = step.observation
    seen = seen[place] if isinstance(seen, np.ndarray) else None
    told = {key: value[place] for key, value in step.info.items() if isinstance(value, np.ndarray)}
    told = {key: value for key, value in told.items() if not key.startswith("_") and step.info[f"_{key}"][place]}
    return seen, step.reward[place], step.terminated[place], step.truncated[place], {k: str(v) for k, v in told.items()}


@pytest.mark.no_cover
@pytest.mark.in_turns("mode")
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", ["grid", "cartpole", "sentences"])
def test_histories_do_not_depend_on_who_is_first(name, mode):
    expected = asynchronous(name, mode, workers=1, batch_size=5)[1]
    for workers, size in ((2, 1), (3, 2)):
        found = asynchronous(name, mode, workers, size)[1]
        assert found.keys() == expected.keys()
        assert all(data_equal(found[lane], expected[lane]) for lane in expected)


@MODES
def test_sending_and_receiving_all_is_a_step(mode):
    with (
        ProcessVectorEnv([Sentences] * 3, autoreset_mode=mode, num_workers=2) as envs,
        SerialVectorEnv([Sentences] * 3, autoreset_mode=mode) as serial,
    ):
        assert data_equal(envs.reset(seed=2), serial.reset(seed=2))
        for number in range(30):
            action = (f"{number}", "x", "y")
            envs.send(action)
            lanes, step = envs.recv()
            expected = serial.step(action)
            assert lanes.tolist() == [0, 1, 2]
            assert data_equal(tuple(step), tuple(expected))
            if mode is AutoresetMode.DISABLED and step.done.any():
                for one in (envs, serial):
                    one.reset(options={"reset_mask": step.done})


def test_fast_lanes_are_not_held_up_by_slow_ones(tmp_path):
    os.mkfifo(tmp_path / "gate")

    class Gate(GridWorld):
        def step(self, action):
            if action == 3:
                (tmp_path / "gate").read_text()
            return super().step(1)

    with ProcessVectorEnv([Gate] * 4, num_workers=2, batch_size=2) as envs:
        envs.reset(seed=0)
        envs.send(np.array([0, 0, 3, 0]))
        for _ in range(20):
            lanes, _ = envs.recv()
            assert lanes.tolist() == [0, 1]
            envs.send(np.zeros(2, np.int64), lanes)
        (tmp_path / "gate").write_text("open")
        seen = set()
        while seen != {0, 1, 2, 3}:
            lanes, _ = envs.recv()
            seen |= set(lanes.tolist())
            envs.send(np.zeros(2, np.int64), lanes)


def test_what_is_received_is_the_callers():
    with ProcessVectorEnv([Pictures] * 2, batch_size=1) as envs:
        envs.reset(seed=0)
        envs.send(np.zeros(2, np.int64))
        (lane,), step = envs.recv()
        envs.send(np.zeros(1, np.int64), [lane])
        envs.recv(), envs.recv()
        assert step.observation.max() == 1


# --- lanes from outside ---


class Unpicklable(GridWorld):
    def __init__(self):
        super().__init__()
        self.secret = sys  # a module is copied as it is, and pickled by nobody


def test_snapshots_that_cannot_be_sent_are_told(monkeypatch):
    monkeypatch.setattr(ludus.vector.payload, "find_spec", lambda name: None)
    with ProcessVectorEnv([Unpicklable]) as envs:
        envs.reset(seed=0)
        with pytest.raises(SnapshotError, match="snapshot: expected what can be pickled"):
            envs.snapshot()
        envs.step([0])


def test_a_snapshot_survives_the_workers_it_was_made_in():
    with ProcessVectorEnv([grid] * 2, on_failure="restart") as envs:
        envs.reset(seed=0)
        before = envs.snapshot()
        first = [tuple(envs.step([1, 3])) for _ in range(5)]
        for link in envs._pool.links:
            link.process.kill()
        assert envs.step([1, 3]).truncated.all()
        envs.restore(before)
        assert data_equal(first, [tuple(envs.step([1, 3])) for _ in range(5)])


def test_a_snapshot_of_another_batch_does_not_fit():
    with ProcessVectorEnv([grid]) as envs:
        other = SerialVectorEnv([grid]).snapshot()
        with pytest.raises(SnapshotError, match="restore: expected a snapshot of"):
            envs.restore(other)


def test_pictures_are_those_of_the_lanes():
    from ludus.envs.toy_text import FrozenLake
    from ludus.errors import RenderError

    with ProcessVectorEnv([lambda: FrozenLake(render_mode="ansi")] * 2) as envs:
        envs.reset(seed=0)
        assert envs.render_mode == "ansi"
        assert envs.render() == envs.call("render")
    blind = ProcessVectorEnv([GridWorld] * 2)
    with blind, pytest.raises(RenderError, match="expected an environment that draws, got GridWorld"):
        blind.render()


def test_what_is_large_goes_beside_the_boxes():
    with ProcessVectorEnv([Steered] * 2, num_workers=1) as envs:
        envs.reset(seed=0)
        big = np.arange(1_000_000)
        envs.set_attr("big", big)
        assert all(np.array_equal(one, big) for one in envs.get_attr("big"))
        assert envs.call("get_wrapper_attr", "big")[1].dtype == big.dtype
        envs.step({"force": np.zeros((2, 2), np.float32), "gear": np.zeros(2, np.int64)})
