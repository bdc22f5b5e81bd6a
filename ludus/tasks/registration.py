"""`register_task`: a task by id, which `ludus.make` then knows; `BaseTask`, for tasks with behaviour of their own."""

import os
from pathlib import Path
from typing import TypeGuard, Unpack

from ludus.core import EnvId, EnvSpec
from ludus.errors import RegistrationError, shorten
from ludus.registry import register
from ludus.registry.registration import OtherFields
from ludus.tasks.env import TaskEnv
from ludus.tasks.folder import FILE, find_task
from ludus.tasks.spec import TaskSpec

__all__ = ["BaseTask", "register_task", "register_tasks"]

ENTRY_POINT = "ludus.tasks.env:TaskEnv"
NAMESPACE = "task"


class BaseTask(TaskEnv):
    """A task in Python: `config` names its folder or is its spec, and methods of the environment may be its own.

    `describe`, `get_reward`, `is_done` and `evaluate` are meant to be overridden; so are `reset` and `step`. What a
    subclass does runs in this process: leave grading of untrusted files to `evaluate`, which goes to a sandbox.

    >>> class Careful(BaseTask):
    ...     config = "tabular_regression"
    ...     def get_reward(self, action, result):
    ...         return -0.01 if result.error else 0.0
    >>> Careful().task.spec.id
    'TabularRegression-v0'
    """


def register_task(
    id: str | None = None,
    entry_point: str | None = None,
    *,
    max_steps: int | None = None,
    description: str = "",
    folder: str | Path | None = None,
    **fields: Unpack[OtherFields],
) -> EnvSpec:
    """Give a task an id: `task/<id>-v0` where it says neither namespace nor version.

    Either `entry_point` names a class (a `BaseTask`, or any environment), or `folder` a folder with a task file, whose
    id, description and steps are taken where none are given.

    >>> spec = register_task(id="colours", entry_point="mine.tasks:Colours", max_steps=50, description="Sort colours.")
    >>> spec.id, spec.description
    ('task/colours-v0', 'Sort colours.')
    >>> import ludus
    >>> del ludus.registry.registry[spec.id]
    """
    if (entry_point is None) == (folder is None):
        raise RegistrationError(
            "register_task: expected an entry_point or a folder, got " + ("both" if folder else "neither")
        )
    full = id
    kwargs: dict[str, object] = dict(fields.pop("kwargs", None) or {})
    if folder is not None:
        place = _path(folder)
        spec = find_task(place).spec
        kwargs |= {"task": str(place)}
        full, description = full or spec.env_id, description or spec.name
        fields = _about(spec) | fields
    if full is None:
        raise RegistrationError("register_task: expected an id, got none")
    fields["kwargs"] = kwargs
    return register(
        _full_id(full),
        entry_point or ENTRY_POINT,
        max_episode_steps=max_steps,
        description=description,
        **fields,
    )


def register_tasks(folder: str | Path) -> list[EnvSpec]:
    """Register every task of a folder of tasks."""
    return [register_task(folder=file.parent) for file in sorted(Path(folder).glob(f"*/{FILE}"))]


def _about(spec: TaskSpec) -> OtherFields:
    found: OtherFields = {"nondeterministic": True}
    if spec.tags:
        found["tags"] = list(spec.tags)
    if spec.license:
        found["license"] = spec.license
    if spec.author:
        found["author"] = spec.author
    return found


def _full_id(id: str) -> str:
    parsed = EnvId.parse(id)
    version = 0 if parsed.version is None else parsed.version
    return str(parsed._replace(namespace=parsed.namespace or NAMESPACE, version=version))


def _path(folder: object) -> Path:
    if not _is_path(folder):
        raise RegistrationError(f"register_task: expected a path as the folder, got {shorten(folder)}")
    return Path(folder).resolve()


def _is_path(value: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(value, str | os.PathLike)
