"""`ludus view`: recorded runs in a browser, or as one file that anybody can open."""

import threading
import webbrowser
from typing import Annotated, Any

import typer

from ludus.cli.console import out
from ludus.serve.room import loaded

__all__ = ["view"]

# By name: without the packages of a web server they cannot be loaded, and that is told.
SHOW = "ludus.web.view.service:show_runs"
VIEWER = "ludus.web.view.viewer:Viewer"
WRITE = "ludus.web.view.document:write_document"
MEGABYTE = 1 << 20


def view(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Runs, or episodes of them: run.ludus#3.")],
    html: Annotated[
        str | None, typer.Option(metavar="OUT", help="Write one self-contained HTML file, and show nothing.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1024, help="How many megabytes the HTML file may have.")] = 32,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 is any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether a browser is opened.")] = True,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run whatever environments the files name, to draw their frames.")
    ] = False,
    isolation: Annotated[
        str | None, typer.Option(help="Run them isolated: none, process, sandbox or container.")
    ] = None,
) -> None:
    """Look at recorded runs: episodes, frames by replay, curves, messages and tool calls; several side by side."""
    if html is not None:
        _write(files, html, limit, trust=trust, isolation=isolation)
        return

    def ready(url: str) -> None:
        out.print(f"[bold]{url}[/bold]  (Ctrl+C ends it)", soft_wrap=True)
        out.file.flush()
        if browser:
            # Some browsers keep their caller waiting, and the server has callers of its own.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    show: Any = loaded(SHOW)
    show(files, port=port, trust=trust, isolation=isolation, ready=ready)


def _write(files: list[str], html: str, limit: int, *, trust: bool, isolation: str | None) -> None:
    viewer: Any = loaded(VIEWER)(files, trust=trust, isolation=isolation)
    try:
        done: Any = loaded(WRITE)(viewer, html, limit_bytes=limit * MEGABYTE)
    finally:
        viewer.close()
    rest = f"; {done.left_out:,} more are only listed" if done.left_out else ""
    size = f"{done.bytes / MEGABYTE:.1f} MB"
    out.print(f"{html}: {size}, {done.episodes:,} episodes, {done.frames:,} frames{rest}", soft_wrap=True, markup=False)
