"""What happens when an environment hangs, dies, floods or breaks its word: the episode is cut, or an error says so."""

import os
import signal

import numpy as np
import pytest

from ludus.errors import ContractViolation, EnvError, LimitExceeded, ResetNeeded, SandboxError, SnapshotError
from ludus.sandbox import Deadlines, Limits, Sandbox
from ludus.sandbox.environment import isolate
from tests.sandbox.neighbours import DWELLER, FOLDER

PATIENT = Deadlines()
"""Nothing that answers comes near it, however busy the machine is."""


def short(where):
    """Four seconds for what will hang, and patience for everything else."""
    return Deadlines(**{{"render": "other"}.get(where, where): 4.0})


def dweller(deed, where="step", deadline=PATIENT, sandbox="process", **arguments):
    return isolate(DWELLER, {"deed": deed, "where": where, **arguments}, sandbox, paths=[FOLDER], deadline=deadline)


@pytest.mark.parametrize(
    ("deed", "limit", "code", "ended", "words"),
    [
        ("hang", "deadline", None, None, "did not answer in time"),
        ("spin", "deadline", None, None, "did not answer in time"),
        ("exit", None, 3, None, "exited with code 3"),
        ("leave", None, 4, None, "exited with code 4"),
        ("kill", None, None, "SIGKILL", "ended by SIGKILL"),
        ("crash", None, None, "SIGSEGV", "ended by SIGSEGV"),
    ],
)
def test_a_step_that_does_not_come_back_cuts_the_episode(deed, limit, code, ended, words):
    with dweller(deed, deadline=short("step") if limit else PATIENT) as env:
        env.reset(seed=0)
        before = env.step(0)
        observation, reward, terminated, truncated, info = env.step(2)
        assert np.array_equal(observation, before.observation)
        assert observation is not before.observation
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert words in info["sandbox"]["reason"]
        assert [info["sandbox"][name] for name in ("limit", "code", "signal")] == [limit, code, ended]
        assert info["sandbox"]["usage"]["wall"] > 0
        assert env.usage().wall > 0
        with pytest.raises(ResetNeeded, match=f"expected reset.. first, since its process .*{words[-8:]}"):
            env.step(0)
        assert env.reset(seed=0)[0][0] == 0
        assert np.array_equal(env.step(0).observation, before.observation)  # a new process, the same seed


def test_a_new_process_follows_from_the_seed_of_the_one_before():
    found = []
    for _ in range(2):
        with dweller("exit") as env:
            history = [env.reset(seed=5)[1]["draw"]]
            for _ in range(2):
                assert env.step(2).truncated
                history.append(env.reset()[1]["draw"])
            found.append(history)
    assert found[0] == found[1]
    assert len(set(found[0])) == 3


def test_memory_beyond_its_limit_cuts_the_episode_or_is_an_error():
    box = Sandbox("process", limits=Limits(wall=None, memory=400 << 20))
    with dweller("eat", sandbox=box) as env:
        env.reset(seed=0)
        if "cgroup" in env.guarantees.memory:
            assert env.step(2).info["sandbox"]["limit"] == "memory"
        else:  # a limit on addresses, which the environment is told of
            with pytest.raises(EnvError, match="MemoryError"):
                env.step(2)


def test_a_limit_of_the_sandbox_is_named():
    box = Sandbox("process", limits=Limits(wall=None, cpu=1.0))
    with dweller("spin", sandbox=box) as env:
        env.reset(seed=0)
        step = env.step(2)
        assert step.truncated
        assert step.info["sandbox"]["limit"] == "cpu"


@pytest.mark.parametrize(("deed", "kind"), [("hang", LimitExceeded), ("exit", SandboxError), ("raise", EnvError)])
@pytest.mark.parametrize("where", ["reset", "render"])
def test_outside_of_a_step_it_is_an_error(deed, kind, where):
    deadline = short(where) if deed == "hang" else PATIENT
    with dweller(deed, where, deadline, render_mode="rgb_array") as env:
        if where == "render":
            env.reset(seed=0)
        with pytest.raises(kind) as found:
            env.render() if where == "render" else env.reset(seed=0)
        assert type(found.value) is kind
        told = (
            "ValueError: an odd" if deed == "raise" else f"Dweller.{where}: expected an answer, got none: its process"
        )
        assert told in str(found.value)


@pytest.mark.parametrize("deed", ["exit", "hang", "raise"])
def test_one_that_cannot_be_made_leaves_nothing_behind(deed):
    deadline = Deadlines(start=1.5) if deed == "hang" else PATIENT
    kind = {"exit": SandboxError, "hang": LimitExceeded, "raise": EnvError}[deed]
    with pytest.raises(kind) as found:
        dweller(deed, "init", deadline)
    assert type(found.value) is kind


def test_a_process_that_cannot_begin_tells_what_it_wrote(tmp_path):
    (tmp_path / "numpy.py").write_text("raise RuntimeError('no numbers today')")
    with pytest.raises(SandboxError, match="starting: expected an answer, got none: its process exited with") as found:
        isolate("CartPole-v1", sandbox="process", paths=[tmp_path])
    assert "no numbers today" in found.value.__notes__[0]


