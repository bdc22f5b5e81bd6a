"""One session: calls in their turn, deadlines, threads, and what is left of it at the end."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from ludus.errors import EnvError, LimitExceeded, SessionLost
from ludus.remote.host import EnvHost
from ludus.server.access import Principal
from ludus.server.config import ServerConfig
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server
from ludus.server.session import Session
from tests.patience import PATIENCE_S
from tests.server.wired_worlds import FAIL, GO, LEAVE, WAIT, Gate, Sleeper

OWNER = Principal("orchestrator", "me")
SLEEPER = f"{Sleeper.__module__}:Sleeper"


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(5 * PATIENCE_S):
            await work

    asyncio.run(bounded())


OTHERS: set[threading.Thread] = set()
"""Threads of sessions that other tests have left under way, as some do on purpose."""


@pytest.fixture(autouse=True)
def shut() -> Iterator[None]:
    OTHERS.clear()
    OTHERS.update(threading.enumerate())
    Gate.opened.clear()
    Gate.closed.clear()
    while Gate.waiting.acquire(blocking=False):
        pass
    yield
    Gate.opened.set()


def gate_server(**config: Any) -> Server:
    found = ServerConfig(**config)
    return Server([ServedEnv(Gate, "gate", config=found)], found)


def sleeper_server(**config: Any) -> Server:
    found = ServerConfig(isolation="process", **config)
    return Server([ServedEnv(SLEEPER, "sleeper", config=found)], found)


def threads() -> set[str]:
    return {one.name for one in threading.enumerate() if one.name.startswith("session-") and one not in OTHERS}


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def reset(hosted: EnvHost) -> Any:
    return hosted.reset(seed=0)


def test_calls_have_their_turn_in_order() -> None:
    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        await session.call(reset, long=True)
        first = asyncio.create_task(session.call(lambda hosted: hosted.step(WAIT)))
        await until(lambda: Gate.waiting.acquire(blocking=False))
        others = [asyncio.create_task(session.call(lambda hosted: hosted.step(GO))) for _ in range(5)]
        await asyncio.sleep(0)
        assert session.busy
        Gate.opened.set()
        assert [(await one).observation for one in (first, *others)] == [1, 2, 3, 4, 5, 6]
        assert not session.busy
        await server.sessions.stop()

    run(work())


def test_an_environment_is_made_used_and_closed_in_one_thread() -> None:
    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        used = {await session.call(lambda _: threading.get_ident()) for _ in range(5)}
        assert len(used) == 1
        assert threading.get_ident() not in used
        await server.sessions.close(session)
        assert Gate.closed
        await until(lambda: not threads())

    run(work())


def test_past_its_deadline_a_session_in_this_process_is_given_up() -> None:
    async def work() -> None:
        server = gate_server(deadline=2.5, max_sessions=1)
        session = await server.sessions.open("gate", OWNER)
        await session.call(reset, long=True)
        with pytest.raises(LimitExceeded, match=r"longer than 2\.5 seconds.*isolation='process'"):
            await session.call(lambda hosted: hosted.step(WAIT))
        assert server.sessions.infos() == []
        with pytest.raises(SessionLost, match=r"it took longer than 2\.5 seconds"):
            server.sessions.find(session.id)
        with pytest.raises(SessionLost, match="longer than"):
            await session.call(reset)
        twin = await server.sessions.open("gate", OWNER)  # the place is free, though the thread is not done
        assert len(threads()) == 2
        before = len(Gate.closed)
        Gate.opened.set()
        await until(lambda: len(Gate.closed) == before + 1)  # it is closed when it comes back
        await server.sessions.close(twin)
        await until(lambda: not threads())

    run(work())


def test_the_caller_may_grant_less_time() -> None:
    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        with pytest.raises(LimitExceeded, match=r"longer than 0\.1 seconds"):
            await session.call(lambda _: Gate.opened.wait(60), 0.1)
        for seconds in (float("nan"), float("inf"), 1e308, -1.0):
            other = await server.sessions.open("gate", OWNER)
            if seconds == seconds and seconds < 0:
                with pytest.raises(LimitExceeded):
                    await other.call(lambda _: Gate.opened.wait(60), seconds)
            else:
                assert (await other.call(reset, seconds)).observation == 0
        Gate.opened.set()
        await server.sessions.stop()
        await until(lambda: not threads())

    run(work())


def test_a_constructor_that_hangs_is_given_up_and_its_environment_closed_when_it_comes() -> None:
    class Slow(Gate):
        made = 0

        def __init__(self) -> None:
            Slow.made += 1
            if Slow.made > 1:
                Gate.opened.wait(60)
            super().__init__()

    async def work() -> None:
        config = ServerConfig(deadline=2.5, max_sessions=1)
        server = Server([ServedEnv(Slow, "slow", config=config)], config)
        with pytest.raises(LimitExceeded, match="longer than"):
            await server.sessions.open("slow", OWNER)
        before = len(Gate.closed)
        Gate.opened.set()
        await until(lambda: len(Gate.closed) == before + 1 and not threads())
        await server.sessions.close(await server.sessions.open("slow", OWNER))

    run(work())


def test_a_call_that_nobody_waits_for_any_more_is_finished_before_the_next() -> None:
    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        await session.call(reset)
        left = asyncio.create_task(session.call(lambda hosted: hosted.step(WAIT)))
        await until(lambda: Gate.waiting.acquire(blocking=False))
        left.cancel()
        await asyncio.wait([left])
        after = asyncio.create_task(session.call(lambda hosted: hosted.step(GO)))
        await asyncio.sleep(0)
        Gate.opened.set()
        assert (await after).observation == 2
        await server.sessions.stop()

    run(work())


def test_closing_does_not_wait_for_what_cannot_be_ended() -> None:
    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        await session.call(reset)
        running = asyncio.create_task(session.call(lambda hosted: hosted.step(WAIT)))
        await until(lambda: Gate.waiting.acquire(blocking=False))
        waiting = asyncio.create_task(session.call(lambda hosted: hosted.step(GO)))
        await asyncio.sleep(0)
        await server.sessions.close(session)
        assert server.sessions.infos() == []
        Gate.opened.set()
        assert (await running).observation == 1
        with pytest.raises(SessionLost, match="it was closed"):
            await waiting
        await until(lambda: not threads())
        assert Gate.closed[-1] == 1

    run(work())


def test_what_close_raises_is_counted_and_nothing_else() -> None:
    class Torn(Gate):
        def close(self) -> None:
            raise RuntimeError("stuck")

    async def work() -> None:
        served = ServedEnv(Torn, "torn")
        served.description = ServedEnv(Gate, "gate").description  # type: ignore[method-assign]
        server = Server([served])
        session = await server.sessions.open("torn", OWNER)
        await server.sessions.close(session)
        assert "ludus_close_failures_total 1" in server.metrics.text()

    run(work())


# --- in a sandbox ---


@pytest.mark.parametrize("granted", [None, 0.2])
def test_past_its_deadline_an_environment_in_isolation_is_killed_and_goes_on(granted: float | None) -> None:
    async def work() -> None:
        server = sleeper_server(deadline=30.0 if granted else 20.0)  # its start is under it too
        session = await server.sessions.open("sleeper", OWNER)
        await session.call(reset, long=True)
        cut = await session.call(lambda hosted: hosted.step(WAIT), granted)
        assert cut.truncated
        assert cut.infrastructure
        assert cut.info["sandbox"]["limit"] == "deadline"
        await session.call(reset, long=True)
        assert (await session.call(lambda hosted: hosted.step(GO))).observation == 1
        left = await session.call(lambda hosted: hosted.step(LEAVE))
        assert left.infrastructure
        assert "code 3" in left.info["sandbox"]["reason"]
        await server.sessions.stop()

    run(work())


def test_a_batch_in_isolation_shows_its_state_and_can_be_ended() -> None:
    async def work() -> None:
        server = sleeper_server(deadline=30.0)
        session = await server.sessions.open("sleeper", OWNER, lanes=2, arguments={"start": 5})
        await session.call(reset, long=True)
        await session.call(lambda hosted: hosted.step([GO, GO]))
        told = await session.call(lambda hosted: hosted.state(private=True))
        assert told["lanes"] == [{"tries": 1, "answer": "a candle"}] * 2
        assert (await session.call(lambda hosted: hosted.state()))["lanes"] == [{"tries": 1}] * 2
        cut = await session.call(lambda hosted: hosted.step([GO, WAIT]), 0.2)
        assert cut.truncated.all()
        assert cut.info["_sandbox"].all()
        assert (await session.call(reset, long=True)).observation.tolist() == [5, 5]
        await server.sessions.stop()

    run(work())


def test_closing_ends_what_is_under_way_in_isolation() -> None:
    async def work() -> None:
        server = sleeper_server(deadline=30.0)
        session = await server.sessions.open("sleeper", OWNER)
        await session.call(reset, long=True)
        running = asyncio.create_task(session.call(lambda hosted: hosted.step(WAIT)))
        await until(lambda: session.busy)
        await server.sessions.close(session)
        await asyncio.wait([running])
        await until(lambda: not threads())

    run(work())


def test_what_fails_is_told_and_leaves_the_session() -> None:
    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        await session.call(reset)
        with pytest.raises(ZeroDivisionError):
            await session.call(lambda hosted: hosted.step(FAIL))
        assert (await session.call(lambda hosted: hosted.step(GO))).observation == 1
        info = session.info()
        assert (info.env, info.lanes, info.isolation, info.owner, info.steps) == ("gate", 0, "none", "me", 1)
        await server.sessions.stop()

    run(work())


def test_a_session_is_lost_once() -> None:
    async def work() -> None:
        server = gate_server()
        session: Session = await server.sessions.open("gate", OWNER)
        session.lose("it broke")
        session.lose("again")
        assert session.lost == "it broke"
        await server.sessions.close(session)
        await server.sessions.stop()

    run(work())


@pytest.mark.parametrize("error", [StopIteration, SystemExit, KeyboardInterrupt, asyncio.CancelledError])
def test_what_would_end_a_task_or_the_program_ends_the_call_alone(error: type[BaseException]) -> None:
    def fail(_: EnvHost) -> None:
        raise error("from an environment")

    async def work() -> None:
        server = gate_server()
        session = await server.sessions.open("gate", OWNER)
        with pytest.raises(EnvError, match=f"got {error.__name__}: from an environment"):
            await session.call(fail)
        assert (await session.call(reset)).observation == 0
        await server.sessions.stop()

    run(work())
