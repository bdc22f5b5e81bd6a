"""`ludus ui`: look at environments and play them in a browser."""

import threading
import webbrowser
from typing import Annotated, Any

import typer

from ludus.cli.console import out
from ludus.serve.room import loaded

__all__ = ["ui"]

SHOW = "ludus.web.showing:show"
"""By name: without the packages of a web server it cannot be loaded, and that is told."""


def ui(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="TARGET", help="Ids, module:Env of the current folder, or folders; all built-in ones."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 is any that is free.")] = 8000,
    open_browser: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
) -> None:
    """Show environments in a browser: a catalogue, their pages, and play. Only this machine reaches it."""

    def ready(url: str) -> None:
        out.print(f"[bold]{url}[/bold]  (Ctrl+C ends it)", soft_wrap=True)
        if open_browser:
            # Some browsers keep their caller waiting, and the server has callers of its own.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    show: Any = loaded(SHOW)
    show(targets or [], port=port, ready=ready)
