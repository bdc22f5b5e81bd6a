"""Runs of before: carried out again with a report of what differs, and forked at a step."""

import shutil
from pathlib import Path

import msgspec

from ludus.errors import InvalidArgument, shorten
from ludus.sandbox import Backend
from ludus.sandbox.removal import remove_tree
from ludus.tasks.agents.agent import ScriptedTaskAgent
from ludus.tasks.agents.events import AgentLog, step_events, task_metadata
from ludus.tasks.env import TaskEnv
from ludus.tasks.folder import Task
from ludus.tasks.journal import Journal, JournalEnv
from ludus.tasks.run_folder import check_run_folder
from ludus.tasks.sandboxes import keep_from_agent
from ludus.tasks.step_usage import unmeasured
from ludus.tasks.workspace import TaskWorkspace
from ludus.trajectory import Recorder

__all__ = ["Divergence", "export_run", "fork_run", "replay_agent", "replay_run"]


OF_THE_END = ("work", "run.ludus", "result.json", "artifacts")
"""What a fork does not take over."""


class Divergence(msgspec.Struct, frozen=True):
    """Where a run, carried out again, is not what it was.

    >>> Divergence(3, "observation", "1.52 s", "1.49 s").step
    3
    """

    step: int
    what: str
    """`observation`, `reward`, `workspace`, `end` or `data`."""
    before: str
    now: str


def replay_agent(folder: Path) -> ScriptedTaskAgent:
    """An agent that makes the calls of a run, on whatever task and seed: what was right once may be so again."""
    return ScriptedTaskAgent([one.call for one in Journal(folder).read() if one.call is not None], name="replay")


def replay_run(task: Task, folder: Path, *, backend: str | Backend | None = None) -> list[Divergence]:
    """Do the calls of a run again, in a new workspace; everything that differs, step by step. Empty: the same run.

    What a tool told of the clock is a measurement, and no difference.
    """
    first, *steps = Journal(folder).read()
    found: list[Divergence] = []

    def compare(step: int, what: str, before: object, now: object) -> None:
        if before != now:
            found.append(Divergence(step, what, str(before)[:500], str(now)[:500]))

    with TaskEnv(task, backend=backend) as env:
        _, info = env.reset(seed=first.seed)
        compare(0, "data", first.checksum, info["data"])
        compare(0, "workspace", first.snapshot, info.get("snapshot"))
        for entry in steps:
            if entry.call is None:
                continue
            step = env.step(entry.call)
            compare(entry.step, "observation", unmeasured(entry.observation), unmeasured(step.observation))
            compare(entry.step, "reward", entry.reward, step.reward)
            compare(entry.step, "workspace", entry.snapshot, step.info.get("snapshot"))
            compare(entry.step, "end", entry.ended, step.terminated or step.truncated)
            if step.terminated or step.truncated:
                break
    return found


def fork_run(folder: Path, step: int, target: Path) -> None:
    """A folder that holds a run up to a step; `TaskEnv(task, folder=target).resume()` goes on from there."""
    if target.exists():
        raise InvalidArgument(f"fork: expected a folder that is not there, got {target}")
    entries = Journal(folder).read()
    if not 0 <= step <= entries[-1].step:
        raise InvalidArgument(f"fork: expected a step from 0 to {entries[-1].step}, got {step}")
    size, room = check_run_folder(folder, "fork"), shutil.disk_usage(target.absolute().parent).free
    if size > room:
        raise InvalidArgument(f"fork: expected a run of less than the {room} bytes that are free, got {size}")
    try:
        _copy_up_to(folder, step, target)
    except (shutil.Error, OSError) as error:
        remove_tree(target)
        raise InvalidArgument(f"fork: expected files and folders in {folder}, got {shorten(str(error))}") from None
    except BaseException:
        remove_tree(target)
        raise


def _copy_up_to(folder: Path, step: int, target: Path) -> None:
    shutil.copytree(folder, target, symlinks=True, ignore=lambda place, _: OF_THE_END if Path(place) == folder else ())
    (target / "work").mkdir()
    shutil.copystat(folder / "work", target / "work")
    owner = (folder / "work").stat()
    shutil.chown(target / "work", owner.st_uid, owner.st_gid)
    (target / "work" / "data").mkdir(exist_ok=True)
    for name in ("hidden", "task"):
        if (target / name).is_dir():
            keep_from_agent(target / name)
    Journal(target).cut(step)
    AgentLog(target).cut(step)


def export_run(task: Task, folder: Path, path: Path, *, agent: str = "") -> None:
    """The run of a folder as a `.ludus` file, whether or not it was resumed on the way."""
    entries = Journal(folder).read()
    played = JournalEnv(entries, TaskEnv(task))
    said, place = AgentLog(folder).read(), TaskWorkspace(task.spec, task.folder, folder.resolve())
    metadata = task_metadata(task.spec, agent, entries[0].seed)
    before: str | None = None
    with Recorder(played, path, "full", metadata=metadata) as recorder:
        for entry in entries:
            if entry.call is None:
                recorder.reset(seed=entry.seed)
            else:
                recorder.step(entry.call)
            changes = place.changes(before, entry.snapshot)
            for event in (*said.get(entry.step, ()), *step_events(task.spec, entry, changes)):
                recorder.record(event)
            before = entry.snapshot or before
