"""The agent of a session: it starts commands, keeps their output and answers the session through descriptor 3.

It holds no state of the shell: that comes with each command and goes back with its result, so it outlives the agent.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

from ludus.sandbox.session.inside.files import list_folder, read, write
from ludus.sandbox.session.inside.job import ShellJob
from ludus.sandbox.session.inside.shell import Shell, find_shell
from ludus.sandbox.session.inside.supervisor import IGNORED, Supervisors
from ludus.sandbox.session.inside.tree import kill_tree, prepare
from ludus.sandbox.session.inside.wire import PIECE_BYTES, Decoder, encode, fields_of, to_bytes, to_text

__all__ = ["SessionAgent", "main"]

PULSE_S = 2.0
"""Seconds after which a session that waits is told that the agent lives."""
PLACES = ("HOME", "TMPDIR")
"""Variables that name a folder of this sandbox, which another one may have elsewhere."""
MAX_JOBS = 32
FORGOTTEN = 64
"""Ended jobs beyond this many are forgotten, the oldest first."""


class SessionAgent:
    """One call at a time; while a command or a wait is under way, only an interrupt comes in between."""

    def __init__(self, channel: int, shell: str) -> None:
        self.channel, self.shell = channel, find_shell(shell)
        self.decoder, self.poll = Decoder(), select.poll()
        self.jobs: dict[int, ShellJob] = {}
        self.supervisors = Supervisors()
        self.call = 0
        self.front: ShellJob | None = None
        self.awaited: tuple[ShellJob, float] | None = None
        self.pulse = 0.0

    def serve(self) -> None:
        """Until the session closes the channel."""
        places = {name: to_text(os.environb[name.encode()]) for name in PLACES if name in os.environ}
        self.send({"kind": "ready", "shell": self.shell[0], "folder": to_text(os.getcwdb()), "places": places})
        os.chdir("/")
        while self.step():
            pass

    def send(self, head: dict[str, object], data: bytes = b"") -> None:
        """One frame to the session."""
        view = memoryview(encode({**head, "call": self.call}, data))
        while view:
            view = view[os.write(self.channel, view) :]

    def step(self) -> bool:
        """Wait for whatever comes next, and deal with it; false at the end."""
        owners = self._watch()
        for descriptor, _ in self.poll.poll(self._patience()):
            if descriptor == self.channel:
                if not self._receive():
                    return False
            else:
                self._attend(owners[descriptor], descriptor)
        now = time.monotonic()
        for job in self.jobs.values():
            job.tend(now)
        self._answer(now)
        self._reap()
        return True

    def _watch(self) -> dict[int, ShellJob]:
        owners: dict[int, ShellJob] = {}
        self.poll = select.poll()
        self.poll.register(self.channel, select.POLLIN)
        for job in self.jobs.values():
            if not job.gone:
                owners[job.pipes.status] = job
            for descriptor in job.pipes.streams:
                owners[descriptor] = job
            if job.pipes.stdin is not None:
                owners[job.pipes.stdin] = job
                self.poll.register(job.pipes.stdin, select.POLLOUT)
        for descriptor, job in owners.items():
            if descriptor != job.pipes.stdin:
                self.poll.register(descriptor, select.POLLIN)
        return owners

    def _patience(self) -> float | None:
        """Milliseconds until something is due."""
        due = min((job.due() for job in self.jobs.values()), default=float("inf"))
        if self.front is not None or self.awaited is not None:
            due = min(due, self.pulse + PULSE_S)
        if self.awaited is not None:
            due = min(due, self.awaited[1])
        return None if due == float("inf") else max(0.0, due - time.monotonic()) * 1000 + 1

    def _attend(self, job: ShellJob, descriptor: int) -> None:
        if descriptor == job.pipes.stdin:
            job.feed_input()
        elif descriptor == job.pipes.status:
            job.read_status()
            if job.killed:
                self._kill_orphans()
        elif descriptor in job.pipes.streams:
            stream, begin = job.read_stream(descriptor)
            if begin and job is self.front:
                self.send({"kind": "output", "stream": stream, "end": False}, begin)

    def _kill_orphans(self) -> None:
        """Kill what came to us because the command killed its supervisor."""
        with suppress(OSError):
            kill_tree(os.getpid(), spare=self._watched())

    def _watched(self) -> set[int]:
        """The processes of all jobs, and the supervisors that are free."""
        idle = {one.pid for one in self.supervisors.idle}
        return idle.union(*(job.tree() for job in self.jobs.values()))

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def _receive(self) -> bool:
        data = os.read(self.channel, PIECE_BYTES)
        self.decoder.feed(data)
        while True:
            frame = self.decoder.frame()
            if frame is None:
                return bool(data)
            self._dispatch(fields_of(frame[0]), frame[1])

    def _dispatch(self, head: dict[str, object], data: bytes) -> None:
        if head["do"] == "interrupt":
            if self.front is not None:
                self.front.interrupted = True
                self.front.interrupt()
            return
        if self.front is not None or self.awaited is not None:
            raise ValueError("a call during a call")
        self.call = int(head["call"])  # pyright: ignore[reportArgumentType]
        try:
            getattr(self, "do_" + str(head["do"]))(
                data, **{key: head[key] for key in head if key not in ("do", "call")}
            )
        except OSError as error:
            self.send({"kind": "failed", "number": error.errno or 0, "reason": str(error.strerror or error)})

    def do_run(self, data: bytes, **options: object) -> None:
        """Run a command, and answer at its end."""
        self.front = self._begin(data, **options)  # pyright: ignore[reportArgumentType]
        self.pulse = time.monotonic()

    def do_start(self, data: bytes, **options: object) -> None:
        """Start a command, and answer at once."""
        job = self._begin(data, **options)  # pyright: ignore[reportArgumentType]
        job.shell.close()
        self.send({"kind": "jobs", "jobs": [job.row()]})

    def _begin(self, data: bytes, *, job: int, sizes: list[int], folder: str, code: int, **options: object) -> ShellJob:
        running = sum(not job.gone for job in self.jobs.values())
        if running >= MAX_JOBS:
            raise OSError(11, f"{running} jobs are running, which is the most; kill one of them")
        command, state, feed = _parts(data, sizes)
        shell = Shell(self.shell, command, state, code)
        try:
            begun = ShellJob(job, shell, _nearest(to_bytes(folder)), self.supervisors, feed=feed, **options)  # pyright: ignore[reportArgumentType]
        except OSError:
            shell.close()
            raise
        self.jobs[job] = begun
        for number in [number for number, job in self.jobs.items() if job.gone][:-FORGOTTEN]:
            for descriptor in self.jobs.pop(number).pipes.streams:
                os.close(descriptor)
        return begun

    def do_jobs(self, data: bytes, *, job: int | None) -> None:
        """The state of one job, or of all that are known."""
        found = self.jobs.values() if job is None else [self._job(job)]
        self.send({"kind": "jobs", "jobs": [one.row() for one in found]})

    def do_tail(self, data: bytes, *, job: int, stream: int, size: int) -> None:
        """The last bytes of a job's output."""
        recent = self._job(job).captures[stream].recent(size)
        for begin in range(0, len(recent), PIECE_BYTES):
            self.send({"kind": "output", "stream": stream, "end": True}, recent[begin : begin + PIECE_BYTES])
        self.send({"kind": "ok"})

    def do_kill(self, data: bytes, *, job: int) -> None:
        """Kill a job, and answer when it is gone."""
        self._job(job).kill()
        self.do_wait(data, job=job, timeout=None)

    def do_wait(self, data: bytes, *, job: int, timeout: float | None) -> None:
        """Answer when a job is gone, or after `timeout` seconds."""
        self.pulse = time.monotonic()
        self.awaited = self._job(job), float("inf") if timeout is None else self.pulse + timeout

    def _job(self, number: int) -> ShellJob:
        if number not in self.jobs:
            raise OSError(3, f"no job {number}")
        return self.jobs[number]

    def do_read(self, data: bytes, *, path: str, offset: int, limit: int) -> None:
        """A file, in pieces."""
        for piece in read(to_bytes(path), offset, limit):
            self.send({"kind": "output", "stream": 1, "end": True}, piece)
        self.send({"kind": "ok"})

    def do_write(self, data: bytes, *, path: str, append: bool, mode: int | None) -> None:
        """A file, or more of it."""
        write(to_bytes(path), data, append=append, mode=mode)
        self.send({"kind": "ok"})

    def do_list(self, data: bytes, *, path: str, limit: int) -> None:
        """A folder."""
        self.send({"kind": "entries", "entries": list(list_folder(to_bytes(path), limit))})

    def _answer(self, now: float) -> None:
        """Answer the call that waits, if its time has come."""
        if self.front is not None and self.front.is_complete(now):
            job, self.front = self.front, None
            self._finish(job)
        elif self.awaited is not None and (self.awaited[0].gone or now >= self.awaited[1]):
            job, self.awaited = self.awaited[0], None
            self.send({"kind": "jobs", "jobs": [job.row()]})
        elif (self.front is not None or self.awaited is not None) and now >= self.pulse + PULSE_S:
            self.pulse = now
            for job in self.jobs.values():
                if not job.gone:
                    job.pipes.supervisor.wake()
            self.send({"kind": "alive"})

    def _finish(self, job: ShellJob) -> None:
        if job.failure is not None:
            self.send({"kind": "failed", "number": job.failure, "reason": os.strerror(job.failure)})
            return
        for stream, capture in job.captures.items():
            end = capture.end()
            for begin in range(0, len(end), PIECE_BYTES):
                self.send({"kind": "output", "stream": stream, "end": True}, end[begin : begin + PIECE_BYTES])
        report = job.shell.report()
        job.shell.close()
        done = {
            **job.row(),
            "kind": "done",
            "interrupted": job.interrupted,
            "killed": job.killed,
            "dropped": [capture.dropped for capture in job.captures.values()],
            "begun_in": to_text(job.folder),
            "folder": None if report is None else to_text(report[0]),
        }
        self.send(done, b"" if report is None else report[1])


def _parts(data: bytes, sizes: list[int]) -> list[bytes]:
    found: list[bytes] = []
    for size in sizes:
        found.append(data[:size])
        data = data[size:]
    return found


def _nearest(folder: bytes) -> bytes:
    """The folder, or the nearest above it that can still be entered."""
    while folder != b"/" and not (os.path.isdir(folder) and os.access(folder, os.X_OK)):
        folder = os.path.dirname(folder)
    return folder


def main(shell: str) -> None:
    """Serve the session on descriptor 3."""
    os.set_inheritable(3, False)
    for name in IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    prepare(name=b"ludus-session", dumpable=False)
    try:
        agent = SessionAgent(3, shell)
    except OSError as error:
        sys.exit(str(error))
    null = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    try:
        agent.serve()
    except TimeoutError as error:
        agent.send({"kind": "lost", "reason": str(error)})
    finally:
        kill_tree(os.getpid())
