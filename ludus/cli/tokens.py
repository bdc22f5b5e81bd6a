"""Tokens for the command line: from options, from LUDUS_TOKENS, and from a file."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ludus.cli.console import say
from ludus.errors import InvalidArgument

__all__ = ["VARIABLE", "gathered", "given_token"]

VARIABLE, OWN = "LUDUS_TOKENS", "LUDUS_TOKEN"
OTHERS = stat.S_IRGRP | stat.S_IROTH


def gathered(options: Iterable[str], file: str | None) -> dict[str, str]:
    """Role by token. What was in the environment is taken out of it, so that no process we start inherits it.

    >>> gathered(["agent=a-token-of-sixteen"], None)
    {'a-token-of-sixteen': 'agent'}
    """
    entries = [*options, *os.environ.pop(VARIABLE, "").replace(",", " ").split()]
    if file is not None:
        entries += _lines(Path(file))
    return dict(_pair(entry) for entry in entries)


def _lines(file: Path) -> list[str]:
    try:
        if file.stat().st_mode & OTHERS:
            say(f"warning: {file} can be read by others; `chmod 600 {file}` keeps its tokens to you", "yellow")
        text = file.read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"--token-file: expected a file with ROLE=TOKEN on each line, got {error}") from error
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _pair(entry: str) -> tuple[str, str]:
    role, equals, token = entry.partition("=")
    if not equals or not role or not token:
        raise InvalidArgument("token: expected ROLE=TOKEN, as in agent=…, got something else")  # it is not shown
    return token, role


def given_token(token: str | None) -> str:
    """The caller's own token: as it was given, else LUDUS_TOKEN, else none."""
    return token or os.environ.get(OWN, "")
