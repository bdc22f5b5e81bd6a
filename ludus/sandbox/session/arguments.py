"""What a session may be asked for: each argument, checked before anything is sent."""

import math
import os
from typing import TypeGuard

from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.sandbox.session.inside.wire import to_text

__all__ = [
    "MAX_OUTPUT_BYTES",
    "checked_command",
    "checked_grace",
    "checked_input",
    "checked_limit",
    "checked_path",
    "checked_timeout",
]

MAX_COMMAND_BYTES = 120_000
"""Bytes: the system takes 128 KiB as one argument."""
MAX_INPUT_BYTES = 4 << 20
MAX_OUTPUT_BYTES = 16 << 20
MAX_GRACE_S = 3600.0


def checked_command(command: object) -> bytes:
    """A command as the bytes that a shell gets."""
    if not isinstance(command, str):
        raise InvalidType(f"command: expected text, got {shorten(command)}")
    data = command.encode("utf8", "surrogateescape")
    if b"\0" in data:
        raise InvalidArgument("command: expected text without null characters, got one")
    if len(data) > MAX_COMMAND_BYTES:
        raise InvalidArgument(
            f"command: expected at most {MAX_COMMAND_BYTES} bytes, got {len(data)}; write_file it, and run the file"
        )
    return data


def checked_input(data: object) -> bytes:
    """What a command gets as its stdin."""
    if not isinstance(data, bytes | bytearray):
        raise InvalidType(f"input: expected bytes, got {shorten(data)}")
    if len(data) > MAX_INPUT_BYTES:
        raise InvalidArgument(f"input: expected at most {MAX_INPUT_BYTES} bytes, got {len(data)}; write it to a file")
    return bytes(data)


def checked_timeout(timeout: object) -> float | None:
    """Seconds; None for ever."""
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise InvalidArgument(f"timeout: expected seconds above 0, got {shorten(timeout)}")
    return None if timeout == math.inf else float(timeout)


def checked_grace(grace: object) -> float:
    """Seconds between an interrupt and a kill: what is stopped does get killed."""
    if isinstance(grace, bool) or not isinstance(grace, int | float) or not 0 < grace <= MAX_GRACE_S:
        raise InvalidArgument(f"grace: expected seconds above 0, at most {MAX_GRACE_S:g}, got {shorten(grace)}")
    return float(grace)


def checked_limit(limit: object, most: int = MAX_OUTPUT_BYTES) -> int:
    """Bytes, or names, that are kept at most."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidArgument(f"limit: expected a whole number from 1 to {most}, got {shorten(limit)}")
    return limit


def checked_path(path: object, folder: str) -> str:
    """A path inside, from the session's folder, as the channel carries it."""
    if not _is_path(path):
        raise InvalidType(f"path: expected text, got {shorten(path)}")
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidArgument(f"path: expected text without null characters, got {shorten(text)}")
    return to_text(os.fsencode(os.path.join(folder, text)))


def _is_path(path: object) -> TypeGuard[str | os.PathLike[str] | os.PathLike[bytes]]:
    return isinstance(path, str | os.PathLike)
