"""`ludus new`: a new environment in a folder of its own."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ludus.cli.console import out
from ludus.errors import InvalidArgument
from ludus.packaging.scaffold import Kind, scaffold

__all__ = ["new"]


def new(
    name: Annotated[str, typer.Argument(help="Of the environment and its folder: lower-case words, as in my_maze.")],
    folder: Annotated[Path, typer.Option("--dir", help="Where the folder is made.")] = Path(),
    tools: Annotated[bool, typer.Option("--tools", help="Actions are calls of tools.")] = False,
    array: Annotated[bool, typer.Option("--array", help="Observations are arrays, actions numbers.")] = False,
) -> None:
    """Begin an environment: its code in one file, a test, a manifest, a package and a README.

    By default actions and observations are typed. Nothing is overwritten.
    """
    if tools and array:
        raise InvalidArgument("ludus new: expected --tools or --array, got both")
    kind: Kind = "tools" if tools else "array" if array else "typed"
    files = scaffold(name, folder, kind)
    where = files[0].parent
    out.print(Text.assemble("made ", (str(where), "bold cyan"), f": {', '.join(one.name for one in files)}"))
    out.print(Text(f"next: ludus check {where}; ludus serve {where}", "dim"))
