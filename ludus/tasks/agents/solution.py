"""The author's solutions as agents, and the agent that does nothing: what every audit compares with."""

from pathlib import Path
from typing import Literal

from ludus.core.foreign_file import read_foreign_file
from ludus.errors import InvalidArgument
from ludus.tasks.agents.agent import ScriptedTaskAgent
from ludus.tasks.folder import Task
from ludus.tasks.quantity import seconds_of
from ludus.tools import Call

__all__ = ["folder_calls", "nop_agent", "solution_agent", "solution_calls"]

RUN = "solution.py"
MAX_FILE_BYTES = 64 << 20


def nop_agent() -> ScriptedTaskAgent:
    """Submits what is there from the start.

    >>> nop_agent().name
    'nop'
    """
    return ScriptedTaskAgent([], name="nop")


def solution_agent(task: Task, which: Literal["baseline", "reference"]) -> ScriptedTaskAgent:
    """Writes the files of a solution into the workspace, runs it and submits.

    >>> from ludus.tasks import find_task
    >>> solution_agent(find_task("tabular_regression"), "baseline").name
    'baseline'
    """
    return ScriptedTaskAgent(solution_calls(task, which), name=which)


def solution_calls(task: Task, which: Literal["baseline", "reference"]) -> list[Call]:
    """The calls of a solution, without the last."""
    solution = task.spec.solution(which)
    folder = None if task.folder is None else task.folder / solution.folder
    if folder is None or not folder.is_dir():
        raise InvalidArgument(f"{task.spec.id}: expected a folder {solution.folder!r} with a solution, got none")
    seconds = task.spec.timeouts_known.of("long") if solution.seconds is None else seconds_of(solution.seconds)
    return folder_calls(folder, run=solution.run, seconds=seconds)


def folder_calls(folder: Path, *, run: str | None = None, seconds: float = 60.0) -> list[Call]:
    """Write the files of a folder, and run the command, or `solution.py` where there is one."""
    try:
        files = sorted(one for one in folder.rglob("*") if one.is_file() and "__pycache__" not in one.parts)
        calls = [_written(one, folder) for one in files]
    except (RecursionError, UnicodeDecodeError, OSError) as error:
        raise InvalidArgument(f"{folder}: expected text files of a solution, got {error}") from error
    command = run or (f"python {RUN}" if (folder / RUN).is_file() else None)
    return calls if command is None else [*calls, Call("shell", {"command": command, "seconds": seconds})]


def _written(file: Path, folder: Path) -> Call:
    content = read_foreign_file(file, MAX_FILE_BYTES).decode("utf8")
    return Call("write", {"path": f"/work/{file.relative_to(folder)}", "content": content})
