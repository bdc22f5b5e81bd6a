"""Verbs that are loaded when they are called: `ludus serve` does not wait for what `ludus bench` imports."""

from collections.abc import Callable
from typing import Any

import typer
from typer.main import get_command

from ludus.cli.group import Verbs

__all__ = ["VERBS", "LazyVerbs"]

VERBS = (
    "demo",
    "list",
    "info",
    "run",
    "eval",
    "verify",
    "leaderboard",
    "play",
    "replay",
    "ui",
    "view",
    "serve",
    "mcp",
    "sessions",
    "new",
    "init",
    "check",
    "build",
    "push",
    "audit",
    "task",
    "config",
    "bench",
    "version",
)
"""In the order of the help page."""
HIDDEN = ("init",)


class LazyVerbs(Verbs):
    """The verbs of the command, each of which is imported when it is asked for.

    >>> "serve" in LazyVerbs(name="ludus").list_commands(None)
    True
    """

    def list_commands(self, ctx: object) -> list[str]:
        """Their names."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        """A verb; None where there is none of that name."""
        del ctx
        if cmd_name not in VERBS:
            return None
        verb = _verb(cmd_name)
        if isinstance(verb, typer.Typer):  # a verb with verbs of its own
            return get_command(verb)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name, hidden=cmd_name in HIDDEN)(verb)
        return get_command(alone)


def _verb(name: str) -> typer.Typer | Callable[..., object]:
    """What runs and shows environments; the rest is below, so that each list can be read."""
    match name:
        case "demo":
            from ludus.cli.demo import demo as verb  # when it is called
        case "list":
            from ludus.cli.list import list_environments as verb  # when it is called
        case "info":
            from ludus.cli.info import info as verb  # when it is called
        case "run":
            from ludus.cli.run import run as verb  # when it is called
        case "eval":
            from ludus.cli.eval import evaluate_agent as verb  # when it is called
        case "verify":
            from ludus.cli.verify import verify_results as verb  # when it is called
        case "leaderboard":
            from ludus.cli.leaderboard import show_leaderboard as verb  # when it is called
        case "play":
            from ludus.cli.play import play as verb  # when it is called
        case "replay":
            from ludus.cli.replay import replay_run as verb  # when it is called
        case "ui":
            from ludus.cli.ui import ui as verb  # when it is called
        case "view":
            from ludus.cli.view import view as verb  # when it is called
        case _:
            verb = _maker_verb(name)
    return verb


def _maker_verb(name: str) -> typer.Typer | Callable[..., object]:
    """What serves, makes, checks and publishes them."""
    match name:
        case "serve":
            from ludus.cli.serve import serve as verb  # when it is called
        case "mcp":
            from ludus.cli.mcp import mcp as verb  # when it is called
        case "sessions":
            from ludus.cli.sessions import sessions as verb  # when it is called
        case "new" | "init":
            from ludus.cli.new import new as verb  # when it is called
        case "check":
            from ludus.cli.check import check as verb  # when it is called
        case "build":
            from ludus.cli.build import build_image as verb  # when it is called
        case "push":
            from ludus.cli.push import push as verb  # when it is called
        case "audit":
            from ludus.cli.audit import audit as verb  # when it is called
        case "task":
            from ludus.cli.task import task_app as verb  # when it is called
        case "config":
            from ludus.cli.config import config as verb  # when it is called
        case "bench":
            from ludus.cli.bench import bench as verb  # when it is called
        case _:
            from ludus.cli.version import version as verb  # when it is called
    return verb
