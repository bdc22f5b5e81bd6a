"""`ShellSession`: a shell that lives as long as its sandbox.

Two designs were weighed. A real shell kept alive and driven through descriptors is what a terminal does, but whatever
harms it (a loop of builtins that must be stopped, `exit`, `exec`, `set -e`, a closed descriptor) ends the session, and
where one command's output ends can only be seen by something that is written into it. Here an agent of ours lives
inside, and each command gets a shell of its own, which begins with what the one before left: folder, variables,
functions, aliases, options, the last exit code. The kernel reports its end, its state through a descriptor of its
own, its output through pipes that carry nothing else; to stop it is to kill a tree of processes, and the state is data
that this side keeps, so it outlives even the agent. What that costs: traps, open descriptors and `wait` for processes
of earlier commands do not cross from one command to the next.
"""

import math
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Self, TypedDict, TypeVar

import msgspec

from ludus.errors import ChannelError, InvalidArgument, LimitExceeded, SandboxError, shorten
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.session.arguments import (
    MAX_OUTPUT_BYTES,
    checked_command,
    checked_grace,
    checked_input,
    checked_limit,
    checked_path,
    checked_timeout,
)
from ludus.sandbox.session.completion import arrived, ended, folder_of, left_by, loss, lost, unstarted
from ludus.sandbox.session.inside.wire import to_text
from ludus.sandbox.session.job import Job
from ludus.sandbox.session.launch import Launcher
from ludus.sandbox.session.link import SILENCE_TIMEOUT_S, AgentLink, Gathered
from ludus.sandbox.session.reply import AgentReply, Done, Entries, Failed, Jobs, Ok, Reply, Row
from ludus.sandbox.session.result import CommandResult, FileEntry, JobStatus, ShellState
from ludus.sandbox.tree import go_on, stop_all

__all__ = ["ShellSession", "ShellSessionOptions"]

A = TypeVar("A", bound=AgentReply)
GRACE_S = 1.0
"""Seconds between the interrupt at a timeout and the kill: programs flush what they have buffered."""
TIMEOUT_MARGIN_S = 14.0
"""Seconds beyond its timeout and its grace in which the end of a command must be reported."""
MAX_NAMES = 2000
MAX_FILE_BYTES = 1 << 30
MAX_WRITE_BYTES = 1 << 20
"""Bytes of a file that one call writes."""
DEFAULT_LIMIT = 1 << 20
KNOWN = 1000
"""Jobs whose command is remembered."""


class ShellSessionOptions(TypedDict, total=False):
    """What `Sandbox.open_session` takes; see `ShellSession`."""

    shell: str | None
    timeout: float
    limit: int | None
    merge: bool
    restart: bool
    state: ShellState | None
    grace: float


