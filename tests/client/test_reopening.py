"""A session that is gone: the next reset opens another one, within the patience that was asked for, and says so."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.client import aconnect, connect
from ludus.errors import ClosedEnvironment, ConnectionLost, SessionLost
from ludus.server.protocols.memory import LocalServer
from tests.patience import PATIENCE_S
from tests.ports import own_port

TARGET = "CartPole-v1"


@contextlib.contextmanager
def server(port: int):
    command = [str(Path(sys.executable).with_name("ludus")), "serve", TARGET, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()


def reached(port: int, **options):
    """Connect to a server that may be starting."""
    ends = time.monotonic() + PATIENCE_S
    while True:
        try:
            return connect(f"http://127.0.0.1:{port}", **options)
        except ConnectionLost:
            if time.monotonic() > ends:
                raise


def kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


def test_reset_opens_another_session_where_the_server_was_killed_and_started_again():
    with own_port() as port, server(port) as first:
        env = reached(port, timeout=PATIENCE_S)
        env.reset(seed=3)
        env.step(1)
        before = env.session
        kill(first)
        with server(port):
            with pytest.raises(SessionLost) as lost:
                env.step(1)
            assert lost.value.infrastructure
            with pytest.raises(SessionLost, match=r"reset\(\) opens another session"):
                env.step(1)
            observation, info = env.reset(seed=3)
            assert "expected one that is open" in info["session_reopened"]
            assert env.session != before
            with ludus.make(TARGET) as bare:
                assert np.array_equal(observation, bare.reset(seed=3)[0])
                assert np.array_equal(env.step(0).observation, bare.step(0).observation)
            assert "session_reopened" not in env.reset()[1]
            env.close()


def test_a_reset_waits_for_the_server_to_come_back_for_as_long_as_it_may():
    with own_port() as port, server(port) as first:
        env = reached(port, timeout=PATIENCE_S)
        env.reset(seed=3)
        kill(first)
        later = threading.Event()

        def start() -> None:
            assert later.wait(PATIENCE_S)
            with server(port):
                assert done.wait(2 * PATIENCE_S)

        done = threading.Event()
        thread = threading.Thread(target=start)
        thread.start()
        threading.Timer(3.0, later.set).start()  # longer than the few tries of a client that gives up early
        assert "session_reopened" in env.reset(seed=3)[1]
        env.close()
        done.set()
        thread.join()


def test_it_gives_up_when_the_time_is_over_and_not_before():
    with own_port() as port, server(port) as first:
        env = reached(port, timeout=5.0)
        env.reset(seed=3)
        kill(first)
        begin = time.monotonic()
        with pytest.raises(ConnectionLost):
            env.step(1)
        assert time.monotonic() - begin > 1.0


def test_a_batch_begins_anew_too_and_every_lane_says_so():
    with LocalServer(TARGET) as local, connect(local, 3) as envs:
        envs.reset(seed=1)
        local.run(local.server.sessions.close(local.server.sessions.find(envs.session), "closed by somebody"))
        with pytest.raises(SessionLost):
            envs.step([0, 1, 0])
        observations, infos = envs.reset(seed=1)
        assert infos["_session_reopened"].tolist() == [True] * 3
        assert "closed by somebody" in infos["session_reopened"][2]
        with ludus.make_vec(TARGET, 3) as bare:
            assert np.array_equal(observations, bare.reset(seed=1)[0])


def test_the_async_form_begins_anew_too():
    async def main(local: LocalServer) -> dict[str, object]:
        async with await aconnect(local) as env:
            await env.reset(seed=1)
            session = local.server.sessions.find(env.session)
            await asyncio.to_thread(local.run, local.server.sessions.close(session, "closed by somebody"))
            with pytest.raises(SessionLost):
                await env.step(0)
            return (await env.reset(seed=1))[1]

    with LocalServer(TARGET) as local:
        assert "closed by somebody" in str(asyncio.run(main(local))["session_reopened"])


def test_what_was_closed_stays_closed():
    with LocalServer(TARGET) as local:
        env = connect(local)
        env.close()
        with pytest.raises(ClosedEnvironment, match="connect again"):
            env.reset()


def test_without_a_seed_the_new_session_follows_from_the_last_one():
    def second_episode() -> np.ndarray:
        with LocalServer(TARGET) as local, connect(local) as env:
            env.reset(seed=7)
            local.run(local.server.sessions.close(local.server.sessions.find(env.session)))
            return env.reset()[0]

    assert np.array_equal(second_episode(), second_episode())


def test_two_threads_that_share_an_environment_wait_for_each_other():
    with LocalServer(TARGET) as local, connect(local) as env:
        env.reset(seed=0)
        failures: list[BaseException] = []

        def ask() -> None:
            try:
                for _ in range(50):
                    env.state_data()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert not failures
        assert env.state_data()["step_count"] == 0


def test_the_second_driver_is_told_and_no_action_is_lost():
    with LocalServer(TARGET) as local, connect(local) as first:
        first.reset(seed=1)
        with pytest.raises(ludus.errors.ServiceError, match="takeover=True"):
            connect(local, session=first.session)
        assert first.step(0).reward == 1.0
        with connect(local, session=first.session, takeover=True) as second:
            second.step(1)
            with pytest.raises(SessionLost, match="another client"):
                first.step(0)
            assert second.state_data()["step_count"] == 2
