"""Quantities in task files: bytes written as `8G`, and seconds written as `90`, `30m` or `1h`."""

import re

from ludus.errors import InvalidArgument, shorten

__all__ = ["byte_count", "seconds_of", "shown_bytes"]

SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[smhd]?)")
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def byte_count(size: int | str, where: str = "size") -> int:
    """The bytes of a size; units are powers of 1024.

    >>> byte_count("8G") == 8 << 30, byte_count("512 MiB") == 512 << 20, byte_count(4096)
    (True, True, 4096)
    """
    match = SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    found = (
        size if isinstance(size, int) else int(float(match["number"]) * BYTES[match["unit"].upper()]) if match else 0
    )
    if found <= 0:
        raise InvalidArgument(f"{where}: expected bytes above 0, as 1048576 or '8G', got {shorten(size)}")
    return found


def seconds_of(time: float | str, where: str = "time") -> float:
    """The seconds of a duration.

    >>> seconds_of("30m"), seconds_of(90)
    (1800.0, 90.0)
    """
    match = TIME.fullmatch(time.strip()) if isinstance(time, str) else None
    found = float(match["number"]) * SECONDS[match["unit"]] if match else 0.0 if isinstance(time, str) else float(time)
    if not 0 < found < float("inf"):
        raise InvalidArgument(f"{where}: expected seconds above 0, as 90 or '30m', got {shorten(time)}")
    return found


def shown_bytes(count: float) -> str:
    """A number of bytes in the largest unit that leaves a whole part.

    >>> shown_bytes(3 << 20)
    '3.0 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"
