"""`Journal`: every step of an episode in a file of its folder, written before the agent sees it.

A process that is killed loses at most the step under way: `TaskEnv.resume` goes on from the last line. The journal is
also what a run is replayed, forked and exported from.
"""

import os
from pathlib import Path

import msgspec

from ludus.core import Env, Info, Step
from ludus.core.foreign_file import read_foreign_file
from ludus.errors import TrajectoryError, shorten
from ludus.sandbox import ShellState
from ludus.seeding import Seed
from ludus.tasks.budget import Budget
from ludus.tasks.step_usage import StepUsage
from ludus.tools import Call, ToolOutcome

__all__ = ["JournalEntry", "Journal", "JournalEnv", "append_lines", "read_lines"]

NAME = "journal.jsonl"
MAX_JOURNAL_BYTES = 64 << 20


class JournalEntry(msgspec.Struct, kw_only=True):
    """A step, or with step 0 the reset.

    >>> JournalEntry(step=0, seed=7).call is None
    True
    """

    step: int
    seed: int = 0
    """Of the reset."""
    data_seed: int = 0
    checksum: str = ""
    call: Call | None = None
    observation: ToolOutcome = msgspec.field(default_factory=ToolOutcome)
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Info = {}
    snapshot: str | None = None
    shell: ShellState | None = None
    budget: Budget | None = None
    best: float = 0.0
    scores: list[Info] = []
    measured: StepUsage | None = None
    """What the step took by the clock."""

    @property
    def ended(self) -> bool:
        """Whether the episode ended with it."""
        return self.terminated or self.truncated


class _Graded(msgspec.Struct):
    """What readers take out of a grading."""

    normalised: float
    value: float | None = None
    step: int = 0
    metrics: dict[str, float] = {}


class _Command(msgspec.Struct):
    limit: str | None = None


class _Info(msgspec.Struct):
    score: _Graded | None = None
    command: _Command | None = None


class _Told(msgspec.Struct):
    """What readers of an entry take out of its plain data: a run may be a stranger's."""

    info: _Info
    scores: list[_Graded]


_DECODER = msgspec.json.Decoder(JournalEntry)


class Journal:
    """The journal of a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def add(self, entry: JournalEntry) -> None:
        """Append an entry."""
        append_lines(self.path, msgspec.json.encode(entry) + b"\n")

    def read(self) -> list[JournalEntry]:
        """All entries; a last line that was cut off is left out."""
        lines = read_lines(self.path, "the journal of a run")
        entries: list[JournalEntry] = []
        for number, line in enumerate(lines[:-1]):
            try:
                entry = _DECODER.decode(line)
                msgspec.convert({"info": entry.info, "scores": entry.scores}, _Told)
                entries.append(entry)
            except (msgspec.MsgspecError, RecursionError) as error:
                raise TrajectoryError(
                    f"{self.path}, line {number + 1}: expected a step, got {shorten(str(error))}"
                ) from None
        if not entries:
            raise TrajectoryError(f"{self.path}: expected at least a reset, got nothing")
        return entries

    def cut(self, step: int) -> None:
        """Forget what came after a step."""
        kept = [one for one in self.read() if one.step <= step]
        if kept[-1].step != step:
            raise TrajectoryError(f"{self.path}: expected a step up to {kept[-1].step}, got {step}")
        self.path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in kept))


def read_lines(path: Path, what: str) -> list[bytes]:
    """The lines of a file of a run; the last is what a killed writer left unfinished, or empty."""
    try:
        return read_foreign_file(path, MAX_JOURNAL_BYTES).split(b"\n")
    except OSError as error:
        raise TrajectoryError(f"{path}: expected {what}, got {error.strerror}") from error


def append_lines(path: Path, lines: bytes) -> None:
    """Append whole lines to a file; a line that a killed writer left unfinished is cut off before them."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            os.ftruncate(descriptor, path.read_bytes().rfind(b"\n") + 1)
        view = memoryview(lines)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


class JournalEnv(Env[ToolOutcome, Call]):
    """An episode as its journal has it: the same steps, nothing carried out. For recorders and readers."""

    def __init__(self, entries: list[JournalEntry], like: Env[ToolOutcome, Call]) -> None:
        self.action_space, self.observation_space = like.action_space, like.observation_space
        self.spec = like.spec
        self._entries, self._next = entries, 1

    @property
    def calls(self) -> list[Call]:
        """The actions."""
        return [one.call for one in self._entries if one.call is not None]

    def reset(self, *, seed: Seed | None = None, options: Info | None = None) -> tuple[ToolOutcome, Info]:
        """As it was."""
        super().reset(seed=seed, options=options)
        self._next = 1
        return self._entries[0].observation, self._entries[0].info

    def step(self, action: Call) -> Step[ToolOutcome]:
        """The next step, whatever the action is."""
        del action
        entry = self._entries[self._next]
        self._next += 1
        return Step(entry.observation, entry.reward, entry.terminated, entry.truncated, entry.info)
