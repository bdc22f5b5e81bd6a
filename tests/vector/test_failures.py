"""Workers that die, hang or meet an error: what is said, what goes on, and what is made anew."""

import os
import threading
import time

import numpy as np
import pytest

from ludus.core import Step
from ludus.errors import (
    InvalidAction,
    InvalidArgument,
    InvalidSpace,
    InvalidType,
    OutOfTurn,
    ResetNeeded,
    WorkerFailure,
)
from ludus.spaces import Discrete, Space
from ludus.testing import data_equal
from ludus.vector import ProcessVectorEnv
from ludus.vector.link import WorkerLink
from tests.vector.lanes import (
    GridWorld,
    Steered,
    Troubled,
    Unclosable,
    crashing,
    endless,
    unbuildable,
    vanishing,
)

GOES_ON, RAISES, DIES, HANGS = range(4)
LOSSES = pytest.mark.parametrize(
    ("how", "words"), [(DIES, "was killed by SIGKILL"), (HANGS, "made no progress for 4 s and was killed")]
)


def troubled(how=GOES_ON, **options):
    """Lanes 0 and 1 in one worker, 2 and 3 in another."""
    return ProcessVectorEnv([Troubled] * 4, num_workers=2, timeout=4.0 if how == HANGS else 60.0, **options)


def acting(**lanes):
    """Everybody goes on, except these."""
    action = np.zeros(4, np.int64)
    for lane, what in lanes.items():
        action[int(lane[1:])] = what
    return action


# --- errors of lanes ---


def test_an_error_of_a_lane_is_told_with_its_action_and_the_workers_own_traceback():
    with troubled() as envs:
        envs.reset(seed=0)
        with pytest.raises(WorkerFailure) as caught:
            envs.step(acting(_2=RAISES))
        error = caught.value
        assert str(error).startswith(
            "lane 2: expected a step, got KeyError: 'a hole in the floor' after action np.int64(1)"
        )
        assert (error.lanes, error.action) == ((2,), 1)
        assert "Traceback (most recent call last)" in error.worker_traceback
        assert 'raise KeyError("a hole in the floor")' in error.worker_traceback
        assert error.worker_traceback.rstrip() in str(error)
        assert type(error.__cause__) is KeyError
        assert envs.step(acting()).observation.tolist() == [[2, 0], [2, 0], [1, 0], [2, 0]]


def test_every_lane_that_fails_is_named():
    with troubled() as envs:
        envs.reset(seed=0)
        with pytest.raises(WorkerFailure, match=r"^lane 1: ") as caught:
            envs.step(acting(_1=RAISES, _3=DIES))
        (note,) = caught.value.__notes__
        assert note.startswith("lane 3 too: WorkerFailure: lane 3 (of lanes 2 to 3): expected a step")


def test_what_ludus_refuses_is_raised_as_it_is_with_a_note_of_the_lane():
    with ProcessVectorEnv([Steered] * 2) as envs:
        with pytest.raises(InvalidArgument, match="options: expected none of that") as caught:
            envs.reset(options={"unknown": 1})
        assert caught.value.__notes__[0].startswith("lane 0, in its worker process:\nTraceback")
        envs.reset(seed=0)


def test_a_choice_that_is_none_stops_the_batch_before_any_lane_moves():
    with troubled() as envs:
        envs.reset(seed=0)
        for wrong in (np.array([0, 0, 0, 9]), [0, 0, 0, 9], np.array([0, 0, 0, -1], np.int32)):
            with pytest.raises(InvalidAction, match=r"action\[3\]: expected Discrete\(4\)"):
                envs.step(wrong)
        with pytest.raises(InvalidArgument, match="expected one for each of 4 lanes, got 3"):
            envs.step(np.zeros(3, np.int64))
        assert envs.step(acting()).observation.tolist() == [[1, 0]] * 4


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (unbuildable, r"lane 2: expected an environment, got RuntimeError: no such maze; in the worker:\nTraceback"),
        (
            vanishing,
            r"lane 2 \(of lanes 2 to 3\): expected an environment, got a worker process that exited with code 7",
        ),
    ],
)
def test_a_lane_that_cannot_be_made_ends_them_all(context, make, words, tmp_path):
    from functools import partial

    marks = tmp_path / "marks"
    good = partial(Troubled, marks)
    with pytest.raises(WorkerFailure, match=words):
        ProcessVectorEnv([good, good, make, good], num_workers=2, context=context)
    assert marks.read_text() == "closed\n" * 2


