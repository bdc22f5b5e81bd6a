"""All sessions of a server: places, queues, shares, the reaper, and forks."""

import asyncio
from collections.abc import Coroutine
from time import monotonic
from typing import Any

import numpy as np
import pytest

from ludus.errors import AccessDenied, InvalidArgument, ServerBusy, SessionLost, SnapshotError, UnknownEnvironment
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from tests.patience import PATIENCE_S
from tests.server.wired_worlds import Gate

ME, YOU = Principal("orchestrator", "me"), Principal("orchestrator", "you")
ANYBODY = Principal("orchestrator", "anybody")


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(5 * PATIENCE_S):
            await work

    asyncio.run(bounded())


def server_of(*targets: Any, **config: Any) -> Server:
    return Server(targets or ["CartPole-v1"], ServerConfig(**config))


def test_ids_are_secrets_that_name_their_worker() -> None:
    async def work() -> None:
        server = Server(["CartPole-v1"], worker=3)
        ids = {(await server.sessions.open("", ME)).id for _ in range(20)}
        assert len(ids) == 20
        assert all(one.startswith("3.") and len(one) == 26 for one in ids)
        await server.sessions.stop()
        assert server.sessions.infos() == []

    run(work())


def test_what_is_not_offered_is_named() -> None:
    async def work() -> None:
        server = server_of("CartPole-v1", "GridWorld-v0")
        with pytest.raises(UnknownEnvironment, match="expected one of CartPole-v1, GridWorld-v0, got 'Pong'"):
            await server.sessions.open("Pong", ME)
        assert (await server.sessions.open("GridWorld-v0", ME)).served.name == "GridWorld-v0"
        await server.sessions.stop()

    run(work())


@pytest.mark.parametrize("role", ["agent", "observer"])
def test_only_those_who_may_run_open_and_fork(role: Any) -> None:
    async def work() -> None:
        server = server_of()
        with pytest.raises(AccessDenied, match=f"open a session: expected a role with the right to run, got {role}"):
            await server.sessions.open("", Principal(role, "x"))
        session = await server.sessions.open("", ME)
        with pytest.raises(AccessDenied, match="fork a session"):
            await server.sessions.fork(session, 0, Principal(role, "x"))
        await server.sessions.stop()

    run(work())


def test_a_caller_waits_for_a_place_and_gets_the_next_that_is_free() -> None:
    async def work() -> None:
        server = server_of(max_sessions=2)
        first, second = [await server.sessions.open("", ME) for _ in range(2)]
        waiting = [asyncio.create_task(server.sessions.open("", ME)) for _ in range(2)]
        while server.sessions.waiting < 2:
            await asyncio.sleep(0)
        await server.sessions.close(first)
        third = await waiting[0]
        assert not waiting[1].done()
        await server.sessions.close(second)
        await server.sessions.close(third)
        await waiting[1]
        assert server.sessions.waiting == 0
        await server.sessions.stop()

    run(work())


def test_a_caller_that_waits_too_long_is_told_when_to_come_again() -> None:
    async def work() -> None:
        server = server_of(max_sessions=1, queue_seconds=0.05)
        held = await server.sessions.open("", ME)
        with pytest.raises(ServerBusy, match=r"expected one of 1 places to become free within 0\.05 seconds") as caught:
            await server.sessions.open("", ME)
        assert 1.0 <= caught.value.retry_after <= 60.0
        await server.sessions.close(held)
        await server.sessions.open("", ME)
        await server.sessions.stop()

    run(work())


def test_no_more_wait_than_there_are_places() -> None:
    async def work() -> None:
        server = server_of(max_sessions=2)
        for _ in range(2):
            await server.sessions.open("", ME)
        waiting = [asyncio.create_task(server.sessions.open("", ME)) for _ in range(2)]
        while server.sessions.waiting < 2:
            await asyncio.sleep(0)
        with pytest.raises(ServerBusy, match="at most 2 to wait for a place"):
            await server.sessions.open("", ME)
        for one in waiting:
            one.cancel()
        await asyncio.wait(waiting)
        assert server.sessions.waiting == 0
        await server.sessions.stop()

    run(work())


def test_a_token_has_its_share() -> None:
    async def work() -> None:
        server = server_of(sessions_per_token=2)
        mine = [await server.sessions.open("", ME) for _ in range(2)]
        with pytest.raises(ServerBusy, match="at most 2 of one token") as caught:
            await server.sessions.open("", ME)
        assert caught.value.retry_after == 5.0
        await server.sessions.open("", YOU)
        for _ in range(5):
            await server.sessions.open("", ANYBODY)
        await server.sessions.close(mine[0])
        await server.sessions.close(mine[0])  # twice is harmless
        await server.sessions.open("", ME)
        await server.sessions.stop()

    run(work())


