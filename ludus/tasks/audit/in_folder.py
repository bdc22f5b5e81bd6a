"""The cheats that a task brings along: whoever writes a task knows best what would be worth too much in it."""

from pathlib import Path

from ludus.tasks.agents.solution import folder_calls
from ludus.tasks.audit.cheat import Cheat
from ludus.tasks.folder import Task

__all__ = ["folder_cheats"]

FOLDER = "cheats"


def folder_cheats(task: Task) -> list[Cheat]:
    """A cheat for each folder of `cheats/`, whose files are handed in as those of a solution are.

    >>> from ludus.tasks import find_task
    >>> folder_cheats(find_task("prisoners_dilemma"))
    []
    """
    base = None if task.folder is None else task.folder / FOLDER
    folders = sorted(base.iterdir()) if base is not None and base.is_dir() else []
    return [_cheat(one) for one in folders if one.is_dir()]


def _cheat(folder: Path) -> Cheat:
    return Cheat(f"own_{folder.name}", f"The task's own cheat {folder.name}.", lambda _: folder_calls(folder))
