"""Where untrusted code runs: one contract, several walls, and what each of them enforces.

Not here: which environments need a wall, which is in their specs and in `ludus.registry`.
"""

from ludus.sandbox.backend import Backend, Confined, Guarantees, Probe, Usage
from ludus.sandbox.mounts import python_mounts
from ludus.sandbox.policy import Limits, Mount, Policy
from ludus.sandbox.sandbox import Result, Sandbox, backend, backends, default_backend, probe
from ludus.sandbox.session import CommandResult, FileEntry, Job, JobStatus, Session, ShellState
from ludus.sandbox.user import give
from ludus.sandbox.workspace import Change, Diff, Skipped, Snapshot, Store, Workspace, WorkspaceLimits

__all__ = [
    "Backend",
    "Change",
    "CommandResult",
    "Confined",
    "Diff",
    "FileEntry",
    "Guarantees",
    "Job",
    "JobStatus",
    "Limits",
    "Mount",
    "Policy",
    "Probe",
    "Result",
    "Sandbox",
    "Session",
    "ShellState",
    "Skipped",
    "Snapshot",
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
