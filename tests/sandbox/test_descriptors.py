"""Descriptors that one thread closes while another uses them: whoever comes too late reaches nobody else's file."""

import os
import socket
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ludus.errors import ChannelError, SandboxError
from ludus.sandbox import local_process
from ludus.sandbox.containers.container import Container
from ludus.sandbox.environment.channel import MessageChannel
from ludus.sandbox.launcher_process import LauncherProcess
from ludus.sandbox.session.channel import SessionChannel
from ludus.sandbox.watch import watcher
from ludus.vector.link import WorkerLink
from tests.descriptors import taken
from tests.patience import until


class Witness:
    """A socket that notes, each time it is used or closed, whether a lock was held, and in which thread."""

    def __init__(self, lock: threading.Lock) -> None:
        self._socket, self._far = socket.socketpair()
        self._lock = lock
        self.held: dict[str, bool] = {}
        self.closed_in: threading.Thread | None = None

    def fileno(self) -> int:
        return self._socket.fileno()

    def _note(self, deed: str) -> None:
        self.held[deed] = self._lock.locked()

    def send(self, *arguments: Any) -> int:
        self._note("send")
        return self._socket.send(*arguments)

    def shutdown(self, how: int) -> None:
        self._note("shutdown")
        self._socket.shutdown(how)

    def recv(self, *_: Any) -> bytes:
        return b""

    def close(self) -> None:
        self._note("close")
        self.closed_in = threading.current_thread()
        self._socket.close()
        self._far.close()


def test_a_channel_is_not_closed_while_another_thread_hangs_up() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = MessageChannel(ours, int)
        channel.link = link = cast("Any", Witness(channel._closing))
        channel.hang_up()
        channel.close()
        assert link.held == {"shutdown": True, "close": True}
        link.held.clear()
        channel.hang_up()
        assert link.held == {}


def test_the_channel_of_a_session_is_closed_when_nobody_uses_it_any_more() -> None:
    ours, theirs = socket.socketpair()
    process: Any = SimpleNamespace(wait=lambda _: None)
    with ours, theirs:
        channel = SessionChannel(ours, process)
        wait, order = channel._wait, list[str]()

        def waited(*arguments: Any) -> None:
            order.append("waits")
            wait(*arguments)
            order.append("was told")

        channel._wait = waited

        def receive() -> None:
            with pytest.raises(ChannelError, match="its processes were killed"):
                channel.receive(float("inf"))

        thread = threading.Thread(target=receive)
        thread.start()
        until(lambda: order, "somebody who waits")
        channel.close()
        order.append("closed")
        thread.join()
        assert order == ["waits", "was told", "closed"]
        channel.close()


def test_a_launcher_is_not_told_to_kill_by_a_socket_that_is_being_closed(tmp_path: Any) -> None:
    lock = threading.Lock()
    process: Any = LauncherProcess.__new__(LauncherProcess)
    process.cgroup, process._control_lock, process._home = None, lock, str(tmp_path / "home")
    process._descriptor, process._descriptor_lock = None, threading.Lock()
    process._control = control = Witness(lock)
    process._signal()
    assert process._exit_code(-9) == -9
    assert control.held == {"send": True, "close": True}
    control.held.clear()
    process._signal()
    assert control.held == {}


def container(*, ended: bool) -> Any:
    """What is left of a container of which everything but its descriptors is gone."""
    found: Any = Container.__new__(Container)
    found._lock, found._ended, found._removed = threading.Lock(), threading.Event(), threading.Event()
    found._removed.set()
    if ended:
        found._ended.set()
    found._closing = found._closed = found._unexplained = found._listening = found._stopped = False
    found._handle, found._control, found.pid = os.pidfd_open(os.getpid()), Witness(found._lock), 0
    found._streams = SimpleNamespace(close=lambda: None)
    found._connect, found.container = lambda: SimpleNamespace(remove=lambda _: None), "nobody"
    return found


def test_a_container_that_is_closed_twice_closes_nothing_of_others() -> None:
    found = container(ended=True)
    found.close()
    with taken(found._handle):
        found.close()
        os.fstat(found._handle)


def test_a_container_that_is_closed_is_sent_no_signal_by_a_number_that_may_be_anothers() -> None:
    found = container(ended=True)
    found.close()
    with taken(found._handle):
        found._kill_first()  # by a file that is no process it would be an error, by another's process its end


def test_a_container_that_survives_is_let_go_by_the_thread_that_watches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_process, "KILL_TIMEOUT_S", 0.0)
    found = container(ended=False)
    found._signal = lambda: None
    with pytest.raises(SandboxError, match="got one that survives being killed"):
        found.close()
    until(lambda: found._control.closed_in is not None, "the end of the socket")
    assert found._control.closed_in is watcher()


def test_what_a_batch_has_of_a_worker_is_closed_once() -> None:
    link: Any = WorkerLink.__new__(WorkerLink)
    number = os.open(os.devnull, os.O_RDONLY)
    link._files, link.channel = [number], SimpleNamespace(close=lambda: None)
    link.forget()
    with taken(number):
        link.forget()
        os.fstat(number)
