"""`Policy`: what sandboxed code may use. Everything that is not named is refused."""

import os
from itertools import starmap

import msgspec

from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces.kinds import is_mapping, is_tuple

__all__ = ["Limits", "Mount", "Policy"]

MIB = 1 << 20
COUNTS = ("memory", "processes", "file_size", "disk", "open_files", "output")
MAX_USERS = 4
"""How many users of its own sandboxed code may be, where root starts it."""
RESERVED = ("/", "/proc", "/dev", "/sys")


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What sandboxed code may use up; None lifts a limit.

    >>> Limits(memory=256 << 20).wall
    60.0
    """

    wall: float | None = 60.0
    """Seconds from start to end."""
    cpu: float | None = None
    """Seconds of processor time of the whole tree."""
    memory: int | None = 512 * MIB
    """Bytes of memory of the whole tree, swap included."""
    processes: int | None = 64
    """Processes and threads at once."""
    file_size: int | None = 256 * MIB
    """Bytes of one file."""
    disk: int | None = 64 * MIB
    """Bytes in each of its own folders (`/tmp` and its home), which are lost at the end."""
    open_files: int | None = 256
    """Open descriptors of one process."""
    output: int | None = MIB
    """Bytes of stdout, and as many of stderr, that are kept; the rest is read and dropped."""

    def __post_init__(self) -> None:
        for name in ("wall", "cpu"):
            value: object = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise InvalidArgument(f"limits.{name}: expected seconds above 0, or None, got {shorten(value)}")
        for name in COUNTS:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidArgument(f"limits.{name}: expected a whole number above 0, or None, got {shorten(value)}")


class Mount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder or file of the host that sandboxed code sees, read-only unless it says otherwise.

    >>> Mount("/usr/share/zoneinfo").where
    '/usr/share/zoneinfo'
    """

    source: str
    target: str | None = None
    """Where it is seen; None: at its own path."""
    writable: bool = False

    def __post_init__(self) -> None:
        for name in ("source", "target"):
            path: object = getattr(self, name)
            if path is None and name == "target":
                continue
            if not isinstance(path, str) or not os.path.isabs(path) or os.path.normpath(path) != path or "\0" in path:
                raise InvalidArgument(f"mount {name}: expected an absolute path without '..', got {shorten(path)}")
        if self.where in RESERVED or self.where.startswith(("/proc/", "/sys/", "/dev/")):
            raise InvalidArgument(f"mount target: expected a folder of its own, got {self.where!r}, which is reserved")

    @property
    def where(self) -> str:
        """The path inside."""
        return self.source if self.target is None else self.target


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that sandboxed code may touch: limits, mounts, network, environment variables, working folder.

    >>> Policy(network=("example.org:443",)).hosts
    ('example.org:443',)
    >>> Policy().network
    'none'
    """

    limits: Limits = Limits()
    mounts: tuple[Mount, ...] = ()
    network: str | tuple[str, ...] = "none"
    """`"none"`, `"loopback"` (its own, not the host's), or the `host:port` it may reach through a proxy."""
    environment: dict[str, str] = {}
    """Variables beside PATH, HOME, LANG and TMPDIR; nothing is inherited."""
    folder: str | None = None
    """The working folder inside; None: its own home, empty and writable."""
    user: int = 0
    """Which of `MAX_USERS` users it is where root starts it, so that it can touch nothing of what runs as another;
    started by anybody else, sandboxed code is that user, whatever the number."""

    def __post_init__(self) -> None:
        if not _is_user(self.user):
            raise InvalidArgument(f"user: expected a number from 0 to {MAX_USERS - 1}, got {shorten(self.user)}")
        network: object = self.network
        if isinstance(network, str):
            if network not in ("none", "loopback"):
                raise InvalidArgument(
                    f"network: expected 'none', 'loopback' or a tuple of host:port, got {shorten(network)}"
                )
        elif not is_tuple(network) or not network or not all(map(_is_address, network)):
            raise InvalidArgument(f"network: expected a tuple of host:port, got {shorten(network)}")
        given: object = self.environment
        if not is_mapping(given) or not all(starmap(_is_variable, given.items())):
            raise InvalidType(f"environment: expected names and values as text, got {shorten(given)}")

    @property
    def hosts(self) -> tuple[str, ...]:
        """The `host:port` it may reach; empty without a proxy."""
        return () if isinstance(self.network, str) else self.network


def _is_user(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < MAX_USERS


def _is_address(text: object) -> bool:
    host, _, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    return bool(host) and not set(host) & set(" /@\r\n\0") and 0 < number < 65536


def _is_variable(name: object, value: object) -> bool:
    return (
        isinstance(name, str)
        and isinstance(value, str)
        and name != ""
        and not set(name) & set("=\0")
        and "\0" not in value
    )
