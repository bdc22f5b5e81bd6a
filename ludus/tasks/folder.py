"""`Task`: a task file with its folder, and where tasks are found by name."""

import os
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import msgspec

from ludus.errors import InvalidArgument, did_you_mean, listing, shorten
from ludus.tasks.named_files import check_named_files
from ludus.tasks.spec import TaskSpec
from ludus.tasks.task_file import read_task
from ludus.tasks.variables import setting

__all__ = ["LIBRARY", "Task", "check_links", "find_task", "known_tasks"]

LIBRARY = Path(__file__).parent / "library"
FILE = "task.yaml"
MAX_LEVELS = 100
"""Folders one in the other: copying goes down by recursion."""
GROUP = "ludus.tasks"
"""Of entry points."""


class Task(msgspec.Struct, frozen=True):
    """A task and the folder with its generator, grader, starter files and solutions; None where it has none.

    >>> find_task("tabular_regression").spec.env_id
    'task/TabularRegression-v0'
    """

    spec: TaskSpec
    folder: Path | None = None

    def check(self, *, grader: bool = True) -> "Task":
        """Raise TaskFileError where its folder lacks what its file names; a task without a folder lacks nothing."""
        if self.folder is not None:
            check_named_files(self.spec, self.folder, grader=grader)
        return self


def find_task(task: object, *, check: bool = True) -> Task:
    """The task of a name, id, folder, file or spec; InvalidArgument names the nearest known one.

    With `check`, a folder that lacks what its task file names is a TaskFileError.
    """
    found = _found(task)
    return found.check() if check else found


def _found(task: object) -> Task:
    if isinstance(task, Task):
        return task
    if isinstance(task, TaskSpec):
        return Task(task)
    if not isinstance(task, str | Path):
        raise InvalidArgument(f"task: expected a name, a folder, a file or a TaskSpec, got {shorten(task)}")
    shipped = LIBRARY / str(task)
    place = shipped if "/" not in str(task) and (shipped / FILE).is_file() else Path(task)
    if (place / FILE).is_file() or place.suffix in (".yaml", ".yml"):
        folder = place if place.is_dir() else place.parent
        return Task(read_task(place), Path(folder).resolve())
    known = known_tasks()
    wanted = str(task).removeprefix("task/")
    for name, found in known.items():
        if wanted in (name, name.removeprefix("task/"), name.removeprefix("task/").rpartition("-v")[0]):
            return Task(read_task(found), found)
    plain = [name.removeprefix("task/").rpartition("-v")[0] for name in known]
    meant = did_you_mean(str(task), [*known, *plain, *(found.name for found in known.values())])
    raise InvalidArgument(
        f"task: expected the name of a task or a folder with a {FILE}, got {str(task)!r}{meant}; "
        f"the known ones are {listing(known)}"
    )


def check_links(folder: Path) -> None:
    """Refuse a task whose folder has links that lead out of it: what is copied would be whatever they point at.

    >>> check_links(LIBRARY / "sat_heuristic")
    """
    root = folder.resolve()
    for parent, folders, files in os.walk(root):
        if len(Path(parent).relative_to(root).parts) > MAX_LEVELS:
            raise InvalidArgument(f"{folder}: expected at most {MAX_LEVELS} folders one in the other, got more")
        for one in (Path(parent, name) for name in (*folders, *files)):
            if one.is_symlink() and not one.resolve().is_relative_to(root):
                raise InvalidArgument(
                    f"{folder}: expected links within the task's folder, got {one.relative_to(root)}, which leads out "
                    "of it; copy what it points at, if the task is to have it"
                )


def known_tasks() -> dict[str, Path]:
    """The folders of all tasks that are found, by id: the shipped, those of configured folders, those of packages.

    >>> "task/SatHeuristic-v0" in known_tasks()
    True
    """
    found: dict[str, Path] = {}
    for base in (LIBRARY, *configured_folders(), *installed_folders()):
        for file in sorted(base.glob(f"*/{FILE}")):
            found.setdefault(read_task(file).env_id, file.parent.resolve())
    return found


def configured_folders() -> list[Path]:
    """Folders of tasks that environment variables name."""
    root, tasks = setting("config_root").value, setting("task_config_dir").value
    folders = [Path(tasks)] if tasks else []
    folders += [Path(root) / "tasks"] if root else []
    return [one for one in folders if one.is_dir()]


def installed_folders() -> list[Path]:
    """Folders of tasks that installed packages offer: entry points `name = "package:folder"` of `ludus.tasks`.

    Only files are looked for: nothing of a package is imported.
    """
    found: list[Path] = []
    for one in entry_points(group=GROUP):
        package, *inner = one.module.split(".")
        spec = find_spec(package)  # of an outermost package, which is located and not executed
        for base in (spec.submodule_search_locations or ()) if spec is not None else ():
            folder = Path(base, *inner, *filter(None, one.attr.split(".")))
            if folder.is_dir() and folder.resolve().is_relative_to(Path(base).resolve()):
                found.append(folder)
    return found
