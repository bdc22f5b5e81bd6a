"""`ludus config`: the settings in force, and where each comes from."""

from typing import Annotated

import msgspec
import typer
from rich.text import Text

from ludus.cli.console import out
from ludus.tasks import settings

__all__ = ["config"]


def config(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the settings of tasks that are in force, and the variable that set each."""
    found = settings()
    if as_json:
        print(msgspec.json.encode(found).decode())
        return
    for one in found:
        value = Text.assemble((one.name, "bold"), f" {one.value or '–'} ", (f"({one.origin})", "dim"))
        out.print(value, soft_wrap=True)
        out.print(Text(f"    {one.description}"), soft_wrap=True)
        out.print(Text(f"    {', '.join(one.variables)}", "dim"), soft_wrap=True)
