"""The command itself: its verbs, and its version."""

from typing import Annotated

import typer

from ludus.cli.console import out
from ludus.cli.lazy_verbs import LazyVerbs
from ludus.version import __version__

__all__ = ["app"]

app = typer.Typer(
    name="ludus",
    cls=LazyVerbs,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        out.print(f"ludus {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Environments for reinforcement learning: find, run and check them."""
    del version
