"""What runs inside the sandbox, looked at from within: every request gets one reply, whatever the environment does."""

import os
import signal
import socket
import sys
import threading

import numpy as np
import pytest

import ludus
from ludus import AutoresetMode, Step
from ludus.core import EnvSpec
from ludus.errors import EntryPointError, InvalidSpace
from ludus.sandbox.environment import isolation
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.sandbox.environment.channel import MessageChannel
from ludus.sandbox.environment.inside import main as program
from ludus.sandbox.environment.inside.env_factory import make_env
from ludus.sandbox.environment.inside.host import SandboxedHost
from ludus.sandbox.environment.inside.zygote import Zygote
from ludus.sandbox.environment.interpreter import Interpreter
from ludus.sandbox.environment.process_exit import process_exit
from ludus.sandbox.environment.spawn_messages import EndRequest, ServerReply, SpawnReply, SpawnRequest
from ludus.spaces import Box, Discrete
from ludus.wire.failures import write_failure
from ludus.wire.messages import (
    PROTOCOL,
    BatchResetRequest,
    BatchStepRequest,
    CloseRequest,
    DoneReply,
    FailedReply,
    MakeReply,
    MakeRequest,
    Reply,
    ResetReply,
    ResetRequest,
    StepReply,
    StepRequest,
)
from tests.sandbox.neighbours import FOLDER, neighbour
from tests.sandbox.test_environment_batch import batch


class Obedient(ludus.Env):
    """Returns what it was told to return."""

    observation_space = Box(0, 1, (2,), np.float64)
    action_space = Discrete(2)

    def __init__(self, begun=((0.5, 0.5), {}), stepped=None):
        self.begun, self.stepped = begun, stepped

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.begun

    def step(self, action):
        return self.stepped


def host(env, lanes=0):
    found = SandboxedHost(lambda _: env)
    assert type(found.answer(Blueprint.of("x", {}).request(lanes))) is MakeReply
    return found


GOOD = Step(np.zeros(2), 1.0, False, False, {})


@pytest.mark.parametrize(
    ("stepped", "words"),
    [
        (None, "expected a Step of five values, got None"),
        ((1, 2, 3, 4), "expected a Step of five values"),
        (GOOD._replace(reward="x"), "reward: expected a number"),
        (GOOD._replace(reward=True), "reward: expected a number"),
        (GOOD._replace(reward=np.zeros(1)), "reward: expected a number"),
        (GOOD._replace(terminated=None), "terminated: expected a bool"),
        (GOOD._replace(truncated="no"), "truncated: expected a bool"),
        (GOOD._replace(observation=object()), "observation: expected numbers"),
        (GOOD._replace(info=5), "info: expected a dictionary"),
        (GOOD._replace(info={"a": object()}), r"info['a']: expected numbers"),
    ],
)
def test_a_step_that_is_none_is_told_as_such(stepped, words):
    reply = host(Obedient(stepped=stepped)).answer(StepRequest(0))
    assert type(reply) is FailedReply
    assert reply.kind == "ContractViolation"
    assert words in reply.message


@pytest.mark.parametrize("reward", [np.float32(1), np.int8(1), np.array(1.5), np.array(3)])
def test_numbers_of_numpy_are_rewards(reward):
    reply = host(Obedient(stepped=GOOD._replace(reward=reward, terminated=np.True_))).answer(StepRequest(0))
    assert type(reply) is StepReply
    assert reply.terminated is True


@pytest.mark.parametrize("begun", [None, (1,), (np.zeros(2), 5), (object(), {})])
def test_a_reset_that_is_none_is_told_as_such(begun):
    reply = host(Obedient(begun=begun)).answer(ResetRequest(None, None))
    assert (type(reply), reply.kind) == (FailedReply, "ContractViolation")


def test_requests_out_of_order_are_refused():
    fresh = SandboxedHost(lambda _: Obedient())
    assert fresh.answer(StepRequest(0)).message == "channel: expected another request, got a StepRequest"
    wrong = fresh.answer(MakeRequest(PROTOCOL + 1, "x", False, {}, []))
    assert f"expected protocol {PROTOCOL}, got {PROTOCOL + 1}" in wrong.message
    made = host(Obedient())
    for wrong in (
        BatchStepRequest([]),
        BatchResetRequest(None, None),
        MakeRequest(PROTOCOL, "x", False, {}, []),
    ):
        assert "expected another request" in made.answer(wrong).message


def test_an_action_that_cannot_be_read_is_no_action():
    env = Obedient(stepped=GOOD)
    env.action_space = Box(0, 1, (2,))
    reply = host(env).answer(StepRequest(b"123"))
    assert (reply.kind, "expected 8 bytes" in reply.message) == ("InvalidAction", True)