@pytest.mark.parametrize("deed", ["hang", "exit", "thread", "fork"])
def test_closing_is_bounded(deed):
    env = dweller(deed, "close", short("close") if deed == "hang" else PATIENT)
    env.reset(seed=0)
    process = env._link.env_process.process
    env.close()
    assert process.wait(0) is not None


def test_what_close_raises_is_raised_and_the_process_is_gone():
    env = dweller("raise", "close")
    process = env._link.env_process.process
    with pytest.raises(EnvError, match="ValueError"):
        env.close()
    assert process.wait(0) is not None
    env.close()


def test_a_flood_of_output_neither_blocks_nor_fills_anything():
    with dweller("flood") as env:
        env.reset(seed=0)
        for _ in range(3):
            assert not env.step(2).truncated
        env.reset()
        assert len(env._link.env_process._tail) <= 4096
        env.set_wrapper_attr("deed", "exit")
        assert env.step(2).truncated
        assert set(env._link.ending.output) <= {"x", "\n"}


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("outside", r"Dweller: observation\[0\]: expected -10.0 to 10.0, got 11.0"),
        ("nan", r"observation\[0\]: expected -10.0 to 10.0, got nan"),
        ("shape", r"observation: expected shape \(2,\), got shape \(3,\)"),
        ("object", "expected a numeric array, got dtype object"),
        ("reward_nan", "reward: expected a finite number, got nan"),
        ("reward_numpy_inf", "reward: expected a finite number"),
        ("reward_text", "reward: expected a number, got 'much'"),
        ("flag", "terminated: expected a bool, got 1"),
        ("info_code", r"info\['hook'\]\[0\]: expected numbers"),
        ("info_objects", r"info\['all'\]: expected a numeric array"),
        ("info_list", "info: expected a dictionary"),
        ("info_own", r"info\['sandbox'\]: expected another name"),
        ("info_deep", "at most 24 levels"),
        ("four", r"expected \(observation, reward, terminated, truncated, info\)"),
    ],
)
def test_what_breaks_the_contract_is_named_and_the_environment_goes_on(deed, words):
    with dweller(deed) as env:
        env.reset(seed=0)
        with pytest.raises(ContractViolation, match=words):
            env.step(2)
        env.reset()
        assert env.step(0).info == {"count": 1}


def test_an_info_larger_than_a_frame_is_an_error():
    with dweller("info_large") as env:
        env.reset(seed=0)
        with pytest.raises(ContractViolation, match="StepRequest: frame: expected at most 67108864 bytes"):
            env.step(2)
        assert env.step(0).info == {"count": 2}


def test_a_pickle_is_bytes_and_stays_bytes():
    with dweller("info_pickle") as env:
        env.reset(seed=0)
        assert type(env.step(2).info["pickle"]) is bytes


def test_a_picture_that_is_none_is_an_error():
    with dweller("picture", "render", render_mode="rgb_array") as env:
        env.reset(seed=0)
        with pytest.raises(ContractViolation, match="expected an array, text or a list"):
            env.render()


def test_an_observation_space_that_lies_is_found_out():
    env = isolate("odd_dwellers:Liar", sandbox="process", paths=[FOLDER])
    with env, pytest.raises(ContractViolation, match=r"observation: expected a string, Text\(1, 3"):
        env.reset(seed=0)


def test_spaces_that_change_with_the_process_are_refused():
    with isolate("odd_dwellers:Restless", sandbox="process", paths=[FOLDER]) as env:
        env.reset(seed=0)
        assert env.step(2).truncated
        with pytest.raises(ContractViolation, match="expected the spaces that it had before"):
            env.reset()


def test_an_error_that_cannot_be_shown_is_still_told():
    with dweller("raise_strange") as env:
        env.reset(seed=0)
        with pytest.raises(EnvError, match=r"Strange\n: .its text could not be had"):
            env.step(2)


def test_a_snapshot_is_lost_with_its_process():
    with dweller("exit") as env:
        env.reset(seed=0)
        snapshot = env.snapshot()
        assert env.step(2).truncated
        with pytest.raises(SnapshotError):
            env.restore(snapshot)
        env.reset(seed=0)
        with pytest.raises(SnapshotError):
            env.restore(snapshot)


def test_an_interrupt_in_the_middle_of_a_step_leaves_nothing_to_be_taken_for_something_else():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with dweller("hang") as env:
            env.reset(seed=0)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                env.step(2)
            with pytest.raises(ResetNeeded, match="its channel could not be relied on"):
                env.step(0)
            assert env.reset(seed=0)[0][0] == 0
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_process_inherits_one_socket_and_nothing_else():
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        with isolate("odd_dwellers:Dweller", sandbox="process", paths=[FOLDER]) as env:
            env.reset(seed=0)
            os.close(writing)
            os.set_blocking(reading, False)
            assert os.read(reading, 1) == b""  # nobody else holds the other end
    finally:
        os.close(reading)