def test_a_worker_that_never_gets_ready_is_ended(monkeypatch):
    monkeypatch.setattr("ludus.vector.worker_pool.START_DEADLINE_S", 8.0)
    with pytest.raises(WorkerFailure, match="took more than 8 s and was killed") as caught:
        ProcessVectorEnv([endless], timeout=0.5)
    assert "in endless" in caught.value.worker_traceback


def test_where_a_worker_hangs_is_read_when_all_of_it_is_written():
    class Writing:
        """Writes a line whenever somebody looks whether it is there, until it has ended."""

        pid = 1 << 23  # nobody's

        def is_alive(self):
            line = next(lines, "")
            os.write(link._notebook, line.encode())
            return bool(line)

    link, lines = WorkerLink.__new__(WorkerLink), iter(["Current thread:\n", "  in step\n", "  in play\n"])
    link._notebook, link.process = os.memfd_create("notebook"), Writing()
    try:
        assert link._where() == "Current thread:\n  in step\n  in play\n"
    finally:
        os.close(link._notebook)


def test_lanes_have_equal_spaces():
    def other():
        env = GridWorld()
        env.action_space = Discrete(9)
        return env

    for workers in (1, 2):
        with pytest.raises(InvalidSpace, match=r"lane 1: expected the action_space of lane 0, Discrete\(4\), got Disc"):
            ProcessVectorEnv([GridWorld, other], num_workers=workers)


def test_an_error_in_closing_is_raised_when_all_is_closed():
    envs = ProcessVectorEnv([Unclosable] * 2, num_workers=2)
    processes = [link.process.pid for link in envs._pool.links]
    with pytest.raises(WorkerFailure, match="lane 0: expected a lane that closes, got RuntimeError: the door is stuck"):
        envs.close()
    assert envs.closed
    envs.close()
    assert not any(os.path.exists(f"/proc/{one}") for one in processes)


def test_an_info_that_cannot_be_sent_is_an_error_of_its_lane():
    class Odd(GridWorld):
        def step(self, action):
            return super().step(action)._replace(info={"lock": threading.Lock()} if action else {"x": 1})

    with ProcessVectorEnv([Odd] * 2, num_workers=1) as envs:
        envs.reset(seed=0)
        with pytest.raises(InvalidType, match="expected what can be pickled") as caught:
            envs.step([0, 1])
        assert caught.value.__notes__[-1].startswith("lane 1 after action 1")


def test_an_observation_that_cannot_be_sent_is_an_error_of_its_lane():
    class Anything(Space):
        def sample(self, mask=None, probability=None):
            return 1

        def contains(self, x):
            return True

    class Odd(GridWorld):
        def __init__(self):
            super().__init__()
            self.observation_space = Anything()

        def reset(self, *, seed=None, options=None):
            return threading.Lock() if options else "plain", {}

        def step(self, action):
            return Step.transition(threading.Lock() if action else {"any": "thing"})

    with ProcessVectorEnv([Odd] * 2, num_workers=1) as envs:
        with pytest.raises(InvalidType, match="expected what can be pickled"):
            envs.reset(options={"odd": 1})
        assert envs.reset()[0] == ("plain", "plain")
        with pytest.raises(InvalidType, match="expected what can be pickled") as caught:
            envs.step([0, 1])
        assert caught.value.__notes__[-1].startswith("lane 1 after action 1")
        assert envs.step([0, 0]).observation == ({"any": "thing"},) * 2


