"""`ludus view`: recorded runs in a browser, or as one file that anybody can open."""

import threading
import webbrowser
from typing import Annotated

import typer
from rich.text import Text

from ludus.cli.console import out
from ludus.server.extra import serve_extra

__all__ = ["view"]

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
        out.print(Text.assemble((url, "bold"), "  (Ctrl+C ends it)"), soft_wrap=True)
        out.file.flush()
        if browser:
            # Some browsers keep their caller waiting, and the server has callers of its own.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    with serve_extra():
        from ludus.web.view.service import show_runs  # a web server's packages, by this verb alone
    show_runs(files, port=port, trust=trust, isolation=isolation, ready=ready)


def _write(files: list[str], html: str, limit: int, *, trust: bool, isolation: str | None) -> None:
    with serve_extra():
        from ludus.web.view.document import write_document  # as above
        from ludus.web.view.viewer import Viewer  # as above
    viewer = Viewer(files, trust=trust, isolation=isolation)
    try:
        done = write_document(viewer, html, limit_bytes=limit * MEGABYTE)
    finally:
        viewer.close()
    rest = f"; {done.left_out:,} more are only listed" if done.left_out else ""
    size = f"{done.bytes / MEGABYTE:.1f} MB"
    out.print(f"{html}: {size}, {done.episodes:,} episodes, {done.frames:,} frames{rest}", soft_wrap=True, markup=False)
