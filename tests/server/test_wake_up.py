"""What wakes a thread: whoever calls too late reaches nobody, whatever the number of its descriptor is by then."""

import asyncio
import os
from typing import Any, cast

import pytest

from ludus.errors import ServiceError
from ludus.server.activity import Activity
from ludus.server.direct import Direct
from ludus.server.env_thread import EnvThread
from ludus.server.listen_config import ListenConfig
from ludus.server.session_counts import SessionCounts
from ludus.server.supervisor import WorkerSupervisor
from ludus.server.wake_up import WakeUp
from tests.descriptors import taken
from tests.patience import until


def test_a_connection_that_is_recalled_after_its_thread_has_ended_writes_to_nobody() -> None:
    async def main() -> int:
        thread, nothing = EnvThread("session-test"), cast("Any", None)
        thread.wake_up = WakeUp()
        number = thread.wake_up.fileno
        direct = Direct(thread, nothing, nothing, nothing, activity=Activity(), on_end=nothing)
        thread.end()
        until(lambda: thread.over, "the end of the thread")
        with taken(number) as file:
            direct.recall()
            return os.fstat(file).st_size

    assert asyncio.run(main()) == 0


def test_a_server_that_is_stopped_after_its_end_writes_to_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    def work(*_: Any) -> None:
        raise RuntimeError("no")

    supervisor = WorkerSupervisor(work, SessionCounts([1]), ListenConfig(port=0))
    number = supervisor._stops[0]
    with pytest.raises(ServiceError):
        supervisor.run()
    with taken(number) as file:
        supervisor.stop()
        assert os.fstat(file).st_size == 0
    capfd.readouterr()


def test_what_is_closed_twice_closes_nothing_of_others() -> None:
    wake_up = WakeUp()
    number = wake_up.fileno
    wake_up.close()
    with taken(number):
        wake_up.close()
        wake_up.clear()
        os.fstat(number)


def test_a_call_is_heard_until_it_is_forgotten() -> None:
    wake_up = WakeUp()
    wake_up.call()
    assert os.eventfd_read(wake_up.fileno) == 1
    wake_up.call()
    wake_up.clear()
    with pytest.raises(BlockingIOError):
        os.eventfd_read(wake_up.fileno)
    wake_up.close()
