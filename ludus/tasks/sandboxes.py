"""The three sandboxes of a task: of the agent, of its submitted program, and of the grader. None sees another's.

Each has a user of its own where root starts them: what is hidden belongs to the grader's, and nobody else may read it.
Started by anybody else they are all that user, and only the sandboxes are between them; `info["grading"]` says which.
"""

import os
from pathlib import Path

import msgspec

from ludus.sandbox import Backend, Limits, Mount, Sandbox, give, python_mounts
from ludus.sandbox.environment.interpreter import Interpreter
from ludus.sandbox.user import drops_user
from ludus.tasks.packages import PACKAGES, agent_python, hiding_mounts, package_mounts
from ludus.tasks.spec import TaskSpec

__all__ = [
    "GRADER_MEMORY",
    "WORK",
    "Places",
    "agent_sandbox",
    "grader_sandbox",
    "grading_means",
    "keep_from_agent",
    "link_interpreter",
    "program_sandbox",
]

WORK = "/work"
"""The workspace, as the agent sees it."""
BIN = "/opt/bin"
"""Where `python` is found, which Debian's own interpreter, among others, goes without."""
SUBMISSION, HIDDEN, DATA, TASK = "/submission", "/hidden", "/data", "/task"
GRADER_USER, PROGRAM_USER = 1, 2
"""The agent is 0."""
GRADER_MEMORY = 2 << 30
TEMPORARY = 256 << 20
OPEN_FILES = 1024
"""Of a process inside."""
Places = dict[str, Path]


def agent_sandbox(spec: TaskSpec, places: Places, backend: str | Backend | None = None) -> Sandbox:
    """Where the agent works: its workspace writable, data and what is read-only mounted over it, and no grader."""
    work = places["work"]
    fixed = [Mount(str(places["public"]), f"{WORK}/{spec.data.folder}")]
    fixed += [
        Mount(str(places["fixed"] / path), f"{WORK}/{path}") for path in spec.read_only if path != spec.data.folder
    ]
    return Sandbox(
        backend,
        limits=_limits(spec),
        mounts=[Mount(str(work), WORK, writable=True), *fixed, *_python(spec, places)],
        network=spec.network,
        environment={"PWD": WORK, **_variables(spec), **spec.environment},
        folder=WORK,
    )


def program_sandbox(spec: TaskSpec, places: Places, backend: str | Backend | None = None) -> Sandbox:
    """Where a submitted program runs while it is graded: its own files read-only, and no network."""
    return Sandbox(
        backend,
        limits=_limits(spec),
        mounts=[Mount(str(places["submission"]), SUBMISSION), *_python(spec, places)],
        environment=_variables(spec),
    ).as_user(PROGRAM_USER)


def grader_sandbox(places: Places, *, seconds: float, backend: str | Backend | None = None) -> Sandbox:
    """Where trusted code of the task runs: this interpreter, the task's folder, hidden data and the files handed in."""
    shown = {"task": TASK, "submission": SUBMISSION, "hidden": HIDDEN, "public": DATA}
    writable = {"hidden", "public"} if "submission" not in places else set[str]()
    return Sandbox(
        backend,
        limits=Limits(wall=seconds, memory=GRADER_MEMORY, disk=TEMPORARY, open_files=OPEN_FILES, processes=256),
        mounts=[
            *(Mount(str(places[name]), where, name in writable) for name, where in shown.items() if name in places),
            *python_mounts(),
        ],
        environment={"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ).as_user(GRADER_USER)


def keep_from_agent(folder: Path) -> None:
    """Make a folder the grader's own, which nobody else that is sandboxed may enter or read; no link is followed."""
    give(folder, GRADER_USER)
    for path in (*folder.rglob("*"), folder):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


def link_interpreter(folder: Path) -> Path:
    """Make a folder in which the agent's interpreter has the names that everybody types."""
    folder.mkdir(parents=True, exist_ok=True)
    known = agent_python()
    for name in ("python", "python3") if os.path.isabs(known) else ():
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(known)
    return folder


def grading_means(agent: Sandbox, grader: Sandbox) -> dict[str, object]:
    """What is between the agent and the grader, as data for the record of a run."""
    differ = drops_user() and agent.policy.user != grader.policy.user
    means = "another user" if differ else "the agent's user: only root can give a grader one of its own"
    return {"own_user": differ, "user": means, "guarantees": msgspec.to_builtins(grader.guarantees)}


def grader_command(function: str) -> list[str]:
    """What to start in the grader's sandbox: with this Ludus, wherever it was imported from."""
    return Interpreter().command(f"from ludus.tasks.inside.grade import {function}; {function}()")


def _limits(spec: TaskSpec) -> Limits:
    resources = spec.resources
    return Limits(
        wall=None,
        memory=resources.bytes_of("memory"),
        processes=resources.processes,
        file_size=resources.bytes_of("file_size"),
        disk=min(TEMPORARY, resources.bytes_of("disk")),
        open_files=OPEN_FILES,
    )


def _python(spec: TaskSpec, places: Places) -> tuple[Mount, ...]:
    links = Mount(str(places["bin"]), BIN)
    return (*package_mounts(spec.requirements), *hiding_mounts(str(places["empty"])), links)


def _variables(spec: TaskSpec) -> dict[str, str]:
    threads = str(max(1, int(spec.resources.cpu)))
    path = f"{BIN}:{os.path.dirname(agent_python())}:/usr/local/bin:/usr/bin:/bin"
    return {
        "PATH": path,
        "PYTHONPATH": PACKAGES,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PAGER": "cat",
        "TERM": "dumb",
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads),
    }
