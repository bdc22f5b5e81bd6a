"""The fork server: many environments of one sandboxed process that has imported it once."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.errors import ChannelError, ClosedEnvironment, EnvError, NameNotFound, SandboxError
from ludus.sandbox import Deadlines
from ludus.sandbox.environment import ForkServer, fork_server
from ludus.sandbox.environment.spawn_messages import EndReply, ServerReply, SpawnReply
from ludus.testing.history import first_difference, play
from ludus.wire.messages import (
    DoneReply,
    FailedReply,
)
from tests.descriptors import taken
from tests.patience import until
from tests.sandbox.neighbours import DWELLER, FOLDER, ThreadEnvProcess, packed, saying


@pytest.fixture(scope="module")
def server():
    with ForkServer(DWELLER, {"deed": "exit"}, "process", paths=[FOLDER], deadline=Deadlines(step=4.0)) as found:
        yield found


def test_each_spawned_environment_is_one_of_its_own(server):
    first, second = server.spawn(), server.spawn()
    for env in (first, second):
        env.reset(seed=0)
    assert first.step(0).observation.tolist() == second.step(0).observation.tolist()
    first.step(0)
    assert second.step(0).observation[0] == 2
    assert first.guarantees == server.guarantees
    assert server.usage().wall > 0
    first.close()
    assert second.step(0).observation[0] == 3
    with pytest.raises(ClosedEnvironment):
        first.step(0)
    second.close()


def test_the_history_is_that_of_the_environment_itself():
    with ForkServer(ludus.spec("CartPole-v1"), sandbox="process") as server, server.spawn() as env:
        assert env.spec == ludus.spec("CartPole-v1")
        assert first_difference(play(ludus.make("CartPole-v1"), seed=3, steps=60), play(env, seed=3, steps=60)) is None


def test_a_child_that_ends_cuts_its_episode_and_no_other(server):
    with server.spawn() as env, server.spawn() as other:
        for one in (env, other):
            one.reset(seed=0)
        step = env.step(2)
        assert step.truncated
        assert step.info["sandbox"]["code"] == 3
        assert not other.step(0).truncated
        assert env.reset(seed=0)[0][0] == 0
        assert not env.step(0).truncated


@pytest.mark.parametrize(("deed", "limit", "ended"), [("hang", "deadline", None), ("kill", None, "SIGKILL")])
def test_a_child_that_hangs_or_is_killed_is_told_apart(server, deed, limit, ended):
    with server.spawn() as env:
        env.reset(seed=0)
        env.set_wrapper_attr("deed", deed)
        step = env.step(2)
        assert step.truncated
        assert (step.info["sandbox"]["limit"], step.info["sandbox"]["signal"]) == (limit, ended)


def children(pid: int) -> list[int]:
    """All processes below one, ended or not."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, thread.read_text().split())
    return found + [one for child in found for one in children(child)]


def test_children_are_reaped_and_die_with_the_server():
    server = ForkServer(DWELLER, {"deed": "exit"}, "process", paths=[FOLDER])
    before = children(os.getpid())
    envs = [server.spawn() for _ in range(3)]
    assert len(children(os.getpid())) == len(before) + 3
    for env in envs[:2]:
        env.reset(seed=0)
        env.step(2)  # exits
    assert len(children(os.getpid())) == len(before) + 1
    process = server._zygote.process
    server.close()
    assert process.wait(0) is not None
    assert len(children(os.getpid())) < len(before)
    with pytest.raises(SandboxError, match="expected an open server"):
        server.spawn()
    for env in envs:
        env.close()
    server.close()


def test_children_do_not_draw_alike_from_the_global_generator(server):
    with server.spawn() as env, server.spawn() as other:
        draws = [one.reset()[1]["draw"] for one in (env, other)]  # unseeded
        assert draws[0] != draws[1]


def test_a_server_that_died_is_started_anew():
    with ForkServer(DWELLER, sandbox="process", paths=[FOLDER]) as server, server.spawn() as env:
        env.reset(seed=0)
        server._zygote.process.kill()
        assert env.step(0).truncated
        assert np.array_equal(env.reset(seed=0)[0][:1], [0])
        with server.spawn() as other:
            other.reset(seed=0)


def test_what_cannot_be_made_says_why():
    with pytest.raises(NameNotFound):
        ForkServer("CartPoel-v1", sandbox="process")
    with pytest.raises(EnvError, match="ValueError"):
        ForkServer(DWELLER, {"deed": "raise", "where": "init"}, "process", paths=[FOLDER])
    with pytest.raises(SandboxError, match="fork server, starting"):
        ForkServer(DWELLER, {"deed": "exit", "where": "init"}, "process", paths=[FOLDER])


# --- a server that lies ---


def fake(monkeypatch, *frames):
    """A fork server whose process says these frames."""
    started = []

    def start(*_):
        started.append(ThreadEnvProcess(saying(*frames), ServerReply))
        return started[-1]

    monkeypatch.setattr(fork_server, "SpawnedEnvProcess", start)
    return started


DONE, GONE = packed(DoneReply()), b""


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (packed(SpawnReply(1)), ChannelError),
        (packed(b"\xc1"), ChannelError),
        (packed(FailedReply("EnvError", "no", "")), EnvError),
        (GONE, SandboxError),
    ],
)
def test_a_server_that_does_not_begin_well_is_an_error(monkeypatch, frame, kind):
    fake(monkeypatch, *([frame] if frame else []))
    with pytest.raises(kind):
        ForkServer("CartPole-v1", sandbox="process")


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (packed(EndReply(1)), ChannelError),
        (packed(b"\xc1"), ChannelError),
        (packed(FailedReply("OSError", "no more processes", "")), EnvError),
        (GONE, SandboxError),
    ],
)
def test_a_spawn_that_is_none_is_an_error(monkeypatch, frame, kind):
    started = fake(monkeypatch, DONE, *([frame] if frame else []))
    with ForkServer("CartPole-v1", sandbox="process") as server, pytest.raises(kind):
        server.spawn()
    assert len(started) == (2 if frame == GONE else 1)  # it is started once more, not for ever


def test_a_server_that_does_not_end_its_child_is_ended(monkeypatch):
    started = fake(monkeypatch, DONE, packed(SpawnReply(1)), packed(b"\xc1"))
    with ForkServer("CartPole-v1", sandbox="process") as server:
        with pytest.raises(SandboxError, match="starting: expected an answer, got none: its process is gone"):
            server.spawn()
        assert started[0].channel.link.fileno() == -1


def test_output_of_a_server_that_is_gone_is_read_from_nobody_else():
    with ForkServer(DWELLER, sandbox="process", paths=[FOLDER]) as server:
        zygote = server._zygote
        number = zygote._output
        zygote.close()
        with taken(number) as file:
            os.write(file, b"a secret")
            os.lseek(file, 0, os.SEEK_SET)
            zygote.drain()
            assert zygote._tail == b""
            zygote.close()


def test_a_server_may_be_closed_while_a_child_is_asked_for():
    """The thread that waits for its answer is told, and nobody is started for it any more."""
    with ForkServer(DWELLER, sandbox="process", paths=[FOLDER]) as server, ThreadPoolExecutor(1) as threads:
        [zygote] = children(server._zygote.process._root())
        os.kill(zygote, signal.SIGSTOP)
        asking = threads.submit(server.spawn)
        until(lambda: not server._lock.acquire(blocking=False) or server._lock.release(), "the question")
        server.close()
        with pytest.raises(SandboxError, match="expected an open server"):
            asking.result(60)
