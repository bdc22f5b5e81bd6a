"""The command itself: its verbs, and its version."""

from typing import Annotated

import typer

import ludus
from ludus.cli.audit import audit
from ludus.cli.bench import bench
from ludus.cli.check import check
from ludus.cli.console import out
from ludus.cli.demo import demo
from ludus.cli.group import Verbs
from ludus.cli.info import info
from ludus.cli.list import list_environments
from ludus.cli.play import play
from ludus.cli.run import run
from ludus.cli.version import version

__all__ = ["app"]

app = typer.Typer(
    name="ludus",
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        out.print(f"ludus {ludus.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Environments for reinforcement learning: find, run and check them."""
    del version


app.command("demo")(demo)
app.command("list")(list_environments)
app.command("info")(info)
app.command("run")(run)
app.command("play")(play)
app.command("check")(check)
app.command("audit")(audit)
app.command("bench")(bench)
app.command("version")(version)