def test_lanes_of_different_spaces_are_refused():
    made = iter([Obedient(), ludus.make("CartPole-v1")])
    reply = SandboxedHost(lambda _: next(made)).answer(Blueprint.of("x", {}).request(2))
    assert (reply.kind, reply.message) == ("InvalidSpace", reply.message)
    assert reply.message.startswith("lane 1: expected the observation_space of lane 0")
    assert issubclass(InvalidSpace, ValueError)


# --- making ---


def request(target, arguments=None, modules=()):
    return Blueprint.of(target, arguments, modules).request()


def test_what_is_asked_for_is_made():
    assert make_env(request("GridWorld-v0", {"size": 3})).unwrapped.size == 3
    spec = ludus.spec("GridWorld-v0").replace(max_episode_steps=7)
    assert make_env(request(spec, {"size": 4})).spec.max_episode_steps == 7
    assert make_env(request(spec, {"size": 4})).unwrapped.size == 4


def test_modules_are_imported_first(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lacking_module.py").write_text("import ludus; raise ludus.errors.MissingExtra('it lacks itself')")
    (tmp_path / "failing_module.py").write_text("1 / 0")
    with pytest.raises(EntryPointError, match="it lacks itself"):
        make_env(request("GridWorld-v0", {}, ["lacking_module"]))
    with pytest.raises(EntryPointError, match="importing 'failing_module' failed: ZeroDivisionError"):
        make_env(request("GridWorld-v0", {}, ["failing_module"]))


def test_what_is_imported_from_elsewhere_is_shown_and_nothing_beside_it(tmp_path, monkeypatch):
    package = tmp_path / "far_away" / "inner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package.parent / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    found = Interpreter(["far_away.inner", "numpy", "ludus.core", "json", "not_there", "sys"], [FOLDER])
    extra = {mount.source for mount in found.mounts} - {mount.source for mount in Interpreter().mounts}
    assert extra == {str(FOLDER), str(tmp_path / "far_away")}
    assert str(tmp_path) in found.paths
    assert all(not mount.writable for mount in found.mounts)


# --- the program ---


def test_the_program_serves_its_socket_and_ends(monkeypatch):
    ours, theirs = socket.socketpair()
    codes = []
    monkeypatch.setattr(program, "CHANNEL", theirs.detach())
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    before = signal.getsignal(signal.SIGINT)
    replies = []

    def ask():
        channel = MessageChannel(ours, Reply)
        asked = (request("GridWorld-v0"), ResetRequest(0, None), CloseRequest())
        replies.extend(type(channel.exchange(one, 20)) for one in asked)
        channel.close()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        program.main()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
        asking.join()
    assert (codes, replies) == ([0], [MakeReply, ResetReply, DoneReply])


def test_standard_error_is_written_as_far_as_there_is_room(monkeypatch):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    kept = os.dup(2)
    os.dup2(writing, 2)
    try:
        out = program.Lossy()
        assert out.writable()
        assert out.write(b"x" * 50) == 50
        assert all(out.write(b"y" * 65536) == 65536 for _ in range(5))  # more than a pipe holds
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(writing)
    assert os.read(reading, 50) == b"x" * 50
    os.close(reading)


# --- the fork server, as far as it can be watched ---


@pytest.fixture
def zygote():
    ours, theirs = socket.socketpair()
    before = signal.getsignal(signal.SIGCHLD)
    server = Zygote(theirs)
    yield server, MessageChannel(ours, ServerReply)
    signal.signal(signal.SIGCHLD, before)
    for one in (ours, theirs, server._wake_sender, server._wake_receiver):
        one.close()


def ask_in_turn(zygote, channel, *requests):
    """Post each, have all of them answered until the other side is gone, and collect; the replies must fit a buffer."""
    replies, sockets = [], []

    def ask():
        for one in requests:
            passed = []
            if type(one) is SpawnRequest:
                ours, theirs = socket.socketpair()
                sockets.append(ours)
                passed = [theirs.fileno()]
            replies.append(channel.exchange(one, 20, passed))
            if passed:
                theirs.close()
                child = MessageChannel(ours, Reply)
                assert type(child.exchange(request("GridWorld-v0"), 20)) is MakeReply
        channel.close()

    asking = threading.Thread(target=ask)
    asking.start()
    zygote.run()
    asking.join()
    for one in sockets:
        one.close()
    return replies


def test_children_are_forked_counted_and_ended(zygote):
    server, channel = zygote
    replies = ask_in_turn(
        server,
        channel,
        request("GridWorld-v0"),
        SpawnRequest(),
        SpawnRequest(),
        EndRequest(1, 0.05),
        EndRequest(2, None),
        EndRequest(2, 5.0),
        EndRequest(7, 0.0),
    )
    assert type(replies[0]) is DoneReply
    assert [reply.number for reply in replies if type(reply) is SpawnReply] == [1, 2]
    assert [reply.code for reply in replies[3:]] == [-signal.SIGKILL, None, -signal.SIGKILL, None]


def test_a_child_that_ends_while_another_is_reaped_is_taken_once(zygote, monkeypatch):
    server, _ = zygote
    waitpid = os.waitpid

    def interrupted(pid, options):
        monkeypatch.setattr(os, "waitpid", waitpid)
        signal.raise_signal(signal.SIGCHLD)
        return waitpid(pid, options)

    server.listen()
    try:
        for number in (1, 2):
            pid = server._running[number] = os.posix_spawn("/bin/false", ["false"], {})
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        monkeypatch.setattr(os, "waitpid", interrupted)
        server._reap()
    finally:
        signal.set_wakeup_fd(-1)
    assert (server._running, server._codes) == ({}, {1: 1, 2: 1})


def test_what_fails_in_the_server_is_a_reply(zygote):
    server, channel = zygote
    [reply] = ask_in_turn(server, channel, request("CartPoel-v1"))
    assert reply.kind == "NameNotFound"


def test_the_server_ends_at_nonsense(zygote):
    server, channel = zygote
    channel.link.sendall(b"\0\0\0\1\xc1")
    server.run()


# --- batches whose process ends, in a thread ---


class Leaving(ludus.Env):
    """Ends its thread, as an exit ends a process."""

    observation_space = Box(0, 9, (1,), np.float64)
    action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(1), {"draw": float(self.np_random.random())}

    def step(self, action):
        if action:
            raise SystemExit
        self.count += 1
        return Step.transition(np.array([float(self.count)]))


def test_one_that_leaves_is_cut_and_begins_anew():
    with neighbour(Leaving) as env:
        env.reset(seed=0)
        assert env.step(0).observation == 1
        step = env.step(1)
        assert (step.observation, step.truncated) == (1, True)
        assert env.reset()[0] == 0


@pytest.mark.parametrize("mode", AutoresetMode)
def test_lanes_that_leave_are_cut_and_begin_anew(mode):
    with batch(Leaving, [2, 1], mode) as envs:
        envs.reset(seed=0)
        assert envs.step([0, 0, 0]).observation[:, 0].tolist() == [1, 1, 1]
        step = envs.step([1, 0, 0])
        assert step.truncated.tolist() == [True, True, False]
        if mode is AutoresetMode.DISABLED:
            envs.reset(options={"reset_mask": np.array([True, True, False])})
        if mode is AutoresetMode.SAME_STEP:
            assert step.observation[:, 0].tolist() == [0, 0, 2]
        else:
            assert step.observation[:, 0].tolist() == [1, 1, 2]
        if mode is AutoresetMode.NEXT_STEP:
            assert envs.step([0, 0, 0]).observation[:, 0].tolist() == [0, 0, 3]


# --- small things ---


def test_isolation_by_word_is_the_lightest_container_that_starts(monkeypatch):
    class Engine:
        boundary = True

        def __init__(self, name, rank, works):
            self.name, self.rank, self.works = name, rank, works

        def probe(self):
            return ludus.sandbox.Probe(self.works, "no engine")

    engines = {
        one.name: one for one in (Engine("heavy", 120, True), Engine("light", 100, False), Engine("thin", 50, True))
    }
    monkeypatch.setattr(isolation, "backends", lambda: tuple(engines))
    monkeypatch.setattr(isolation, "backend", engines.__getitem__)
    assert isolation._container() == "heavy"
    engines["heavy"].works = False
    with pytest.raises(ludus.errors.SandboxUnavailable, match="light: no engine; heavy: no engine"):
        isolation._container()


def test_an_ending_by_a_signal_without_a_name_is_told():
    usage = ludus.sandbox.Usage(oom=True)
    assert process_exit(None, -64, ludus.sandbox.Usage()).signal in ("SIGRTMAX", "signal 64")
    assert process_exit(None, -200, ludus.sandbox.Usage()).signal == "signal 200"
    assert process_exit(None, -9, usage).limit == "memory"
    assert "stopped at the limit 'memory'" in process_exit(None, -9, usage).reason


def test_a_text_that_cannot_be_had_is_told():
    class Mute(Exception):
        def __str__(self):
            raise ValueError

    assert write_failure(Mute()).message == "(its text could not be had)"
    assert write_failure(ValueError("\ud800")).message == "?"


def test_an_unnamed_part_of_the_package_is_missing():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ludus.sandbox.environment.nothing
    assert "isolate" in dir(ludus.sandbox.environment)


def test_a_spec_that_is_code_is_named():
    spec = EnvSpec("Local-v0", entry_point=lambda: None)
    with pytest.raises(ludus.errors.InvalidSpec, match="can be imported by name"):
        Blueprint.of(spec, None)
