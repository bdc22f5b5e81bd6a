"""What sandboxed code sees of the host: the system's programs and libraries, this interpreter, what a policy names."""

import os
import site
import sys
from functools import cache
from pathlib import Path

from ludus.errors import InvalidArgument
from ludus.sandbox.policy import Mount, Policy

__all__ = [
    "HOST_SETTINGS",
    "PACKAGE",
    "USR",
    "base_mounts",
    "check_mounts",
    "in_order",
    "python_mounts",
    "system_links",
    "system_mounts",
]

SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
LOOKED_UP = ("/etc/ld.so.cache", "/etc/alternatives")
CERTIFICATES = ("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki")
PACKAGE = Path(__file__).resolve().parents[1]
USR = "/usr"
"""Every backend shows it, or an image has its own."""
HOST_SETTINGS = "/usr/local/etc"
"""Of the host's programs, maybe with tokens: of all that is in `/usr`, this is no sandbox's."""


def python_mounts() -> tuple[Mount, ...]:
    """What it takes to run this very interpreter inside, with its site-packages and this Ludus, at their own paths.

    The interpreter, its library, the virtual environment and the installed packages, and of an editable installation
    the package's folder alone. Start it as `sys.executable`.

    >>> any(mount.where == sys.prefix for mount in python_mounts())
    True
    >>> any(mount.writable for mount in python_mounts())
    False
    """
    packages = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    folders = [sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix, *packages, str(PACKAGE)]
    found = _outermost([mount for folder in folders for mount in _at_its_paths(folder)])
    # An interpreter in /usr or /usr/local is there already: to mount it would bring in what a backend keeps back.
    return tuple(mount for mount in found if mount.where != mount.source or not f"{mount.where}/".startswith(f"{USR}/"))


@cache
def base_mounts() -> tuple[Mount, ...]:
    """The interpreter and its library, without any package: every sandbox has them."""
    return tuple(_outermost([*_at_its_paths(USR), *_at_its_paths(sys.base_prefix)]))


def system_links() -> dict[str, str]:
    """The folders at the top that are links into `/usr`, with what they point at."""
    return {f"/{name}": os.readlink(f"/{name}") for name in SYSTEM if os.path.islink(f"/{name}")}


def system_mounts(policy: Policy) -> tuple[Mount, ...]:
    """What every sandbox has of the host; certificates where it may reach somebody by name."""
    return _system_mounts(base_mounts(), certificates=bool(policy.hosts))


@cache
def _system_mounts(base: tuple[Mount, ...], *, certificates: bool) -> tuple[Mount, ...]:
    folders = [f"/{name}" for name in SYSTEM if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}")]
    files = [*folders, *LOOKED_UP, *(CERTIFICATES if certificates else ())]
    return (*base, *(Mount(os.path.realpath(path), path) for path in files if os.path.exists(path)))


def check_mounts(policy: Policy) -> None:
    """Refuse sources that are not there, or that a symbolic link leads to: it could lead elsewhere tomorrow."""
    for mount in policy.mounts:
        real = os.path.realpath(mount.source)
        if real != mount.source:
            raise InvalidArgument(
                f"mount {mount.source}: expected a path without symbolic links, got one that leads to {real}; "
                "name that one if it is meant"
            )
        if not os.path.exists(real):
            raise InvalidArgument(f"mount {mount.source}: expected a folder or file, got nothing there")
    for inner in policy.mounts:
        for outer in policy.mounts:
            if outer.writable and inner.where.startswith(f"{outer.where}/"):
                _check_place(inner, f"{outer.source}{inner.where.removeprefix(outer.where)}")


def _check_place(mount: Mount, place: str) -> None:
    """A mount inside a writable one: its place must be there, or the host's side of the outer one would be changed."""
    if os.path.realpath(place) != place or not os.path.exists(place):
        raise InvalidArgument(
            f"mount {mount.source}: expected its place in a writable mount to be there, got no plain {place}; "
            "make it first"
        )


def in_order(mounts: tuple[Mount, ...]) -> list[Mount]:
    """Outer ones first, so that none hides another."""
    return sorted(mounts, key=lambda mount: mount.where.count("/"))


def _at_its_paths(folder: str) -> list[Mount]:
    """A folder at its real path and, where that is another, at the path it is known by."""
    known, real = os.path.abspath(folder), os.path.realpath(folder)
    return [Mount(real, path) for path in dict.fromkeys((real, known)) if os.path.exists(real)]


def _outermost(mounts: list[Mount]) -> list[Mount]:
    """Without those that lie in another one, at the same place in it."""
    kept: list[Mount] = []
    for mount in sorted(dict.fromkeys(mounts), key=lambda mount: mount.where):
        inside = any(
            mount.where.startswith(f"{one.where}/") and mount.source == one.source + mount.where.removeprefix(one.where)
            for one in kept
        )
        if not inside:
            kept.append(mount)
    return kept
