"""`Container`: a sandboxed tree whose first process is `inside.py`, reached through one Unix socket."""

import json
import os
import re
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from ludus.errors import SandboxError
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.containers.api import Api
from ludus.sandbox.containers.group import Group
from ludus.sandbox.containers.inside import HandedStartCommand, StartCommand
from ludus.sandbox.leftovers import private_folder
from ludus.sandbox.local_process import LocalProcess
from ludus.sandbox.policy import Policy
from ludus.sandbox.proxy import Proxy
from ludus.sandbox.rlimits import Rlimit
from ludus.sandbox.streams import Streams
from ludus.sandbox.watch import watcher

__all__ = ["Container", "ControlSocket"]

MAX_REPORT_BYTES = 4096
"""Bytes of a report at most; what comes from inside is never trusted further."""
START_TIMEOUT_S = 60.0
"""Seconds in which the first process has to knock."""
POLL_S = 0.25
CODE = re.compile(rb"-?[0-9]{1,3}")


class ControlSocket:
    """A Unix socket in a folder of its own, through which the first process of one container comes to us.

    Beside it lie the limits that this process sets for itself before it comes, and the filter of system calls that it
    shuts; empty is none.
    """

    def __init__(self, limits: Sequence[Rlimit], refused: bytes) -> None:
        self._private = private_folder("box")
        self.folder = os.path.join(self._private, "control")
        """What is mounted: on the host nobody gets through the folder above it."""
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)  # noqa: S103
        Path(self.folder, "limits").write_text("".join(f"{one.name} {one.soft} {one.hard}\n" for one in limits))
        Path(self.folder, "filter").write_bytes(refused)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{self.folder}/control")
        os.chmod(f"{self.folder}/control", 0o666)  # noqa: S103
        self._listener.listen(1)

    def answer(self, api: Api, container: str) -> socket.socket:
        """Wait for the knock; SandboxError where the container ends before it."""
        end = time.monotonic() + START_TIMEOUT_S
        self._listener.settimeout(POLL_S)
        while True:
            try:
                return self._listener.accept()[0]
            except TimeoutError:
                state = api.state(container)
                if not state["Running"] or time.monotonic() > end:
                    raise SandboxError(
                        "container: expected its first process to begin, got "
                        f"{'no word from it' if state['Running'] else 'exit code ' + str(state['ExitCode'])}; "
                        "the image needs Python 3.9 or later"
                    ) from None

    def __enter__(self) -> "ControlSocket":
        return self

    def __exit__(self, *error: object) -> None:
        """Close the socket and remove its folder; connections that were made stay."""
        self._listener.close()
        shutil.rmtree(self._private, ignore_errors=True)


class Container(LocalProcess):
    """A tree in a container: its first process tells how the work ended, and its end is the end of all of it."""

    def __init__(
        self,
        pid: int,
        streams: Streams,
        policy: Policy,
        guarantees: Guarantees,
        *,
        connect: Callable[[], Api],
        container: str,
        control: socket.socket,
        group: Group,
        proxy: Proxy | None,
    ) -> None:
        self.container = container
        self.group, self._proxy = group, proxy
        self._connect, self._control = connect, control  # a service may die, and be another one later
        self._handle = os.pidfd_open(pid)
        self._lock = threading.Lock()
        self._received = b""
        self._listening = self._stopped = self._closing = self._closed = self._unexplained = False
        super().__init__(pid, streams, policy.limits, guarantees, group)
        self.policy = policy

    def hand_over(self, work: StartCommand, channel: int | None) -> None:
        """Give the first process its work; from here on nothing inside is trusted."""
        handed: list[int] = []
        streams = [_place(handed, self._streams.descriptors[number]) for number in range(3)]
        whole: HandedStartCommand = {**work, "streams": streams, "channel": _place(handed, channel)}
        text = json.dumps(whole).encode() + b"\n"
        try:
            socket.send_fds(self._control, [text[:1]], handed)
            self._control.sendall(text[1:])
        except OSError as error:
            raise SandboxError(f"container: expected its first process to take its work, got {error}") from error
        self._streams.release()

    def usage(self) -> Usage:
        self._explain()
        return super().usage()

    def close(self) -> None:
        with self._lock:
            closing, self._closing = self._closing, True
        if closing:
            return
        try:
            super().close()
            self._explain()
        finally:
            with self._lock:
                self._closed = True
                os.close(self._handle)
            if self._ended.is_set():  # nobody watches it any more
                self._control.close()
            else:  # it survives being killed; closed here, the number would be watched for whoever has it next
                watcher().call(self._hang_up)
            self._connect().remove(self.container)

    def _explain(self) -> None:
        """Where all ended at once and its group with it, the engine may still know that memory ran out."""
        if self._ended.is_set() and self._unexplained:
            self._unexplained = False
            with suppress(SandboxError):  # it does not
                if self._connect().state(self.container)["OOMKilled"] and self._final is not None:
                    self._final = msgspec.structs.replace(self._final, oom=True, limit="memory")

    def _root(self) -> int | None:
        return self.pid if self.group.counts_tasks else None

    # In the watcher's thread.

    def _watch(self) -> None:
        watcher().add(self._control.fileno(), self._report)
        self._listening = True
        super()._watch()

    def _report(self) -> None:
        """The work has ended: measure while its group is still there, and end the first process too."""
        if not self._hear() or b"\n" in self._received:
            self._stop_listening()
            self._end()

    def _hear(self) -> bool:
        try:
            more = self._control.recv(MAX_REPORT_BYTES - len(self._received), socket.MSG_DONTWAIT)
        except OSError:
            more = b""
        self._received += more
        return bool(more)

    def _stop_listening(self) -> None:
        if self._listening:
            self._listening = False
            watcher().drop(self._control.fileno())

    def _hang_up(self) -> None:
        """Close the socket, in the thread that watches it."""
        self._stop_listening()
        self._control.close()

    def _signal(self) -> None:
        self._stopped = True
        self._end()

    def _end(self) -> None:
        try:
            self.group.measures(self._limit)  # while the group is still there
        finally:
            self._kill_first()

    def _kill_first(self) -> None:
        with self._lock:
            try:
                if not self._closed:
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended
            except PermissionError:  # another user's process, as where podman runs without root
                threading.Thread(target=lambda: self._connect().kill(self.container), daemon=True).start()

    def _release(self) -> None:
        while self._listening and self._hear():
            pass  # its last words
        self._stop_listening()
        super()._release()

    def _exit_code(self, code: int) -> int:
        if self._proxy is not None:
            self._proxy.close()
        report, complete, _ = self._received.partition(b"\n")
        number, _, failure = report.partition(b" ")
        if not complete or not CODE.fullmatch(number):
            self._unexplained = not self._stopped and not self.group.ran_out()
            return -signal.SIGKILL
        if failure:
            self._reason = failure.decode("utf8", "replace")
        return int(number)


def _place(handed: list[int], descriptor: int | None) -> int | None:
    """Where a descriptor is among those that are handed over; None for none, and for nothing: each has its own."""
    if descriptor is None or os.fstat(descriptor).st_rdev == os.stat(os.devnull).st_rdev:
        return None
    if descriptor not in handed:
        handed.append(descriptor)
    return handed.index(descriptor)
