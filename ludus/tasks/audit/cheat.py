"""`Cheat`: a way to a score without the work, as calls that an agent would make."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ludus.tasks.folder import Task
from ludus.tools import Call

__all__ = ["Cheat", "code_file", "data_file", "shell", "start", "starter_text", "write"]

Kind = Literal["any", "data", "code"]


class Cheat(msgspec.Struct, frozen=True):
    """A cheat: its calls for a task; `submit` follows them.

    >>> Cheat("nothing", "Hands nothing in.", lambda task: []).kind
    'any'
    """

    name: str
    description: str
    calls: Callable[[Task], Sequence[Call | str]]
    kind: Kind = "any"
    """For tasks that ask for data, for code, or for any."""

    def fits(self, task: Task) -> bool:
        """Whether the task asks for what it cheats with."""
        code = code_file(task) is not None
        return self.kind == "any" or (self.kind == "code") == code


def shell(command: str, seconds: float = 20.0) -> Call:
    """A command."""
    return Call("shell", {"command": command, "seconds": seconds})


def start(command: str) -> Call:
    """A background job."""
    return Call("start", {"command": command})


def write(path: str, content: str) -> Call:
    """A file of the workspace."""
    return Call("write", {"path": f"/work/{path}", "content": content})


def code_file(task: Task) -> str | None:
    """The Python file that a task asks for; None where it asks for data."""
    return next((one.path for one in task.spec.submission if one.format == "python"), None)


def data_file(task: Task) -> str:
    """The first file that a task asks for."""
    return task.spec.submission[0].path if task.spec.submission else "submission.csv"


def starter_text(task: Task, path: str) -> str:
    """A starter file, so that a cheat on top of it still answers as the task asks."""
    spec, folder = task.spec, task.folder
    file = None if folder is None or spec.starter is None else folder / spec.starter / path
    return file.read_text(encoding="utf8") if file is not None and file.is_file() else ""
