"""The user that sandboxed code is where root starts it, and what it is given of the host's files."""

import os
import stat
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from ludus.errors import InvalidArgument
from ludus.sandbox.policy import MAX_USERS, Mount, Policy

__all__ = [
    "GROUP",
    "USER",
    "can_be_replaced",
    "check_access",
    "check_writable",
    "closed_above",
    "drops_user",
    "give",
    "group_of",
    "is_confined",
    "may_execute",
    "may_use",
    "user_of",
]

USER = 71000
"""Between the users of machines (below 65536) and the first range that is handed out to containers (100000 and up)."""
GROUP = 71000


def drops_user() -> bool:
    """Whether sandboxed code is to become `USER`: root starts it."""
    return os.geteuid() == 0


def user_of(policy: Policy) -> int:
    """The user that code under a policy becomes where root starts it.

    >>> user_of(Policy(user=1)) - user_of(Policy())
    1
    """
    return USER + policy.user


def group_of(policy: Policy) -> int:
    """The group that goes with `user_of`."""
    return GROUP + policy.user


def is_confined(user: int) -> bool:
    """Whether a user is one of those that sandboxed code becomes."""
    return USER <= user < USER + MAX_USERS


def give(path: str | Path, user: int = 0) -> None:
    """Hand a folder (or file) and all that is in it to sandboxed code, so that it can be mounted writable.

    Started by root, sandboxed code is a user of its own, who owns nothing; started by anybody else it is that user, and
    nothing is to be done. Symbolic links are given, never what they point at. A file that has another name elsewhere, a
    hard link, would be handed over there as well: it is refused, before anything is given. `user` is `Policy.user`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     give(folder)
    """
    if not drops_user():
        return
    _refuse_links(path)
    owner, group = USER + user, GROUP + user
    os.chown(path, owner, group, follow_symlinks=False)
    for _, folders, files, descriptor in os.fwalk(path):
        for name in (*folders, *files):
            os.chown(name, owner, group, dir_fd=descriptor, follow_symlinks=False)


def _refuse_links(path: str | Path) -> None:
    """Refuse files with names outside the folder; one whose names are all in it is given with them."""
    names: dict[tuple[int, int], tuple[int, str]] = {}
    for folder, _, files, descriptor in os.fwalk(path):
        for name in files:
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if found.st_nlink > 1:
                key = found.st_dev, found.st_ino
                names[key] = names.get(key, (found.st_nlink, ""))[0] - 1, os.path.join(folder, name)
    if os.path.isfile(path) and not os.path.islink(path) and os.stat(path).st_nlink > 1:
        names[0, 0] = 1, str(path)
    for left, name in names.values():
        if left:
            raise InvalidArgument(
                f"give: expected files that are nowhere else, got {name}, which {left} more name{'s' * (left > 1)} "
                "outside of the folder link to; copy it instead (git clone --no-hardlinks, cp without -l)"
            )


def check_access(pins: Mapping[Mount, int], user: int = USER) -> None:
    """Refuse a mount that sandboxed code could not use, before it finds out itself; by descriptors of the sources."""
    for mount, descriptor in pins.items() if drops_user() else ():
        _check(mount, os.fstat(descriptor), user)


def check_writable(mounts: Iterable[Mount], user: int = USER) -> None:
    """Refuse what is to be writable and would not be, where sandboxed code may read all there is."""
    for mount in mounts:
        if mount.writable and os.path.exists(mount.source):
            _check(mount, os.stat(mount.source), user)


def _check(mount: Mount, found: os.stat_result, user: int) -> None:
    if not _allows(found, _required_access(mount, found), user):
        verb = "write" if mount.writable else "read"
        raise InvalidArgument(
            f"mount {mount.source}: expected a path that user {user} may {verb}, got one of user {found.st_uid} "
            f"with mode {stat.S_IMODE(found.st_mode):o}; hand it over with ludus.sandbox.give(path)"
        )


def closed_above(path: str) -> str | None:
    """The uppermost folder on the way to a path that not everybody may enter; None where there is none."""
    ways = [folder for folder in Path(path).parents if not os.stat(folder).st_mode & 0o001]
    return str(ways[-1]) if ways else None


def may_use(path: str, user: int = USER) -> bool:
    """Whether a sandboxed user may reach a path and read what is there."""
    found = os.stat(path)
    return closed_above(path) is None and _allows(found, 5 if stat.S_ISDIR(found.st_mode) else 4, user)


def may_execute(path: str, user: int = USER) -> bool:
    """Whether a sandboxed user, once it is there, may execute a file."""
    return _allows(os.stat(path), 1, user)


def can_be_replaced(path: str) -> bool:
    """Whether sandboxed code, if it is given a folder above a path, could put something else in its place."""
    way = [path, *map(str, Path(path).parents)]
    return any(_may_replace(os.lstat(folder), os.lstat(entry)) for entry, folder in pairwise(way))


def _may_replace(folder: os.stat_result, entry: os.stat_result) -> bool:
    """Lists of rights beyond the mode show in the bits of the group."""
    ours = is_confined if drops_user() else os.geteuid().__eq__
    owner = ours(folder.st_uid)
    writable = owner or bool(folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    return writable and (owner or not folder.st_mode & stat.S_ISVTX or ours(entry.st_uid))


def _required_access(mount: Mount, found: os.stat_result) -> int:
    enter = 1 if stat.S_ISDIR(found.st_mode) else 0
    return 4 | enter | (2 if mount.writable else 0)


def _allows(found: os.stat_result, access: int, user: int) -> bool:
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid == user:
        mode >>= 6
    elif found.st_gid == user - USER + GROUP:
        mode >>= 3
    return mode & access == access
