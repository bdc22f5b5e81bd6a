"""Audit: whether a task can be cheated. Nothing, chance, the author's solutions and a library of cheats, side by side.

Not here: where untrusted code is sandboxed, which is `ludus.sandbox` and has attacks of its own in the tests.
"""

from ludus.tasks.audit.audit import CHEATS, AuditReport, AuditRow, audit_task
from ludus.tasks.audit.cheat import Cheat
from ludus.tasks.linter import LintFinding, lint

__all__ = ["CHEATS", "AuditReport", "AuditRow", "Cheat", "LintFinding", "audit_task", "lint"]
