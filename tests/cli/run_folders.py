"""Folders of runs as a stranger might hand them over: one step taken, made without starting anything."""

import os
import shutil
from pathlib import Path

from ludus.sandbox import Workspace, give
from ludus.tasks.budget import Budget
from ludus.tasks.folder import find_task
from ludus.tasks.journal import Journal, JournalEntry
from ludus.tasks.sandboxes import keep_from_agent, link_interpreter
from ludus.tools import Call, ToolOutcome


def write_run(folder: Path, task: Path, **files: str) -> Path:
    """The run of a task after one step that left these files in its workspace."""
    for name in ("work/data", "public", "hidden", "fixed", "empty"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(task, folder / "task")
    link_interpreter(folder / "bin")
    for name, text in files.items():
        (folder / "work" / name.replace("__", ".")).write_text(text)
    for name in ("hidden", "task"):
        keep_from_agent(folder / name)
    give(folder / "work")
    taken = Workspace(folder / "work", store=folder / "store", name="work").snapshot("step 1")
    budget = Budget.of(find_task(task, check=False).spec)
    Journal(folder).add(
        JournalEntry(step=0, observation=ToolOutcome("", "What is asked."), budget=budget, snapshot=taken.id)
    )
    call = Call("shell", {"command": "ls"})
    Journal(folder).add(
        JournalEntry(step=1, call=call, observation=ToolOutcome("shell", ""), budget=budget, snapshot=taken.id)
    )
    return folder


def put_link(path: Path, target: Path) -> None:
    """A link in the place of whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(target, path)
