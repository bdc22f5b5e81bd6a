"""The supervisor of one command: it starts the shell, adopts and reaps what that leaves, and ends after all of it.

So the tree below a supervisor is the command's, daemons included. It speaks to the agent by lines in a pipe: `p` and
the process of the shell as soon as the command is to begin (see `shell`), `s` and its wait status, `l` instead where
nothing else is left of the command, `e` and an error number where the shell could not be started. The end of the pipe
is: nothing of the command is left.
"""

from __future__ import annotations

import fcntl
import os
import signal

from ludus.sandbox.session.inside.shell import Shell
from ludus.sandbox.session.inside.tree import prepare

__all__ = ["Pipes", "launch"]

IGNORED = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
"""What `pkill python` and the like send; a session is closed from outside."""
OUT_OF_THE_WAY = 10
"""Descriptors from here on are none of a shell's first."""


class Pipes:
    """The agent's ends of a command's pipes, and the process that supervises it."""

    def __init__(self, pid: int, status: int, streams: dict[int, int], stdin: int | None) -> None:
        self.pid, self.status, self.streams, self.stdin = pid, status, streams, stdin


def launch(shell: Shell, folder: bytes, *, merge: bool, feed: bool) -> Pipes:
    """Start a command in `folder`; with `merge` both streams are one, without `feed` its stdin is empty."""
    opened: list[int] = []
    try:
        status, stdout = _pipe(opened), _pipe(opened)
        stderr = stdout if merge else _pipe(opened)
        stdin = _pipe(opened) if feed else (_nothing(opened), None)
        pid = os.fork()
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    if pid == 0:
        _live((stdin[0], stdout[1], stderr[1]), status[1], shell, folder)
    for descriptor in {status[1], stdout[1], stderr[1], stdin[0]}:
        os.close(descriptor)
    streams = {stdout[0]: 1} if merge else {stdout[0]: 1, stderr[0]: 2}
    for descriptor in (status[0], *streams, stdin[1]):
        if descriptor is not None:
            os.set_blocking(descriptor, False)
    return Pipes(pid, status[0], streams, stdin[1])


def _pipe(opened: list[int]) -> tuple[int, int]:
    pair = os.pipe()
    opened.extend(pair)
    return pair


def _nothing(opened: list[int]) -> int:
    opened.append(os.open("/dev/null", os.O_RDONLY))
    return opened[-1]


def _live(streams: tuple[int, int, int], status: int, shell: Shell, folder: bytes) -> None:  # pragma: no cover (a fork)
    try:
        _supervise(shell, folder, streams, status)
    except OSError as error:
        os.write(status, b"e%d\n" % (error.errno or 0))
    finally:
        os._exit(0)


def _supervise(shell: Shell, folder: bytes, streams: tuple[int, int, int], status: int) -> None:  # pragma: no cover
    _keep_only({*streams, status, *shell.files})
    os.setsid()
    prepare(name=b"ludus-command", dumpable=True)
    begun, beginning = os.pipe()  # which the shell closes when the command begins
    beginning = fcntl.fcntl(beginning, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)
    child = os.fork()
    if child == 0:
        try:
            _become(shell, folder, streams, beginning)
        except OSError as error:
            os.write(status, b"e%d\n" % (error.errno or 0))
        finally:
            os._exit(127)
    _keep_only({status, begun})
    os.read(begun, 1)
    os.write(status, b"p%d\n" % child)
    while True:
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == child:
            os.write(status, (b"s%d\n" if _is_any_left() else b"l%d\n") % ended)


def _is_any_left() -> bool:  # pragma: no cover (a fork)
    """Whether anything of the command still runs; what has ended is buried."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _become(shell: Shell, folder: bytes, streams: tuple[int, int, int], beginning: int) -> None:  # pragma: no cover
    """Turn into the shell of the command."""
    os.setsid()
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP) and number not in range(32, signal.SIGRTMIN):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _prefer_to_the_agent()
    wanted = dict(zip((0, 1, 2, *shell.numbers), (*streams, *shell.files, beginning)))  # noqa: B905  (not before 3.10)
    # First out of the way: a source may have the number that another one is to get.
    moved = {number: fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY) for number, source in wanted.items()}
    for number, source in moved.items():
        os.dup2(source, number)
    os.chdir(folder)
    os.execve(shell.path, shell.arguments, {**shell.environment, b"PWD": folder})  # noqa: S606  (the shell itself)


def _prefer_to_the_agent() -> None:  # pragma: no cover
    """When memory runs out, the command is to be killed, not the session."""
    try:
        with open("/proc/self/oom_score_adj", "wb") as file:
            file.write(b"600")
    except OSError:
        pass


def _keep_only(wanted: set[int]) -> None:  # pragma: no cover
    """Close every descriptor from 3 on but these: a copy of somebody's pipe would keep it open."""
    begin = 3
    for descriptor in sorted(one for one in wanted if one >= 3):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, max(os.sysconf("SC_OPEN_MAX"), begin))
