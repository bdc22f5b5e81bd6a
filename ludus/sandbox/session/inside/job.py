"""Jobs: one command under way, in the foreground or not; and how it is stopped."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from ludus.sandbox.session.inside.capture import Capture
from ludus.sandbox.session.inside.shell import Shell
from ludus.sandbox.session.inside.supervisor import Supervisors
from ludus.sandbox.session.inside.tree import descendants, kill_tree, send
from ludus.sandbox.session.inside.wire import PIECE_BYTES

__all__ = ["ShellJob"]

LINGER_S = 0.05
"""Seconds that the rest of a command may end, and be heard, after its shell; what still runs then is left a job."""
PREAMBLE_S = 0.05
"""Seconds in which a shell that has closed its pipe is done with its preamble: see `shell`."""
KILL_RETRY_S = 0.1
KILL_DEADLINE_S = 5.0
"""Seconds in which all of a killed tree must be gone."""
CANNOT_START = 126
"""What shells say of a program that is there and cannot be executed."""


class ShellJob:
    """A command, its output so far, and its end."""

    def __init__(
        self,
        number: int,
        shell: Shell,
        folder: bytes,
        supervisors: Supervisors,
        *,
        merge: bool,
        limit: int,
        timeout: float | None,
        feed: bytes,
        grace: float,
        silence: float | None = None,
    ) -> None:
        self.grace = grace
        self.number, self.shell, self.folder, self.feed = number, shell, folder, memoryview(feed)
        self.captures = {1: Capture(limit), 2: Capture(limit)}
        self.begun = time.monotonic()
        self.deadline = None if timeout is None else self.begun + timeout
        self.silence = float("inf") if silence is None else silence
        self.silent_by = self.begun + self.silence
        self.ended: float | None = None
        self.pid: int | None = None
        self.status: int | None = None
        self.failure: int | None = None
        self.gone = self.timed_out = self.interrupted = self.killed = self.is_last = self.is_ready = False
        self.preamble_done_at = self.interrupt_at = self.kill_at = self.gone_by = float("inf")
        self.lines = b""
        self.supervisors = supervisors
        self.pipes = supervisors.launch(shell, folder, merge=merge, feed=bool(feed))
        self.feed_input()

    def read_stream(self, descriptor: int) -> tuple[int, bytes]:
        """Read some output: the stream, and what of it belongs to the kept beginning."""
        stream = self.pipes.streams[descriptor]
        try:
            data = os.read(descriptor, PIECE_BYTES)
        except BlockingIOError:
            return stream, b""
        self.silent_by = time.monotonic() + self.silence
        if not data:
            os.close(descriptor)
            del self.pipes.streams[descriptor]
        return stream, self.captures[stream].feed(data)

    def read_status(self) -> None:
        """Read what the supervisor says."""
        while not self.gone:
            try:
                data = os.read(self.pipes.status, PIECE_BYTES)
            except BlockingIOError:
                return
            *lines, self.lines = (self.lines + data).split(b"\n")
            for line in lines:
                self._note(line[:1], int(line[1:]))
            if not data:
                self._lose_supervisor()

    def _note(self, kind: bytes, number: int) -> None:
        if kind == b"p":
            self.pid, self.preamble_done_at = number, time.monotonic() + PREAMBLE_S
            if self.interrupted or self.timed_out:
                self.interrupt()
            if self.gone_by < float("inf"):
                self.kill()
        elif kind == b"e":
            self.failure, self.status = number, CANNOT_START << 8
        elif kind == b"r":
            self.is_ready = True
        elif kind in (b"s", b"l"):
            self.status, self.ended, self.is_last = number, time.monotonic(), kind == b"l"
            if self.timed_out:
                self.kill()  # what it left in the background as well

    def _lose_supervisor(self) -> None:
        """It has no command any more: everything below it ended, or the command killed it."""
        os.close(self.pipes.status)
        self.supervisors.free(self.pipes.supervisor, ready=self.is_ready)
        self.gone = True
        if self.status is None:
            if self.pid is not None:
                send(-self.pid, signal.SIGKILL)
            self.status, self.killed = signal.SIGKILL, True
        if self.ended is None:
            self.ended = time.monotonic()

    def feed_input(self) -> None:
        """Write to its stdin what it takes now."""
        if self.pipes.stdin is None:
            return
        try:
            self.feed = self.feed[os.write(self.pipes.stdin, self.feed[:PIECE_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:
            self.feed = self.feed[:0]  # it closed its end
        if not self.feed:
            os.close(self.pipes.stdin)
            self.pipes.stdin = None

    def is_complete(self, now: float) -> bool:
        """Whether its result can be reported: the shell ended, and its output was read."""
        if self.gone and not self.pipes.streams:
            return True
        if self.is_last and not self.gone:
            return False  # its supervisor is about to end: however long that takes, it is no job that is left
        return self.ended is not None and now >= self.ended + LINGER_S and (self.gone or not self.timed_out)

    def due(self) -> float:
        """When `tend` or `is_complete` must be asked next, at the latest."""
        if self.ended is not None:
            linger = self.ended + LINGER_S
            return min(linger if linger > time.monotonic() else float("inf"), self.kill_at, self.gone_by)
        late = float("inf") if self.timed_out else self._late_from()
        return min(late, self.interrupt_at, self.kill_at, self.gone_by)

    def _late_from(self) -> float:
        """When its time is over: all of it, or that in which it may be silent."""
        return min(float("inf") if self.deadline is None else self.deadline, self.silent_by)

    def tend(self, now: float) -> None:
        """Do what its deadlines ask for; TimeoutError when a killed tree does not go."""
        if self.gone:
            self.kill_at = self.gone_by = float("inf")
            return
        if now >= self._late_from() and self.ended is None and not self.timed_out:
            self.timed_out = True
            self.interrupt()
            self.kill_at = now + self.grace
        if now >= self.interrupt_at and self.pid is not None and self.ended is None:
            self.interrupt_at = float("inf")
            send(-self.pid, signal.SIGINT)
        if now >= self.kill_at:
            self.kill()
        if now >= self.gone_by:
            raise TimeoutError(f"processes of job {self.number} cannot be killed")

    def interrupt(self) -> None:
        """What Ctrl-C does, as soon as there is somebody to hear it."""
        self.interrupt_at = max(time.monotonic(), self.preamble_done_at)

    def kill(self) -> None:
        """Kill the command with all that it started."""
        if self.gone:
            return
        now = time.monotonic()
        self.kill_at = now + KILL_RETRY_S  # what was just being started escapes the first time
        self.gone_by = min(self.gone_by, now + KILL_DEADLINE_S)
        if self.pid is not None:
            send(-self.pid, signal.SIGKILL)
        with suppress(OSError):  # no /proc: what left its group is found by `gone_by`
            kill_tree(self.pipes.pid)
        self.pipes.supervisor.wake()

    def tree(self) -> set[int]:
        """Its processes, the supervisor included."""
        return set() if self.gone else {self.pipes.pid, *descendants(self.pipes.pid)}

    def row(self) -> dict[str, object]:
        """Its state for the session."""
        end = time.monotonic() if self.ended is None else self.ended
        return {
            "job": self.number,
            "running": not self.gone,
            "code": None if self.status is None else code_of(self.status),
            "signal": None if self.status is None or not os.WIFSIGNALED(self.status) else os.WTERMSIG(self.status),
            "timed_out": self.timed_out,
            "seconds": end - self.begun,
            "stdout": self.captures[1].total,
            "stderr": self.captures[2].total,
        }


def code_of(status: int) -> int:
    """The exit code as a shell shows it."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
