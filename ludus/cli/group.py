"""What all verbs share: modules of the current folder, errors and warnings as one line each."""

import os
import sys
import warnings
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from ludus.cli.console import say
from ludus.errors import LudusError

__all__ = ["Verbs"]

FAILED = 2


class Verbs(TyperGroup):
    """Runs a verb so that our own errors are one red line and exit code 2, and never a traceback.

    >>> from typer.testing import CliRunner
    >>> from ludus.cli.main import app
    >>> CliRunner().invoke(app, ["info", "GridWrld-v0"]).exit_code
    2
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            # Python hides deprecations outside a program's own lines; to the user of a command, these are theirs.
            warnings.filterwarnings("default", category=DeprecationWarning, module=r"ludus\.cli")
            import_from_here()
            try:
                return super().invoke(ctx)
            except LudusError as error:
                say(str(error), "red")
                raise typer.Exit(FAILED) from error


def import_from_here() -> None:
    """Let `module:Env` mean a module of the current folder: console scripts, unlike `python -m`, do not look there."""
    here = os.getcwd()
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning without the place in our code that gave it."""
    del category, filename, lineno, file, line
    say(f"warning: {message}", "yellow")
