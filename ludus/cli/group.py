"""What all verbs share: modules of the current folder, errors and warnings as one line each."""

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from ludus.cli.console import say
from ludus.errors import LudusError

__all__ = ["Verbs"]

FAILED = 2
NAMED = re.compile(r"(?<![^=:/])([^\W\d][\w.]*):(?=[^\W\d])")
"""A module before a colon, at the beginning of a word, of an option's value, or behind a file of weights."""
ISOLATION = re.compile(r"(?<!\S)--isolation[= ](\S+)")


class Verbs(TyperGroup):
    """Runs a verb so that our own errors are one red line and exit code 2, and never a traceback.

    >>> from typer.testing import CliRunner
    >>> from ludus.cli.main import app
    >>> CliRunner().invoke(app, ["info", "GridWrld-v0"]).exit_code
    2
    """

    def invoke(self, ctx: Any) -> object:
        """Run the verb."""
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            # Python hides deprecations outside a program's own lines; to the user of a command, these are theirs.
            warnings.filterwarnings("default", category=DeprecationWarning, module=r"ludus\.cli")
            import_from_here(ctx.args)
            try:
                return super().invoke(ctx)
            except LudusError as error:
                say(str(error), "red")
                raise typer.Exit(FAILED) from error


def import_from_here(words: Sequence[str]) -> None:
    """Let `module:Env` mean a module of the current folder: console scripts, unlike `python -m`, do not look there.

    Where no word names one, nothing is imported from there: its files may have the names of whatever is loaded next.
    """
    here, named = os.getcwd(), [found[1] for word in words for found in NAMED.finditer(word)]
    stated = ISOLATION.search(" ".join(words))
    if not (named or stated) or {"", here} & set(sys.path):
        return
    from ludus.registry.folder_code import enter_folder  # with the registry, which most verbs need and not all

    isolation = None if stated is None or "--agent" in words else stated[1]  # agents run here
    for module in named or [""]:  # a file may name modules of this folder
        enter_folder([here], module and f"{module}:", isolation)


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
