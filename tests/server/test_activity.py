"""Who looks for a message in a server's process is told when anything else there has something to read."""

import asyncio
import select
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from ludus.server.activity import Activity
from ludus.server.watchdog import MAX_DIRECT, StepWatchdog

LOOPS: dict[str, Callable[[], Any]] = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def is_ready(activity: Activity) -> bool:
    poll = select.poll()
    poll.register(activity.fileno, select.POLLIN)
    return bool(poll.poll(0))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_connection_that_a_thread_reads_and_one_of_the_event_loop_s_are_both_heard_of(loop: str) -> None:
    async def main() -> list[bool]:
        activity, running = Activity(), asyncio.get_running_loop()
        activity.begin(running)
        activity.begin(running)
        (one, far), (mine, away) = socket.socketpair(), socket.socketpair()
        mine.setblocking(False)
        found = [is_ready(activity)]
        activity.join("one", one.fileno())
        found.append(is_ready(activity))
        far.send(b"x")
        found.append(is_ready(activity))
        activity.leave("one", one.fileno())
        found.append(is_ready(activity))
        running.add_reader(mine, lambda: None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        away.send(b"x")
        found.append(is_ready(activity))
        running.remove_reader(mine)
        for each in (one, far, mine, away, activity):
            each.close()
        return found

    made = LOOPS[loop]()
    try:
        assert made.run_until_complete(main()) == [False, False, True, False, True]
    finally:
        made.close()


def test_connections_that_are_gone_already_are_left_without_a_word() -> None:
    activity, (one, other) = Activity(), socket.socketpair()
    activity.join("one", one.fileno())
    assert activity.awake == {"one"}
    assert activity.fileno == -1
    one.close()
    activity.leave("one", 10_000)
    activity.leave("one", 10_000)
    assert not activity.awake
    activity.close()
    activity.close()
    other.close()


def test_threads_that_come_after_the_event_loop_has_ended_hear_of_nothing() -> None:
    """It closes what tells who is ready, between the look of another thread whether there is one and its use."""

    async def begun() -> Activity:
        activity = Activity()
        activity.begin(asyncio.get_running_loop())
        return activity

    activity, (one, other) = asyncio.run(begun()), socket.socketpair()
    activity._ready.close()
    activity.join("one", one.fileno())
    assert activity.fileno == -1
    activity.leave("one", one.fileno())
    for each in (one, other, activity):
        each.close()


def test_threads_read_so_many_connections_and_the_event_loop_has_those_beyond() -> None:
    async def work() -> None:
        watch, threads = StepWatchdog(), list[Any]([Idle() for _ in range(MAX_DIRECT)])
        for thread in threads:
            assert watch.has_place
            watch.begin_direct(thread, Nothing())
        assert not watch.has_place
        watch.end_direct(threads[0])
        assert watch.has_place

    asyncio.run(work())


class Idle:
    """A thread that is at nothing."""

    since, over, overdue, under_way = 0.0, False, False, 0


class Nothing:
    def detach(self) -> bool:
        return False
