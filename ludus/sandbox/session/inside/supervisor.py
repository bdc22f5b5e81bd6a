"""Supervisors: each starts one command at a time, adopts and reaps what that leaves, and is free after all of it.

So the tree below a supervisor is its command's, daemons included. One that is free takes the next command: to fork
another, which is a whole interpreter, takes longer than a small command. It gets a command with its descriptors through
a socket, and tells the agent by lines in a pipe of that command: `p` and the process of the shell as soon as the
command is to begin (see `shell`), `s` and its wait status, `l` instead where nothing else is left of the command, `e`
and an error number where the shell could not be started, `r` when the supervisor is ready for another. The end of the
pipe is: nothing of the command is left.
"""

from __future__ import annotations

import array
import fcntl
import os
import signal
import socket
from contextlib import suppress
from functools import partial

from ludus.sandbox.session.inside.shell import Shell
from ludus.sandbox.session.inside.tree import prepare, send
from ludus.sandbox.session.inside.wire import PIECE_BYTES, Decoder, encode, fields_of, to_bytes, to_text

__all__ = ["Pipes", "Supervisors"]

IGNORED = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
"""What `pkill python` and the like send; a session is closed from outside."""
OUT_OF_THE_WAY = 10
"""Descriptors from here on are none of a shell's first."""
MAX_IDLE = 1
HAND_OVER_S = 5.0
"""Seconds in which a supervisor must take a command that fills its socket."""
MAX_DESCRIPTORS = 16
OOM_SCORE = b"600"
"""Of commands: when memory runs out, a command is to be killed, not the session."""


class Pipes:
    """The agent's ends of a command's pipes, and the process that supervises it."""

    def __init__(self, supervisor: Supervisor, status: int, streams: dict[int, int], stdin: int | None) -> None:
        self.supervisor, self.pid = supervisor, supervisor.pid
        self.status, self.streams, self.stdin = status, streams, stdin


