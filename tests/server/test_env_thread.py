"""The thread of an environment: what is quick is there at once, what is not holds nobody up, and nothing is lost."""

import asyncio
import threading
import time
from typing import Any

import pytest

from ludus.errors import EnvError
from ludus.server.env_thread import QUICK_WORK_S, EnvThread

MANY = 40


async def warmed(name: str = "session-test") -> EnvThread:
    """A thread that has done enough quick work to be known for it."""
    thread = EnvThread(name)
    for number in range(MANY):
        assert await thread.run(lambda number=number: number) == number
    return thread


def test_work_of_a_thread_that_is_quick_is_done_when_it_is_given() -> None:
    async def main() -> int:
        thread = await warmed()
        thread.usual = 0.0  # whatever this machine is at
        done = [thread.run(lambda: 7).done() for _ in range(MANY)]
        await asyncio.gather(*(thread.run(lambda: 7) for _ in range(3)))
        thread.end()
        return sum(done)

    assert asyncio.run(main()) > 0


def test_work_that_suddenly_blocks_is_not_waited_for_and_its_result_comes_all_the_same() -> None:
    gate = threading.Event()

    async def main() -> tuple[bool, Any, int]:
        thread = await warmed()
        thread.usual = 0.0
        running = thread.run(lambda: gate.wait(20.0) and "late")  # waited for, it would be done, and not late
        at_once = running.done()
        assert thread.usual > QUICK_WORK_S  # the next ones are not waited for
        second = thread.run(lambda: "next")
        gate.set()
        found = (await running, await second)
        left = thread.under_way
        thread.end()
        return at_once, found, left

    at_once, found, left = asyncio.run(main())
    assert not at_once
    assert found == ("late", "next")
    assert left == 0


def test_what_work_raises_is_raised_whichever_way_it_comes() -> None:
    def fail(kind: type[BaseException]) -> None:
        raise kind("no")

    async def main() -> None:
        thread = await warmed()
        for usual in (0.0, 1.0):
            for kind, told in ((ValueError, ValueError), (SystemExit, EnvError), (StopIteration, EnvError)):
                thread.usual = usual
                with pytest.raises(told):
                    await thread.run(lambda kind=kind: fail(kind))
        assert thread.under_way == 0
        thread.end()

    asyncio.run(main())


def test_a_thread_that_is_slow_is_not_waited_for_until_it_has_been_quick_for_a_while() -> None:
    async def main() -> None:
        thread = EnvThread("session-test")
        assert thread.usual > QUICK_WORK_S
        await thread.run(lambda: time.sleep(20 * QUICK_WORK_S))
        assert thread.usual >= 20 * QUICK_WORK_S
        thread.usual = 20 * QUICK_WORK_S
        assert not thread.run(lambda: None).done()
        thread.end()

    asyncio.run(main())


def test_work_that_is_long_by_its_nature_says_nothing_about_the_rest() -> None:
    gate = threading.Event()

    async def main() -> None:
        thread = await warmed()
        thread.usual = 0.0
        reading = thread.run(lambda: gate.wait(60.0), brief=False)
        assert not reading.done()
        asyncio.get_running_loop().call_later(0.01, gate.set)
        assert await reading
        assert thread.usual == 0.0
        thread.end()

    asyncio.run(main())
