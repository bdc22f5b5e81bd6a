"""Verbs that are loaded when they are called: `ludus serve` does not wait for what `ludus bench` imports."""

from typing import Any

import typer
from typer.main import get_command

from ludus.cli.group import Verbs
from ludus.core.spec import load_entry_point

__all__ = ["VERBS", "LaterVerbs"]

VERBS = {
    "demo": "ludus.cli.demo:demo",
    "list": "ludus.cli.list:list_environments",
    "info": "ludus.cli.info:info",
    "run": "ludus.cli.run:run",
    "eval": "ludus.cli.eval:evaluate_agent",
    "verify": "ludus.cli.verify:verify_results",
    "leaderboard": "ludus.cli.leaderboard:show_leaderboard",
    "play": "ludus.cli.play:play",
    "replay": "ludus.cli.replay:replay_run",
    "ui": "ludus.cli.ui:ui",
    "view": "ludus.cli.view:view",
    "serve": "ludus.cli.serve:serve",
    "sessions": "ludus.cli.sessions:sessions",
    "new": "ludus.cli.new:new",
    "init": "ludus.cli.new:new",
    "check": "ludus.cli.check:check",
    "build": "ludus.cli.build:build_image",
    "push": "ludus.cli.push:push",
    "audit": "ludus.cli.audit:audit",
    "task": "ludus.cli.task:task_app",
    "config": "ludus.cli.config:config",
    "bench": "ludus.cli.bench:bench",
    "version": "ludus.cli.version:version",
}
"""The verbs in the order of the help page, and what each of them calls."""
HIDDEN = ("init",)


class LaterVerbs(Verbs):
    """The verbs of the command, each of which is imported when it is asked for.

    >>> "serve" in LaterVerbs(name="ludus").list_commands(None)
    True
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A verb; None where there is none of that name."""
        del ctx
        if cmd_name not in VERBS:
            return None
        verb = load_entry_point(VERBS[cmd_name])
        if isinstance(verb, typer.Typer):  # a verb with verbs of its own
            return get_command(verb)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name, hidden=cmd_name in HIDDEN)(verb)
        return get_command(alone)
