"""`Task`: a task file with its folder, and where tasks are found by name."""

from pathlib import Path

import msgspec

from ludus.errors import InvalidArgument, did_you_mean, listing, shorten
from ludus.tasks.settings import setting
from ludus.tasks.spec import TaskSpec
from ludus.tasks.task_file import read_task

__all__ = ["LIBRARY", "Task", "find_task", "known_tasks"]

LIBRARY = Path(__file__).parent / "library"
FILE = "task.yaml"


class Task(msgspec.Struct, frozen=True):
    """A task and the folder with its generator, grader, starter files and solutions; None where it has none.

    >>> find_task("tabular_regression").spec.env_id
    'task/TabularRegression-v0'
    """

    spec: TaskSpec
    folder: Path | None = None


def find_task(task: object) -> Task:
    """The task of a name, id, folder, file or spec; InvalidArgument names the nearest known one."""
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
    meant = did_you_mean(str(task), list(known))
    raise InvalidArgument(
        f"task: expected the name of a task or a folder with a {FILE}, got {str(task)!r}{meant}; "
        f"the known ones are {listing(known)}"
    )


def known_tasks() -> dict[str, Path]:
    """The folders of all tasks that are found, by id: the shipped ones, then those of the configured folders.

    >>> "task/SatHeuristic-v0" in known_tasks()
    True
    """
    found: dict[str, Path] = {}
    for base in (LIBRARY, *configured_folders()):
        for file in sorted(base.glob(f"*/{FILE}")):
            found.setdefault(read_task(file).env_id, file.parent.resolve())
    return found


def configured_folders() -> list[Path]:
    """Folders of tasks that environment variables name."""
    root, tasks = setting("config_root").value, setting("task_config_dir").value
    folders = [Path(tasks)] if tasks else []
    folders += [Path(root) / "tasks"] if root else []
    return [one for one in folders if one.is_dir()]
