"""`ludus list`: which environments there are."""

from typing import Annotated

import typer
from rich.table import Table

from ludus.cli.console import out, say
from ludus.core import EnvSpec
from ludus.registry import list_envs, registry

__all__ = ["list_environments"]

FAMILIES_OF_MANY = {"atari": "an id for each game of the Atari 2600.", "openspiel": "an id for each game of OpenSpiel."}
"""Families whose ids are the games of one class: listed when they are asked for."""


def list_environments(
    query: Annotated[str | None, typer.Argument(help="Text to look for in ids, descriptions and tags.")] = None,
    family: Annotated[str | None, typer.Option(help="Only this family.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only those with this tag; may be given several times.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the specs as JSON.")] = False,
) -> None:
    """List the environments that are installed, built in or from plugins."""
    found = list_envs(query, family=family, tags=tag or ())
    if as_json:
        print(f"[{','.join(spec.to_json() for spec in found)}]")
    elif found:
        shown = [spec for spec in found if query or family or tag or spec.family not in FAMILIES_OF_MANY]
        out.print(_table(shown))
        out.print(f"{len(shown)} of {len(registry)} environments. `ludus info ID` tells more.", style="dim")
        for name in FAMILIES_OF_MANY if len(shown) < len(found) else ():
            out.print(f"`ludus list --family {name}`: {FAMILIES_OF_MANY[name]}", style="dim")
    else:
        say(f"no environment matches {query!r}; `ludus list` shows all {len(registry)}", "yellow")
    for problem in registry.problems():
        say(f"not usable: {problem}", "yellow")


def _table(specs: list[EnvSpec]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("environment", style="cyan", no_wrap=True)
    table.add_column("family")
    table.add_column("limit", justify="right")
    table.add_column("what it is", ratio=1)
    for spec in specs:
        limit = "–" if spec.max_episode_steps is None else str(spec.max_episode_steps)
        table.add_row(spec.id, spec.family, limit, _about(spec))
    return table


def _about(spec: EnvSpec) -> str:
    needs = f" Needs the extra {', '.join(spec.extras)}." if spec.extras else ""
    return f"{'Deprecated. ' if spec.deprecated else ''}{spec.description}{needs}".replace("[", r"\[")