# --- workers that are lost ---


@LOSSES
def test_a_worker_that_is_lost_is_told_with_its_lane_and_action(how, words):
    with troubled(how) as envs:
        envs.reset(seed=0)
        with pytest.raises(WorkerFailure, match=words) as caught:
            envs.step(acting(_3=how))
        error = caught.value
        assert str(error).startswith("lane 3 (of lanes 2 to 3): expected a step, got a worker process that ")
        assert f"after action np.int64({how}); its lanes are gone until reset()" in str(error)
        assert (error.lanes, error.action) == ((2, 3), how)
        assert ("in fail" in error.worker_traceback) is (how == HANGS)
        with pytest.raises(ResetNeeded, match=r"got lanes \[2, 3\], whose worker failed; reset\(\) starts it anew"):
            envs.step(acting())


@LOSSES
def test_the_other_workers_go_on(how, words):
    with troubled(how, batch_size=2) as envs:
        envs.reset(seed=0)
        with pytest.raises(WorkerFailure, match=words):
            envs.step(acting(_3=how))
        for number in range(3):
            envs.send(np.zeros(2, np.int64), [0, 1])
            lanes, step = envs.recv()
            assert lanes.tolist() == [0, 1]
            assert step.observation.tolist() == [[min(4, number + 2), 0]] * 2
        with pytest.raises(ResetNeeded, match="whose worker failed"):
            envs.send(np.zeros(2, np.int64), [1, 2])


@LOSSES
def test_a_reset_starts_the_worker_anew(how, words):
    with troubled(how) as envs:
        first = envs.reset(seed=0)
        with pytest.raises(WorkerFailure, match=words):
            envs.step(acting(_3=how))
        observations, infos = envs.reset(seed=0, options={"reset_mask": np.array([False, False, True, True])})
        assert observations.tolist() == [[1, 0], [1, 0], [0, 0], [0, 0]]
        assert infos["_goal"].tolist() == [False, False, True, True]
        assert data_equal(envs.reset(seed=0), first)
        assert envs.step(acting()).observation.tolist() == [[1, 0]] * 4


def test_a_crash_of_the_interpreter_is_told_with_its_traceback():
    with ProcessVectorEnv([crashing], timeout=60) as envs:
        envs.reset(seed=0)
        with pytest.raises(WorkerFailure, match=r"^lane 0: .* was killed by SIGSEGV after action") as caught:
            envs.step([1])
        assert "Segmentation fault" in caught.value.worker_traceback
        assert "in step" in caught.value.worker_traceback


def test_a_lane_that_is_slow_but_goes_on_does_not_hang():
    class Slow(GridWorld):
        def step(self, action):
            time.sleep(0.15)
            return super().step(action)

    with ProcessVectorEnv([Slow] * 30, num_workers=1, timeout=4.0) as envs:
        envs.reset(seed=0)
        envs.step(np.ones(30, np.int64))


# --- lanes that are made anew ---


@pytest.mark.parametrize("how", [RAISES, DIES, HANGS])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_broken_episodes_end_as_truncated_and_new_ones_begin(how, mode):
    reason = {RAISES: "KeyError", DIES: "was killed by SIGKILL", HANGS: "made no progress"}[how]
    with troubled(how, on_failure="restart", autoreset_mode=mode) as envs:
        envs.reset(seed=0)
        envs.step(acting())
        observation, reward, terminated, truncated, info = envs.step(acting(_3=how))
        broken = [False, False, how != RAISES, True]
        assert truncated.tolist() == broken
        assert not terminated.any()
        assert reward[broken].tolist() == [0.0] * sum(broken)
        told = info["final_info"] if mode == "SameStep" else info
        assert told["_worker_failure"].tolist() == broken
        assert reason in told["worker_failure"][3]
        assert observation[0].tolist() == [2, 0]
        if mode == "SameStep":
            assert info["final_obs"][3].tolist() == [1, 0]
            assert observation[3].tolist() == [0, 0]
            assert envs.step(acting()).observation[3].tolist() == [1, 0]
        elif mode == "NextStep":
            assert observation[3].tolist() == [1, 0]
            assert envs.step(acting()).observation[3].tolist() == [0, 0]
        else:
            with pytest.raises(
                ResetNeeded, match=f"got ended lanes {np.flatnonzero(broken).tolist()}".replace("[", r"\[")
            ):
                envs.step(acting())


