"""Pins: what is going to be mounted, held by descriptor from the moment it is looked at, whatever takes its place."""

import os
import stat
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager

from ludus.errors import SandboxError
from ludus.sandbox.mounts import check_mounts, in_order
from ludus.sandbox.policy import Mount, Policy
from ludus.sandbox.user import check_access, user_of

__all__ = ["Pins", "pinned"]

Pins = Mapping[Mount, int]
"""Descriptors of the sources of mounts, outer mounts first."""


@contextmanager
def pinned(policy: Policy) -> Generator[Pins, None, None]:
    """Check the mounts of a policy, and hold on to their sources while something is started.

    Somebody who may write above a source can put something else there at any moment: what is found by its path later is
    another thing. SandboxError where that is noticed, and wherever else the system says no on the way to a start.
    """
    try:
        with ExitStack() as opened:
            check_mounts(policy)
            pins = {mount: _pin(mount.source, opened) for mount in in_order(policy.mounts)}
            check_access(pins, user_of(policy))
            yield pins
    except OSError as error:
        raise SandboxError(f"sandbox: expected to start, got {type(error).__name__}: {error}") from error


def _pin(source: str, opened: ExitStack) -> int:
    """A descriptor of what is at a path, to which no link has led."""
    descriptor = os.open(source, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    opened.callback(os.close, descriptor)
    moved = os.readlink(f"/proc/self/fd/{descriptor}") != source
    if moved or stat.S_ISLNK(os.fstat(descriptor).st_mode):
        raise SandboxError(f"mount {source}: expected a path without symbolic links, got one that changed meanwhile")
    return descriptor
