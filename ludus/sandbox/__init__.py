"""Where untrusted code runs: one contract, several backends, and what each of them enforces.

Not here: which environments need isolation, which is in their specs and in `ludus.registry`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ludus.sandbox.backend import Backend, Guarantees, Probe, SandboxedProcess, SandboxWarning, Usage
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.policy import Limits, Mount, Policy
from ludus.sandbox.sandbox import Sandbox, SandboxResult, backend, backends, default_backend, probe

if TYPE_CHECKING:
    from ludus.sandbox.mounts import python_mounts
    from ludus.sandbox.session import CommandResult, FileEntry, Job, JobStatus, ShellSession, ShellState
    from ludus.sandbox.user import give
    from ludus.sandbox.workspace import Change, Diff, Skipped, Store, Workspace, WorkspaceLimits, WorkspaceSnapshot

# Loaded when used: a sandboxed child imports this package, and needs none of them.
_HOME = {
    **dict.fromkeys(("CommandResult", "FileEntry", "Job", "JobStatus", "ShellSession", "ShellState"), "session"),
    **dict.fromkeys(
        ("Change", "Diff", "Skipped", "WorkspaceSnapshot", "Store", "Workspace", "WorkspaceLimits"), "workspace"
    ),
    "give": "user",
    "python_mounts": "mounts",
}

__all__ = [
    "Backend",
    "Change",
    "CommandResult",
    "SandboxedProcess",
    "Deadlines",
    "Diff",
    "FileEntry",
    "Guarantees",
    "Job",
    "JobStatus",
    "Limits",
    "Mount",
    "Policy",
    "Probe",
    "SandboxResult",
    "Sandbox",
    "SandboxWarning",
    "ShellSession",
    "ShellState",
    "Skipped",
    "WorkspaceSnapshot",
    "Store",
    "Usage",
    "Workspace",
    "WorkspaceLimits",
    "backend",
    "backends",
    "default_backend",
    "give",
    "probe",
    "python_mounts",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