def test_equal_failures_give_equal_histories():
    def history():
        with troubled(on_failure="restart", autoreset_mode="SameStep") as envs:
            found = [envs.reset(seed=3)]
            actions = [acting()] * 12
            actions[4:6] = [acting(_1=DIES), acting(_2=RAISES)]
            return found + [tuple(envs.step(action)) for action in actions]

    assert data_equal(history(), history())


def test_restarts_are_limited():
    with troubled(on_failure="restart", max_restarts=2) as envs:
        envs.reset(seed=0)
        envs.step(acting(_0=DIES))
        envs.step(acting(_0=GOES_ON))
        envs.step(acting(_1=RAISES))
        with pytest.raises(WorkerFailure, match="KeyError"):
            envs.step(acting(_3=RAISES))
        with pytest.raises(WorkerFailure, match="gone until reset\\(\\), after max_restarts=2 restarts"):
            envs.step(acting(_3=DIES))


def test_a_worker_lost_in_a_reset_is_started_anew_for_it():
    with troubled(on_failure="restart", max_restarts=1) as envs:
        with pytest.raises(WorkerFailure, match="expected a reset, got a worker process that was killed by SIGKILL"):
            envs.reset(options={"trouble": DIES})
        assert envs.reset(seed=0)[0].tolist() == [[0, 0]] * 4


def test_a_worker_lost_in_a_call_is_made_anew_by_the_next_step():
    with troubled(on_failure="restart") as envs:
        envs.reset(seed=0)
        with pytest.raises(WorkerFailure, match="expected an answer to 'call', got a worker process that was killed"):
            envs.call("fail", DIES)
        assert envs.step(acting()).truncated.tolist() == [True] * 4
        assert envs.step(acting()).observation.tolist() == [[0, 0]] * 4


def test_an_error_of_a_call_is_raised_as_it_is():
    with troubled() as envs:
        envs.reset(seed=0)
        with pytest.raises(KeyError, match="a hole") as caught:
            envs.call("fail", RAISES)
        assert caught.value.__notes__[0].startswith("lane 0, in its worker process:")
        with pytest.raises(AttributeError, match="nothing"):
            envs.get_attr("nothing")
        envs.step(acting())


# --- some lanes at a time ---


@LOSSES
def test_lanes_under_way_in_a_worker_that_is_lost(how, words):
    with troubled(how, batch_size=2) as envs:
        envs.reset(seed=0)
        envs.send(acting(_3=how))
        with pytest.raises(WorkerFailure, match=words) as caught:
            list(iter(envs.recv, None))
        assert caught.value.lanes == (2, 3)
        with pytest.raises(OutOfTurn, match="expected batch_size=2 lanes under way"):
            list(iter(envs.recv, None))


@pytest.mark.parametrize("how", [RAISES, DIES, HANGS])
def test_lanes_under_way_are_made_anew(how):
    with troubled(how, batch_size=1, on_failure="restart") as envs:
        envs.reset(seed=0)
        envs.send(acting(_3=how))
        found = {int(lane): step for (lane,), step in (envs.recv() for _ in range(4))}
        assert sorted(found) == [0, 1, 2, 3]
        assert found[3].truncated.tolist() == [True]
        assert found[0].truncated.tolist() == [False]
        envs.send(np.zeros(1, np.int64), [3])
        assert envs.recv()[1].observation.tolist() == [[0, 0]]