def test_whatever_goes_wrong_in_opening_frees_the_place() -> None:
    async def work() -> None:
        server = server_of(ServedEnv(Gate, "gate"), max_sessions=1, sessions_per_token=1, queue_seconds=0.5)
        for _ in range(3):
            with pytest.raises(InvalidArgument, match="unknown argument 'nothing'"):
                await server.sessions.open("gate", ME, arguments={"nothing": 1})
        opening = asyncio.create_task(server.sessions.open("gate", ME))
        await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait([opening])
        assert (await server.sessions.open("gate", ME)).lost is None
        await server.sessions.stop()

    run(work())


def test_sessions_that_nobody_uses_are_closed() -> None:
    async def work() -> None:
        server = server_of(idle_seconds=100, resume_seconds=10)
        sessions, now = server.sessions, monotonic()
        await sessions.start()
        used, left, connected, idle = [await sessions.open("", ME) for _ in range(4)]
        left.was_connected = connected.was_connected = True
        connected.connection = object()
        sessions.reap(now + 5)
        assert len(sessions.infos()) == 4
        sessions.reap(now + 50)
        assert {one.id for one in sessions.infos()} == {used.id, connected.id, idle.id}
        used.used = now + 150
        sessions.reap(now + 200)
        assert {one.id for one in sessions.infos()} == {used.id, connected.id}
        with pytest.raises(SessionLost, match="nobody used it for too long"):
            sessions.find(left.id)
        await sessions.stop()
        assert 'ludus_sessions_reaped_total{env="CartPole-v1"} 2' in server.metrics.text()

    run(work())


def test_a_session_in_use_is_not_closed() -> None:
    async def work() -> None:
        Gate.opened.clear()
        server = server_of(ServedEnv(Gate, "gate"))
        session = await server.sessions.open("gate", ME)
        running = asyncio.create_task(session.call(lambda _: Gate.opened.wait(60)))
        while not session.busy:
            await asyncio.sleep(0)
        server.sessions.reap(monotonic() + 1e6)
        assert server.sessions.find(session.id) is session
        Gate.opened.set()
        await running
        await server.sessions.stop()

    run(work())


def test_what_is_remembered_of_those_that_are_gone_is_bounded() -> None:
    async def work() -> None:
        server = server_of()
        for _ in range(1100):
            await server.sessions.close(await server.sessions.open("", ME))
        assert len(server.sessions._gone) == 1024  # pyright: ignore[reportPrivateUsage]

    run(work())


def test_a_fork_is_made_as_its_original_was() -> None:
    async def work() -> None:
        server = server_of(ServedEnv(Gate, "gate"))
        session = await server.sessions.open("gate", ME, arguments={"start": 40})
        await session.call(lambda hosted: hosted.reset(seed=0))
        twin = await server.sessions.fork(session, 0, YOU)
        assert (twin.arguments, twin.owner) == ({"start": 40}, YOU)
        assert (await twin.call(lambda hosted: hosted.step(0))).observation == 41
        assert (await twin.call(lambda hosted: hosted.reset())).observation == 40
        assert (await session.call(lambda hosted: hosted.step_count)) == 0
        with pytest.raises(SnapshotError):
            await server.sessions.fork(session, 9, ME)
        assert len(server.sessions.infos()) == 2
        await server.sessions.stop()

    run(work())


@pytest.mark.parametrize("lanes", [0, 3])
def test_what_runs_in_isolation_is_forked_too(lanes: int) -> None:
    async def work() -> None:
        config = ServerConfig(isolation="process")
        server = Server([ServedEnv("CartPole-v1", config=config)], config)
        session = await server.sessions.open("", ME, lanes=lanes)
        action = np.ones(lanes, np.int64) if lanes else 1
        await session.call(lambda hosted: hosted.reset(seed=0))
        kept = await session.call(lambda hosted: hosted.keep())
        await session.call(lambda hosted: hosted.step(action))
        now, then = [await server.sessions.fork(session, number, ME) for number in (0, kept)]
        found = [(await one.call(lambda hosted: hosted.step(action))).observation for one in (session, now, then)]
        assert np.array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])
        again = (await then.call(lambda hosted: hosted.step(action))).observation
        assert np.array_equal(found[0], again)
        await server.sessions.stop()

    run(work())


def test_stopping_closes_all_and_is_harmless_twice() -> None:
    async def work() -> None:
        server = server_of(ServedEnv(Gate, "gate"))
        await server.sessions.start()
        await server.sessions.start()
        for _ in range(3):
            await server.sessions.open("gate", ME)
        Gate.closed.clear()
        await server.sessions.stop()
        await server.sessions.stop()
        assert len(Gate.closed) == 3

    run(work())