class ShellSession:
    r"""A shell inside a sandbox: folder, variables and functions last from one command to the next.

    `timeout` is the seconds, and `limit` the bytes of each stream, that a command has where it does not say otherwise.
    With `merge` both streams are one. `grace` is the seconds between the interrupt at a timeout and the kill, in which
    programs write what they hold and the shell leaves its state: more for a machine that is slow. A session that is
    lost (a command killed all processes, or a limit of the sandbox was hit) says so in the result of that command; with
    `restart` the next command begins it anew. It is used by one thread at a time, except for `interrupt` and `close`.

    >>> from ludus.sandbox import Sandbox
    >>> with Sandbox().open_session() as session:
    ...     first = session.run("cd /usr; export GREETING=hello")
    ...     second = session.run("echo $GREETING from $PWD; exit 3")
    >>> second.code, second.stdout
    (3, b'hello from /usr\n')
    """

    def __init__(
        self,
        sandbox: Launcher,
        *,
        shell: str | None = None,
        timeout: float = 60.0,
        limit: int | None = None,
        merge: bool = False,
        restart: bool = False,
        state: ShellState | None = None,
        grace: float = GRACE_S,
    ) -> None:
        if shell not in (None, "bash", "sh"):
            raise InvalidArgument(f"shell: expected 'bash', 'sh' or None, got {shorten(shell)}")
        self._sandbox, self._shell = sandbox, shell or ""
        self._timeout, self._grace = checked_timeout(timeout), checked_grace(grace)
        kept = sandbox.policy.limits.output or DEFAULT_LIMIT
        self._limit = min(kept, MAX_OUTPUT_BYTES) if limit is None else checked_limit(limit)
        self._merge, self._restarts = merge, restart
        self._busy = threading.Lock()
        self._commands: dict[int, str] = {}
        self._lost: str | None = None
        self._closed = False
        self._note = ""
        self._link = AgentLink(sandbox, self._shell)
        self.shell = self._link.ready.shell
        with self._losing():
            self.state = arrived(self._link.ready, state)

    @property
    def cwd(self) -> str:
        """The folder in which the next command begins."""
        return self.state.cwd

    @property
    def lost(self) -> str | None:
        """Why the session is gone; None while it is there."""
        return self._lost

    @property
    def guarantees(self) -> Guarantees:
        """What is in force around it."""
        return self._link.process.guarantees

    def usage(self) -> Usage:
        """What all its commands have used so far."""
        return self._link.process.usage()

    def run(
        self,
        command: str,
        *,
        timeout: float | None = None,
        limit: int | None = None,
        merge: bool | None = None,
        input: bytes = b"",
        silence: float | None = None,
    ) -> CommandResult:
        """Run a command to its end, or for `timeout` seconds (infinity is for ever); `input` is its stdin.

        `silence` is for how many seconds it may print nothing; None: as long as it likes. At either timeout it is
        interrupted as by Ctrl-C, and after the session's `grace` killed with all that it started.
        """
        seconds = self._timeout if timeout is None else checked_timeout(timeout)
        output = Gathered(self._limit if limit is None else checked_limit(limit))
        parts = checked_command(command), checked_input(input)
        with self._alone():
            begun = time.monotonic()
            note, self._note = self._note, ""
            try:
                self._count_in(command)
                wait = math.inf if seconds is None else seconds + self._grace + TIMEOUT_MARGIN_S
                quiet = None if silence is None else checked_timeout(silence)
                timing = {"timeout": seconds, "silence": quiet}
                reply, script = self._begin("run", *parts, output=output, merge=merge, wait=wait, **timing)
                result = self._completed(reply, script, output, time.monotonic() - begun)
            except ChannelError as error:
                spent = time.monotonic() - begun
                result = lost(str(error), output, spent, usage=self.usage(), state=self.state)
            return msgspec.structs.replace(result, note="; ".join(filter(None, (note, result.note))))

    def _completed(self, reply: Reply, script: bytes, output: Gathered, seconds: float) -> CommandResult:
        if isinstance(reply, Failed):
            return unstarted(reply, seconds, self.state)
        before, done = self.state, self._expected(reply, Done)
        with self._losing():
            self.state = left_by(done, script, before)
            return ended(done, output, seconds, before=before, after=self.state)

    def start(
        self, command: str, *, timeout: float = math.inf, limit: int | None = None, merge: bool | None = None
    ) -> Job:
        """Start a command in the background, where the session stands; it leaves nothing to the next one."""
        output = Gathered(self._limit if limit is None else checked_limit(limit))
        parts, seconds = (checked_command(command), b""), checked_timeout(timeout)
        with self._alone():
            self._count_in(command)
            reply, _ = self._begin("start", *parts, output=output, merge=merge, timeout=seconds, wait=SILENCE_TIMEOUT_S)
            self._expected(reply, Jobs)
            return Job(self.state.number, command, self._ask)

    def _count_in(self, command: str) -> None:
        number = self.state.number + 1
        self.state = msgspec.structs.replace(self.state, number=number)
        self._commands[number] = command
        self._commands.pop(number - KNOWN, None)

    def _begin(
        self,
        do: str,
        command: bytes,
        feed: bytes,
        *,
        output: Gathered,
        merge: bool | None,
        wait: float,
        **timing: float | None,
    ) -> tuple[Reply, bytes]:
        parts = command, self.state.script, feed
        return self._call(
            do,
            b"".join(parts),
            output=output,
            sizes=[len(part) for part in parts],
            folder=to_text(os.fsencode(self.cwd)),
            code=self.state.code,
            job=self.state.number,
            merge=self._merge if merge is None else merge,
            limit=output.limit,
            grace=self._grace,
            wait=wait,
            **timing,
        )

    def jobs(self) -> tuple[JobStatus, ...]:
        """Every job that is running, and the last that have ended."""
        return self._ask("jobs", job=None)

    def job(self, number: int) -> Job:
        """The job of that number."""
        if number not in self._commands:
            raise InvalidArgument(f"job: expected the number of a job of this session, got {shorten(number)}")
        return Job(number, self._commands[number], self._ask)

    def _ask(self, do: str, *, output: Gathered | None = None, **fields: float | None) -> tuple[JobStatus, ...]:
        """Ask about jobs; with `output`, for what one of them wrote."""
        seconds = fields.get("timeout", 0.0)
        wait = math.inf if seconds is None else seconds + SILENCE_TIMEOUT_S
        with self._alone():
            reply, _ = self._call(do, wait=wait, output=output, **fields)
            if output is not None:
                self._expected(reply, Ok)
                return ()
            return tuple(self._status(row) for row in self._expected(reply, Jobs).jobs)

    def _status(self, row: Row) -> JobStatus:
        fields = msgspec.structs.asdict(row)
        number = fields.pop("job")
        return JobStatus(number=number, command=self._commands.get(number, ""), **fields)

    def interrupt(self) -> None:
        """Interrupt the command that runs, as Ctrl-C would; nothing where none does. May be called in any thread."""
        with suppress(ChannelError):  # it is gone, and so is the command
            self._link.interrupt()

    def read_file(self, path: str, limit: int = DEFAULT_LIMIT, *, offset: int = 0) -> bytes:
        """A file of the sandbox, read there as the sandboxed user; LimitExceeded where it has more than `limit` bytes.

        A relative path is one from `cwd`. OSError as from `open`.
        """
        output = Gathered(checked_limit(limit, MAX_FILE_BYTES) + 1)
        with self._alone():
            where = checked_path(path, self.cwd)
            reply, _ = self._call("read", output=output, path=where, offset=max(0, offset), limit=output.limit)
            self._expected(reply, Ok, path)
        data = output.stream(1)
        if len(data) > limit:
            raise LimitExceeded(f"file {path}: expected at most {limit} bytes, got more; pass limit= or offset=")
        return data

    def write_file(self, path: str, data: bytes | str, *, mode: int | None = None) -> None:
        """Write a file of the sandbox, as the sandboxed user, with the folders above it; what was there is replaced."""
        content = data.encode() if isinstance(data, str) else bytes(data)
        with self._alone():
            where = checked_path(path, self.cwd)
            for begin in range(0, max(1, len(content)), MAX_WRITE_BYTES):
                piece = content[begin : begin + MAX_WRITE_BYTES]
                reply, _ = self._call("write", piece, path=where, append=begin > 0, mode=mode)
                self._expected(reply, Ok, path)

    def list_files(self, path: str = ".", limit: int = 1000) -> tuple[FileEntry, ...]:
        """What is in a folder of the sandbox, by name; LimitExceeded where that is more than `limit`."""
        with self._alone():
            where = checked_path(path, self.cwd)
            reply, _ = self._call("list", path=where, limit=checked_limit(limit, MAX_NAMES))
            entries = self._expected(reply, Entries, path).entries
            with self._losing():
                names = [folder_of(one.name) for one in entries]
        if len(entries) > limit:
            raise LimitExceeded(f"folder {path}: expected at most {limit} names, got more; pass limit=")
        found = [
            FileEntry(name=name, kind=one.kind, size=one.size, mode=one.mode, time=one.time)
            for name, one in zip(names, entries, strict=True)
        ]
        return tuple(sorted(found, key=lambda one: one.name))

    @contextmanager
    def paused(self) -> Generator[bool, None, None]:
        """While everything in it stands still, jobs included; False where it does not.

        A container's processes are its daemon's to stop, and are not stopped.
        """
        with self._held():
            stopped = stop_all(self._link.process.pid)
            try:
                yield bool(stopped)
            finally:
                go_on(stopped)

    def restart(self) -> None:
        """Begin anew, with the folder and variables as they were; files outside mounts, and all jobs, are gone."""
        with self._held():
            self._renew()

    def close(self) -> None:
        """Kill everything that is left; harmless twice. May be called in any thread."""
        self._closed = True
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _renew(self) -> None:
        reason = self._lost or "it was asked to be"
        self._link.close()
        self._link = AgentLink(self._sandbox, self._shell)
        with self._losing():
            self.state = arrived(self._link.ready, self.state)
        self._lost = None
        self._note = f"the session was restarted ({reason}); its jobs, and its files outside mounts, are gone"

    @contextmanager
    def _held(self) -> Generator[None, None, None]:
        """Alone with the session."""
        if not self._busy.acquire(blocking=False):
            raise SandboxError("session: expected one call at a time, got a call during a call; open another session")
        try:
            if self._closed:
                raise SandboxError("session: expected one that is open, got a call after close")
            yield
        finally:
            self._busy.release()

    @contextmanager
    def _alone(self) -> Generator[None, None, None]:
        """Alone with a session that lives."""
        with self._held():
            if self._lost is not None:
                if not self._restarts:
                    raise SandboxError(f"session: expected one that lives, got: {self._lost}; call restart()")
                self._renew()
            yield

    def _call(
        self,
        do: str,
        data: bytes = b"",
        /,
        *,
        wait: float = SILENCE_TIMEOUT_S,
        output: Gathered | None = None,
        **fields: object,
    ) -> tuple[Reply, bytes]:
        with self._losing():
            return self._link.call(do, data, seconds=wait, output=output, **fields)

    def _expected(self, reply: Reply, kind: type[A], path: str | None = None) -> A:
        if isinstance(reply, Failed):
            raise OSError(reply.number, reply.reason, path) if path else SandboxError(f"session: {reply.reason}")
        with self._losing():
            if not isinstance(reply, kind):
                raise ChannelError(f"session: expected {kind.__name__} from inside, got {shorten(reply)}")
            return reply

    @contextmanager
    def _losing(self) -> Generator[None, None, None]:
        """A message that fails in here was half said: nothing after it could be understood, so the session ends."""
        try:
            yield
        except BaseException as error:
            self._link.close()
            self._lost = loss(error, self.usage())
            if isinstance(error, ChannelError):
                raise ChannelError(self._lost) from error
            raise
