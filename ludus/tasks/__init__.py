"""ML research tasks as environments: task files, sandboxed workspaces, grading out of reach, budgets, audit.

Not here: comparing agents over many runs, which is in `ludus.evaluate`; tasks' ids, which the registry reads as data.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.tasks.env import TaskEnv, TaskState
    from ludus.tasks.folder import Task, find_task, known_tasks
    from ludus.tasks.grading.score import TaskScore
    from ludus.tasks.registration import BaseTask, register_task
    from ludus.tasks.spec import EvaluationSpec, Resources, TaskSpec, Timeouts
    from ludus.tasks.task_file import TaskFileError, read_task, read_task_text, task_schema, write_task
    from ludus.tasks.variables import Setting, settings

# Loaded when used: a grader in its sandbox imports this package, and needs none of them.
_HOME = {
    **dict.fromkeys(("TaskEnv", "TaskState"), "env"),
    **dict.fromkeys(("Task", "find_task", "known_tasks"), "folder"),
    "TaskScore": "grading.score",
    **dict.fromkeys(("BaseTask", "register_task"), "registration"),
    **dict.fromkeys(("Setting", "settings"), "variables"),
    **dict.fromkeys(("EvaluationSpec", "Resources", "TaskSpec", "Timeouts"), "spec"),
    **dict.fromkeys(("TaskFileError", "read_task", "read_task_text", "task_schema", "write_task"), "task_file"),
}

__all__ = [
    "BaseTask",
    "EvaluationSpec",
    "Resources",
    "TaskScore",
    "Setting",
    "Task",
    "TaskEnv",
    "TaskFileError",
    "TaskSpec",
    "TaskState",
    "Timeouts",
    "find_task",
    "known_tasks",
    "read_task",
    "read_task_text",
    "register_task",
    "settings",
    "task_schema",
    "write_task",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
