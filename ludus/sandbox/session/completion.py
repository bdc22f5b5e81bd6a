"""How the end of a command becomes its result, and the state of the next one's shell."""

import os
import shlex

import msgspec

from ludus.errors import ChannelError
from ludus.sandbox.backend import Usage
from ludus.sandbox.session.inside.wire import to_bytes
from ludus.sandbox.session.link import Gathered
from ludus.sandbox.session.reply import Done, Failed, Ready
from ludus.sandbox.session.result import CommandResult, ShellState

__all__ = ["arrived", "ended", "folder_of", "left_by", "loss", "lost", "unstarted"]

CANNOT_START = 126
"""What shells say of a program that is there and cannot be executed."""


def folder_of(text: str) -> str:
    """A folder that came from inside, one character for each byte."""
    try:
        return os.fsdecode(to_bytes(text))
    except UnicodeEncodeError:
        raise ChannelError("session: expected a path from inside, got characters that are no bytes") from None


def left_by(done: Done, script: bytes, before: ShellState) -> ShellState:
    """What the shell of a command left to the next; what it could not tell stays as it was."""
    if done.folder is None:
        return msgspec.structs.replace(before, code=done.code)
    return msgspec.structs.replace(before, cwd=folder_of(done.folder), code=done.code, script=script)


def arrived(ready: Ready, before: ShellState | None) -> ShellState:
    """The state of the first command in a sandbox: a new one, or one that comes from another and moves house."""
    places = {name: folder_of(place) for name, place in ready.places.items()}
    if before is None:
        return ShellState(cwd=folder_of(ready.folder), places=places)
    cwd, lines = before.cwd, b""
    for name, new in places.items():
        old = before.places.get(name, new)
        if old != new:
            cwd = new + cwd[len(old) :] if cwd == old or cwd.startswith(old + "/") else cwd
            was, now = (os.fsencode(shlex.quote(place)) for place in (old, new))
            lines += b'\nif [ "$%b" = %b ]; then %b=%b; fi\n' % (name.encode(), was, name.encode(), now)
    script = before.script + lines if before.script else b""
    return msgspec.structs.replace(before, cwd=cwd, script=script, places=places)


def ended(done: Done, output: Gathered, seconds: float, *, before: ShellState, after: ShellState) -> CommandResult:
    """The result of a command that ended while the session lives."""
    return CommandResult(
        code=done.code,
        signal=done.signal,
        stdout=output.stream(1, done.dropped[0]),
        stderr=output.stream(2, done.dropped[1]),
        seconds=seconds,
        timed_out=done.timed_out,
        interrupted=done.interrupted,
        dropped=sum(done.dropped),
        cwd=after.cwd,
        remembered=done.folder is not None,
        job=done.job if done.running else None,
        note="; ".join(_notes(done, before)),
    )


def _notes(done: Done, before: ShellState) -> list[str]:
    found: list[str] = []
    begun = folder_of(done.begun_in)
    if begun != before.cwd:
        found.append(f"the folder {before.cwd} is gone: the command began in {begun}")
    if done.timed_out:
        found.append("the command ran out of time, and was killed with all that it had started")
    if done.killed:
        found.append("the command killed the process that watched it, so all that it had started was killed")
    if done.folder is None:
        found.append(
            "the shell could not tell its folder and variables (it was killed, replaced by exec, or trapped EXIT): "
            "those from before the command hold"
        )
    if done.running:
        found.append(f"processes are left in the background, as job {done.job}")
    return found


def lost(reason: str, output: Gathered, seconds: float, *, usage: Usage, state: ShellState) -> CommandResult:
    """The result of a command that took the session with it: what it had written is kept."""
    return CommandResult(
        code=None,
        stdout=output.stream(1),
        stderr=output.stream(2),
        seconds=seconds,
        cwd=state.cwd,
        remembered=False,
        lost=True,
        limit=usage.limit,
        note=reason,
    )


def unstarted(failed: Failed, seconds: float, state: ShellState) -> CommandResult:
    """The result of a command that the system would not start: too many processes, or no memory."""
    return CommandResult(
        code=CANNOT_START,
        stdout=b"",
        stderr=b"",
        seconds=seconds,
        cwd=state.cwd,
        remembered=False,
        note=f"the command could not be started: {failed.reason}",
    )


def loss(error: BaseException, usage: Usage) -> str:
    """Why a session is lost, in words."""
    stopped = f", stopped for its limit {usage.limit!r}" if usage.limit else ""
    if isinstance(error, ChannelError):
        return f"the session is lost{stopped}: {str(error).removeprefix('session: ')}"
    return f"the session is lost{stopped}: a call was given up ({type(error).__name__})"
