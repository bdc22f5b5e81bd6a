"""Permissions: what was seen, held against what is declared."""

import os
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from ludus.core import Security
from ludus.registry.audit.report import Declared

__all__ = ["declared", "undeclared"]

ANY = "*"
LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104  (names to compare, nothing listens)


def declared(security: Security) -> Declared:
    """What a security block declares."""
    return Declared(network=security.network, files=security.files, subprocesses=security.subprocesses)


def undeclared(seen: Declared, declared: Declared) -> Declared:
    """What was seen and not declared."""
    return Declared(
        network=_beyond(seen.network, declared.network, _reaches),
        files=_beyond(seen.files, declared.files, _covers),
        subprocesses=_beyond(seen.subprocesses, declared.subprocesses, _starts),
    )


def _beyond(seen: Iterable[str], declared: Iterable[str], covers: Callable[[str, str], bool]) -> tuple[str, ...]:
    return tuple(one for one in seen if not any(covers(permission, one) for permission in declared))


def _reaches(permission: str, seen: str) -> bool:
    if permission == ANY:
        return True
    host, _, port = permission.rpartition(":")
    at, _, by = seen.rpartition(":")
    hosts = LOOPBACK if host.strip("[]").lower() in LOOPBACK else (host.strip("[]").lower(),)
    return at.strip("[]").lower() in hosts and (port == ANY or by in (port, ANY, "None"))


def _covers(permission: str, seen: str) -> bool:
    """`write:` includes reading; a folder includes what is in it."""
    kind, _, path = permission.partition(":")
    used, _, at = seen.partition(":")
    if kind not in ("read", "write") or (used == "write" and kind != "write"):
        return False
    return path == ANY or PurePosixPath(_short(at)).is_relative_to(_short(path))


def _short(path: str) -> str:
    """A path with `~` for the home folder, which is another one inside the sandbox."""
    home = os.path.expanduser("~")
    path = os.path.normpath(path)
    return f"~{path.removeprefix(home)}" if home != "/" and (path == home or path.startswith(f"{home}/")) else path


def _starts(permission: str, seen: str) -> bool:
    return permission in (ANY, seen) or ("/" not in permission and permission == os.path.basename(seen))
