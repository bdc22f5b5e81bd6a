"""What a step of a task is in a trajectory: the call and its output, file diffs, scores, limits and what it took.

All of it is made from the journal's entry, so that a run that was resumed, or is exported later, has the same events as
one that was recorded while it went on. What the agent itself said is in a file beside the journal.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ludus.core import Info
from ludus.errors import LudusError, TrajectoryError, shorten
from ludus.sandbox import Change
from ludus.tasks.journal import JournalEntry, append_lines, read_lines
from ludus.tasks.spec import TaskSpec
from ludus.trajectory.event import (
    EventValue,
    FileDiff,
    LimitReached,
    Message,
    Note,
    ResourceUse,
    Score,
    ToolCall,
    ToolResult,
    value_of,
)

__all__ = ["AgentLog", "step_events", "task_metadata"]

NAME = "agent.jsonl"
MAX_DIFFS = 50
"""Files of one step whose changes are recorded."""


def step_events(spec: TaskSpec, entry: JournalEntry, changes: Sequence[Change] = ()) -> list[EventValue]:
    """The events of a step, without what the agent said; `changes` are those of the workspace.

    >>> from ludus.tasks import find_task
    >>> from ludus.tools import Call
    >>> entry = JournalEntry(step=1, call=Call("shell", {"command": "ls"}))
    >>> [one.kind for one in step_events(find_task("sat_heuristic").spec, entry)]
    ['tool_call', 'tool_result']
    """
    if entry.call is None:
        return [Message("user", entry.observation.result)]
    number = f"step {entry.step}"
    found: list[EventValue] = [
        ToolCall(number, entry.call.tool, entry.call.arguments),
        ToolResult(number, entry.observation.result, entry.observation.error),
    ]
    found += [FileDiff(one.path, _diff(one)) for one in changes[:MAX_DIFFS]]
    if len(changes) > MAX_DIFFS:
        found.append(Note(f"{len(changes) - MAX_DIFFS} more files changed"))
    found += [one for score in entry.scores if score.get("step") == entry.step for one in _score(spec, score)]
    return [*found, *_limits(spec, entry), *_resources(entry)]


def _diff(change: Change) -> str:
    if change.text is not None:
        return change.text
    sizes = ["nothing" if size is None else f"{size} bytes" for size in change.size]
    return f"{sizes[0]} → {sizes[1]}"


def _score(spec: TaskSpec, score: Info) -> list[EventValue]:
    """A grading: the metric, and what it is worth; where there is none, why."""
    split, value, worth = score.get("split", ""), score.get("value"), float(score.get("normalised", 0.0))
    if value is None:
        return [Score(f"normalised ({split})", worth, str(score.get("reason", "")))]
    metrics: dict[str, float] = score.get("metrics") or {}
    measured = [f", {name} {metrics[name]:.4g} measured" for name in spec.evaluation.measured if name in metrics]
    return [Score(f"{spec.evaluation.metric} ({split})", float(value), f"normalised {worth:.4f}{''.join(measured)}")]


def _limits(spec: TaskSpec, entry: JournalEntry) -> list[EventValue]:
    command: Info = entry.info.get("command") or {}
    found: list[EventValue] = []
    if command.get("timed_out") and entry.measured is not None:
        found.append(LimitReached("command seconds", round(entry.measured.command_seconds or 0.0, 3)))
    if command.get("limit"):
        known = {"memory": spec.resources.bytes_of("memory"), "processes": spec.resources.processes}
        found.append(LimitReached(str(command["limit"]), known.get(str(command["limit"]), 0)))
    return found


def _resources(entry: JournalEntry) -> list[EventValue]:
    took = entry.measured
    if took is None or took.cpu_seconds is None:
        return []
    written = None if took.written_bytes is None else int(took.written_bytes)
    return [ResourceUse(cpu_seconds=took.cpu_seconds, memory_bytes=took.peak_memory, disk_bytes=written)]


def task_metadata(spec: TaskSpec, agent: str, seed: int) -> Info:
    """What a recorded run says about itself; a viewer draws the marks beside the scores."""
    evaluation = spec.evaluation
    marks = {name: getattr(evaluation, name) for name in ("floor", "baseline", "threshold", "reference")}
    known = {name: value for name, value in marks.items() if value is not None}
    normalised = {name: _scaled(spec, value) for name, value in known.items()}
    scored = {f"{evaluation.metric} ({split})": known for split in (evaluation.public_split, evaluation.hidden_split)}
    scaled = {f"normalised ({split})": normalised for split in (evaluation.public_split, evaluation.hidden_split)}
    return {"task": spec.id, "agent": agent, "seed": seed, "marks": scored | scaled}


def _scaled(spec: TaskSpec, value: float) -> float:
    return round(spec.evaluation.normalised(value), 6)


class AgentLog:
    """What an agent said, step by step, in a file of the run's folder.

    >>> import tempfile
    >>> log = AgentLog(Path(tempfile.mkdtemp()))
    >>> log.add(1, [Message("assistant", "I look around.")])
    >>> log.read()[1][0].content
    'I look around.'
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def add(self, step: int, events: Iterable[EventValue]) -> None:
        """Append the events of a step."""
        lines = b"".join(
            msgspec.json.encode({"step": step, "kind": one.kind, "data": one.data()}) + b"\n" for one in events
        )
        if lines:
            append_lines(self.path, lines)

    def cut(self, step: int) -> None:
        """Forget what was said after a step."""
        kept = {number: events for number, events in self.read().items() if number <= step}
        self.path.unlink(missing_ok=True)
        for number, events in sorted(kept.items()):
            self.add(number, events)

    def read(self) -> dict[int, list[EventValue]]:
        """The events by step; a last line that was cut off is left out."""
        found: dict[int, list[EventValue]] = {}
        if not self.path.is_file():
            return found
        for number, line in enumerate(read_lines(self.path, "what an agent said")[:-1], start=1):
            try:
                one = msgspec.json.decode(line)
                found.setdefault(int(one["step"]), []).append(value_of(one["kind"], one["data"]))
            except (msgspec.MsgspecError, LudusError, KeyError, TypeError, ValueError, RecursionError) as error:
                raise TrajectoryError(f"{self.path}, line {number}: expected an event, got {shorten(error)}") from None
        return found
