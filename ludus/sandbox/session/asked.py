"""What a session may be asked for: each argument, checked before anything is sent."""

import math
import os
from typing import Any

from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.sandbox.session.inside.wire import to_text

__all__ = ["MOST_OUTPUT", "checked_command", "checked_input", "checked_limit", "checked_path", "checked_timeout"]

MOST_COMMAND = 120_000
"""Bytes: the system takes 128 KiB as one argument."""
MOST_INPUT = 4 << 20
MOST_OUTPUT = 16 << 20


def checked_command(command: Any) -> bytes:
    """A command as the bytes that a shell gets."""
    if not isinstance(command, str):
        raise InvalidType(f"command: expected text, got {shorten(command)}")
    data = command.encode("utf8", "surrogateescape")
    if b"\0" in data:
        raise InvalidArgument("command: expected text without null characters, got one")
    if len(data) > MOST_COMMAND:
        raise InvalidArgument(
            f"command: expected at most {MOST_COMMAND} bytes, got {len(data)}; write_file it, and run the file"
        )
    return data


def checked_input(data: Any) -> bytes:
    """What a command gets as its stdin."""
    if not isinstance(data, bytes | bytearray):
        raise InvalidType(f"input: expected bytes, got {shorten(data)}")
    if len(data) > MOST_INPUT:
        raise InvalidArgument(f"input: expected at most {MOST_INPUT} bytes, got {len(data)}; write it to a file")
    return bytes(data)


def checked_timeout(timeout: Any) -> float | None:
    """Seconds; None for ever."""
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise InvalidArgument(f"timeout: expected seconds above 0, got {shorten(timeout)}")
    return None if timeout == math.inf else float(timeout)


def checked_limit(limit: Any, most: int = MOST_OUTPUT) -> int:
    """Bytes, or names, that are kept at most."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidArgument(f"limit: expected a whole number from 1 to {most}, got {shorten(limit)}")
    return limit


def checked_path(path: Any, folder: str) -> str:
    """A path inside, from the session's folder, as the channel carries it."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"path: expected text, got {shorten(path)}")
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidArgument(f"path: expected text without null characters, got {shorten(text)}")
    return to_text(os.fsencode(os.path.join(folder, text)))