class Supervisor:
    """A process of its own that waits for commands until its socket is closed."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        try:
            self.pid = os.fork()
        except OSError:
            self.socket.close()
            theirs.close()
            raise
        if self.pid == 0:
            _live(theirs)
        theirs.close()
        self.socket.settimeout(HAND_OVER_S)

    def ask(self, request: bytes, descriptors: list[int]) -> None:
        """Hand a command over; OSError where the process is gone or does not take it."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self.socket.sendall(request[self.socket.sendmsg([request], rights) :])

    def wake(self) -> None:
        """Have it go on, if something of the session has stopped it: it tells how commands end."""
        send(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """Let it end."""
        self.socket.close()


class Supervisors:
    """Those that are free; one whose command has ended comes back here."""

    def __init__(self) -> None:
        self.idle: list[Supervisor] = []

    def launch(self, shell: Shell, folder: bytes, *, merge: bool, feed: bool) -> Pipes:
        """Start a command in `folder`; with `merge` both streams are one, without `feed` its stdin is empty."""
        opened: list[int] = []
        try:
            status, stdout = _pipe(opened), _pipe(opened)
            stderr = stdout if merge else _pipe(opened)
            stdin = _pipe(opened) if feed else (_nothing(opened), None)
            theirs = [status[1], stdin[0], stdout[1], stderr[1]]
            supervisor = self._started(_request(shell, folder), [*theirs, *shell.files])
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise
        for descriptor in set(theirs):
            os.close(descriptor)
        streams = {stdout[0]: 1} if merge else {stdout[0]: 1, stderr[0]: 2}
        for descriptor in (status[0], *streams, stdin[1]):
            if descriptor is not None:
                os.set_blocking(descriptor, False)
        return Pipes(supervisor, status[0], streams, stdin[1])

    def _started(self, request: bytes, descriptors: list[int]) -> Supervisor:
        while self.idle:
            supervisor = self.idle.pop()
            supervisor.wake()
            try:
                supervisor.ask(request, descriptors)
            except OSError:  # somebody killed it
                supervisor.close()
            else:
                return supervisor
        supervisor = Supervisor()
        supervisor.ask(request, descriptors)
        return supervisor

    def free(self, supervisor: Supervisor, *, ready: bool) -> None:
        """Its command is over; `ready` is what it said itself."""
        if ready and len(self.idle) < MAX_IDLE:
            self.idle.append(supervisor)
        else:
            supervisor.close()

    def close(self) -> None:
        """Let all that are free end."""
        while self.idle:
            self.idle.pop().close()


def _request(shell: Shell, folder: bytes) -> bytes:
    return encode(
        {
            "path": shell.path,
            "arguments": [to_text(one) for one in shell.arguments],
            "environment": {to_text(name): to_text(value) for name, value in shell.environment.items()},
            "folder": to_text(folder),
            "numbers": shell.numbers,
        }
    )


def _pipe(opened: list[int]) -> tuple[int, int]:
    pair = os.pipe()
    opened.extend(pair)
    return pair


def _nothing(opened: list[int]) -> int:
    opened.append(os.open("/dev/null", os.O_RDONLY))
    return opened[-1]


def _live(channel: socket.socket) -> None:  # pragma: no cover (a fork)
    try:
        _keep_only({channel.fileno()})
        os.setsid()
        oom = _oom_file()  # before this process cannot be traced, nor its files in /proc be opened
        prepare(name=b"ludus-command", dumpable=False)
        os.chdir("/")
        while True:
            request, descriptors = _received(channel)
            if request is None:
                return
            _supervise(descriptors, oom, **request)  # pyright: ignore[reportArgumentType]
    finally:
        os._exit(0)


def _received(channel: socket.socket) -> tuple[dict[str, object] | None, list[int]]:  # pragma: no cover
    """The next command and its descriptors; None when the agent has no more."""
    decoder, descriptors, frame = Decoder(), array.array("i"), None
    space = socket.CMSG_SPACE(MAX_DESCRIPTORS * descriptors.itemsize)
    while frame is None:
        data, rights, _, _ = channel.recvmsg(PIECE_BYTES, space)
        if not data:
            return None, []
        for _, kind, content in rights:
            if kind == socket.SCM_RIGHTS:
                descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
        decoder.feed(data)
        frame = decoder.frame()
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return fields_of(frame[0]), list(descriptors)


def _supervise(descriptors: list[int], oom: tuple[int, bytes] | None, **request: object) -> None:  # pragma: no cover
    """Carry one command out, and tell of it in its pipe."""
    status, *others = descriptors
    begun, beginning = os.pipe()  # which the shell closes when the command begins
    child, failure = 0, b""
    try:
        child = _spawned([*others, beginning], oom, **request)  # pyright: ignore[reportArgumentType]
    except OSError as error:
        failure = b"e%d\n" % (error.errno or 0)
    for descriptor in {*others, beginning}:
        os.close(descriptor)
    if child:
        os.read(begun, 1)
    os.close(begun)
    _tell(status, b"p%d\n" % child if child else failure)
    if not _buried(child, status):
        _tell(status, b"r0\n")
    os.close(status)


def _tell(status: int, line: bytes) -> None:  # pragma: no cover
    with suppress(BrokenPipeError):  # the agent is gone, and with it the session
        os.write(status, line)


def _buried(child: int, status: int) -> bool:  # pragma: no cover
    """Wait until all of a command has ended; whether that was reported with the end of its shell."""
    reported = False
    while True:
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return reported
        if pid == child:
            reported = not _is_any_left()
            _tell(status, (b"l%d\nr0\n" if reported else b"s%d\n") % ended)


def _is_any_left() -> bool:  # pragma: no cover (a fork)
    """Whether anything of the command still runs; what has ended is buried."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _spawned(
    descriptors: list[int],
    oom: tuple[int, bytes] | None,
    *,
    path: str,
    arguments: list[str],
    environment: dict[str, str],
    folder: str,
    numbers: list[int],
) -> int:  # pragma: no cover
    """Start the shell of a command, without a copy of this process; its number."""
    place = to_bytes(folder)
    moved: list[int] = []
    variables = {to_bytes(name): to_bytes(value) for name, value in environment.items()}
    try:
        # Out of the way: one may have the number that another is to get.
        moved.extend(fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY) for source in descriptors)
        os.chdir(place)
        _prefer(oom, OOM_SCORE)
        return _in_a_session(
            path,
            [to_bytes(one) for one in arguments],
            {**variables, b"PWD": place},
            [(os.POSIX_SPAWN_DUP2, source, number) for source, number in zip(moved, (0, 1, 2, *numbers))],  # noqa: B905
        )
    finally:
        _prefer(oom, None)
        os.chdir("/")
        for source in moved:
            os.close(source)


def _in_a_session(
    path: str, arguments: list[bytes], environment: dict[bytes, bytes], actions: list[tuple[int, int, int]]
) -> int:  # pragma: no cover
    """A program with no signal ignored or blocked, in a session of its own, or a group where the system is old."""
    spawn = partial(os.posix_spawn, path, arguments, environment, file_actions=actions, setsigmask=())
    try:
        return spawn(setsid=True, setsigdef=_defaults())
    except NotImplementedError:
        return spawn(setpgroup=0, setsigdef=_defaults())


def _defaults() -> list[int]:
    """Every signal that can be handled; those between 32 and SIGRTMIN are the C library's."""
    own = (signal.SIGKILL, signal.SIGSTOP, *range(32, signal.SIGRTMIN))
    return [number for number in range(1, signal.NSIG) if number not in own]


def _oom_file() -> tuple[int, bytes] | None:  # pragma: no cover
    """The file that says how soon this process is killed when memory runs out, open, and what it says."""
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
        return file, os.pread(file, 16, 0)
    except OSError:
        return None


def _prefer(oom: tuple[int, bytes] | None, score: bytes | None) -> None:  # pragma: no cover
    """Whatever is started now is killed that soon; None: as soon as this process was."""
    if oom is not None:
        with suppress(OSError):
            os.pwrite(oom[0], oom[1] if score is None else score, 0)


def _keep_only(kept: set[int]) -> None:  # pragma: no cover
    """Close every descriptor from 3 on but these: a copy of somebody's pipe would keep it open."""
    begin = 3
    for descriptor in sorted(one for one in kept if one >= 3):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, max(os.sysconf("SC_OPEN_MAX"), begin))
