"""`ludus config`: the settings in force, and where each comes from."""

from typing import Annotated

import msgspec
import typer
from rich import box
from rich.table import Table

from ludus.cli.console import out
from ludus.tasks import settings

__all__ = ["config"]


def config(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the settings of tasks that are in force, and the variable that set each."""
    found = settings()
    if as_json:
        print(msgspec.json.encode(found).decode())
        return
    table = Table(box=box.ROUNDED)
    for column in ("setting", "value", "from", "variables", "what it is"):
        table.add_column(column, overflow="fold")
    for one in found:
        table.add_row(one.name, one.value or "–", one.origin, "\n".join(one.variables), one.description)
    out.print(table)
