"""What a session answers: results of commands, states of jobs, entries of folders, and the state of its shell."""

from typing import Annotated

import msgspec

__all__ = ["CommandResult", "FileEntry", "JobStatus", "ShellState"]

MAX_NUMBER = 1 << 40
"""Of commands: a state may be a stranger's."""


class CommandResult(msgspec.Struct, frozen=True, kw_only=True):
    r"""How a command ended. A command that failed, ran out of time or killed its own session is a result, not an error.

    >>> result = CommandResult(code=1, stdout=b"one\n", stderr=b"no such file\n", seconds=0.1, cwd="/home/box")
    >>> result.ok, result.output
    (False, 'one\nno such file\n')
    """

    code: int | None
    """The exit code as a shell shows it: 128 and the number of the signal, for one. None: the session was lost."""
    signal: int | None = None
    """The signal that ended the shell of the command; a program inside it that was killed shows in `code` only."""
    stdout: bytes
    """Its beginning and its end; where bytes between were dropped, a line says how many."""
    stderr: bytes
    """As `stdout`; empty where both were merged there."""
    seconds: float
    timed_out: bool = False
    interrupted: bool = False
    dropped: int = 0
    """Bytes of output that were read and dropped."""
    cwd: str
    """The folder in which the next command begins."""
    remembered: bool = True
    """Whether the shell could leave its folder and variables; if not, those from before the command still hold."""
    job: int | None = None
    """What the command left running in the background, as a job."""
    lost: bool = False
    """Whether the session is gone: `restart` begins it anew, with the folder and variables it had."""
    limit: str | None = None
    """The limit (a field of `Limits`) for which the session was stopped."""
    note: str = ""
    """What else there is to know, in words."""

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.code == 0

    @property
    def output(self) -> str:
        """Both streams as text, stdout first; bytes that are no UTF-8 are replaced."""
        return (self.stdout + self.stderr).decode("utf8", "replace")


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it was seen last. The numbers come from inside the sandbox, and are as true as that is.

    >>> JobStatus(number=1, command="make", running=False, code=2).ok
    False
    """

    number: int
    command: str
    running: bool
    """Whether any process of it is left."""
    code: int | None = None
    """The exit code of its shell, as soon as that has ended."""
    signal: int | None = None
    timed_out: bool = False
    seconds: float = 0.0
    stdout: int = 0
    """Bytes written so far."""
    stderr: int = 0

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.code == 0


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A name in a folder of the sandbox.

    >>> FileEntry(name="train.py", kind="file", size=120, mode=0o644, time=0.0).kind
    'file'
    """

    name: str
    kind: str
    """`file`, `folder`, `link` or `other`."""
    size: int
    mode: int
    time: float
    """Of its last change, in seconds since 1970."""


class ShellState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a shell stands: the folder, the last exit code and all it remembers, as text that only a shell reads.

    Given to another session (`open_session(state=…)`) it goes on from there.

    >>> ShellState(cwd="/home/box").code
    0
    """

    cwd: str
    code: int = 0
    script: bytes = b""
    number: Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)] = 0
    """Of the last command: the next has the next number, and so no two jobs of a run have one."""
    places: dict[str, str] = {}
    """Where its sandbox had the folders that each has for itself, by variable: they may be elsewhere in another."""
