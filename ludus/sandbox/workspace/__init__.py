"""Workspaces: folders with a history. Each snapshot is kept by its content, and any of them can be restored or forked.

Not here: who writes in a workspace; sandboxed code does, through `Workspace.mount`.
"""

from ludus.sandbox.workspace.diff import Change, Diff
from ludus.sandbox.workspace.journal import WorkspaceSnapshot
from ludus.sandbox.workspace.scan import Skipped, WorkspaceLimits
from ludus.sandbox.workspace.store import Store
from ludus.sandbox.workspace.workspace import Workspace

__all__ = ["Change", "Diff", "Skipped", "WorkspaceSnapshot", "Store", "Workspace", "WorkspaceLimits"]
