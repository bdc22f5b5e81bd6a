"""`ludus ui`: look at environments and play them in a browser."""

import threading
import webbrowser
from typing import Annotated

import typer
from rich.text import Text

from ludus.cli.console import out
from ludus.server.extra import serve_extra

__all__ = ["ui"]


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
        out.print(Text.assemble((url, "bold"), "  (Ctrl+C ends it)"), soft_wrap=True)
        if open_browser:
            # Some browsers keep their caller waiting, and the server has callers of its own.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    with serve_extra():
        from ludus.web.ui import show  # a web server's packages, by this verb alone
    show(targets or [], port=port, ready=ready)
