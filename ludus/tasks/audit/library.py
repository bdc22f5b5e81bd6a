"""All cheats, by name."""

from ludus.tasks.audit.cheat import Cheat
from ludus.tasks.audit.in_submission import SUBMISSION_CHEATS
from ludus.tasks.audit.in_workspace import WORKSPACE_CHEATS

__all__ = ["CHEATS"]

CHEATS: dict[str, Cheat] = {cheat.name: cheat for cheat in (*WORKSPACE_CHEATS, *SUBMISSION_CHEATS)}
