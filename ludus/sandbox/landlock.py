"""`landlock`: for hosts without user namespaces. The kernel forbids files that were not named, a filter the rest.

Landlock guards opening, making, moving and removing files, TCP, and in later kernels signals; not the network beyond
TCP, sockets with a name, shared memory, nor the attributes of files. What it leaves open, the filter of system calls
shuts: no sockets but pairs, no shared memory of System V, no change of attributes where files of the same user exist.
"""

import ctypes
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache

from ludus.errors import InvalidArgument, SandboxUnavailable
from ludus.sandbox.backend import Backend, Guarantees, Probe, SandboxedProcess
from ludus.sandbox.enforcement import kill_means, limit_means, process_limits
from ludus.sandbox.launcher_process import FIRST_PIN, HOME, Step, launch, sized_home
from ludus.sandbox.mounts import HOST_SETTINGS, PACKAGE, system_mounts
from ludus.sandbox.pins import Pins, pinned
from ludus.sandbox.policy import Policy
from ludus.sandbox.seccomp import landlock_filter
from ludus.sandbox.streams import Streams
from ludus.sandbox.trial_start import try_start
from ludus.sandbox.user import can_be_replaced, closed_above, drops_user, group_of, user_of

__all__ = ["Landlock"]

CREATE_RULESET, VERSION = 444, 1
MIN_ABI = 3
"""Before it, any file could be emptied."""
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
TRUNCATE, DEVICES = 1 << 14, 1 << 15
MAKE_DEVICES = 1 << 6 | 1 << 11
FILE = EXECUTE | WRITE | READ | TRUNCATE | DEVICES
"""The rights that make sense on a file."""
TCP = 3
SCOPES = 3
"""Abstract sockets, signals."""
LOOKED_UP = "but for the size and time of a file whose path is known"
"""Landlock guards opening and listing; `stat` of a path is neither, and a filter cannot read paths."""
DEVICE_FILES = {"/dev/null": READ | WRITE, "/dev/zero": READ, "/dev/full": READ | WRITE} | dict.fromkeys(
    ("/dev/random", "/dev/urandom"), READ
)


class Landlock(Backend):
    """Files and TCP by Landlock, everything else by a filter of system calls; no namespaces, so no network at all.

    >>> Landlock().guarantees(Policy()).network
    'seccomp: no sockets'
    """

    name = "landlock"
    rank = 40

    def __init__(self) -> None:
        self._probe: Probe | None = None
        self._mounts = True
        """Whether root may mount here, until a probe has shown that it may not."""

    def probe(self) -> Probe:
        if self._probe is None or not self._probe.works:
            self._mounts = True
            self._probe = _try(self)
        if not self._probe.works and drops_user():
            self._mounts = False
            self._probe = _try(self)
        return self._probe

    def guarantees(self, policy: Policy) -> Guarantees:
        version = _version()
        _check_policy(policy)
        return Guarantees(
            backend=self.name,
            boundary=True,
            version=f"Landlock ABI {version}",
            user=f"user {user_of(policy)}, no capabilities, no new privileges" if drops_user() else "",
            files=f"Landlock, {LOOKED_UP}",
            network="seccomp: no sockets",
            syscalls="seccomp",
            other_processes="Landlock: no signals" if version >= 6 else "seccomp: no signals",
            disk=("tmpfs size" if self._sizes(policy) else "watched") if policy.limits.disk is not None else "",
            kill=kill_means(),
            **limit_means(policy.limits, without_pids="RLIMIT_NPROC above the user's others"),
        )

    def start(
        self,
        argv: Sequence[str],
        policy: Policy,
        *,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        channel: int | None = None,
    ) -> SandboxedProcess:
        guarantees = self.guarantees(policy)
        _check_sockets(one for one in (stdin, stdout, stderr, channel) if one is not None and one >= 0)
        with pinned(policy) as pins:
            return launch(
                argv,
                policy,
                guarantees,
                limits=process_limits(policy.limits, user=user_of(policy) if drops_user() else os.getuid()),
                restrictions=lambda home: _restrictions(policy, home, pins, sized=self._sizes(policy)),
                streams=Streams(stdin, stdout, stderr),
                channel=channel,
                pins=pins.values(),
                watched=not self._sizes(policy),
            )

    def _sizes(self, policy: Policy) -> bool:
        """Whether the home is one in memory, of a size that the kernel keeps."""
        return self._mounts and drops_user() and policy.limits.disk is not None


@cache
def _version() -> int:
    """The version of Landlock's interface; SandboxUnavailable where there is none, or one with holes."""
    if sys.platform != "linux":
        raise SandboxUnavailable(f"landlock: expected Linux, got {sys.platform}")
    found: int = ctypes.CDLL(None, use_errno=True).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
    if found < MIN_ABI:
        raise SandboxUnavailable(
            f"landlock: expected ABI {MIN_ABI} or later (Linux 6.2, with landlock among the kernel's lsm=), got {found}"
        )
    return found


def _check_policy(policy: Policy) -> None:
    if policy.network != "none":
        raise SandboxUnavailable(
            f"landlock: expected network 'none', got {policy.network!r}: without a network namespace it cannot be kept "
            "tight; take the backend 'bubblewrap'"
        )
    for mount in policy.mounts:
        if mount.where != mount.source:
            raise SandboxUnavailable(
                f"landlock: expected mounts at their own path, got {mount.source} at {mount.where}: it has no root of "
                "its own; take the backend 'bubblewrap'"
            )


def _check_sockets(descriptors: Iterable[int]) -> None:
    """A datagram socket reaches every named socket of the host."""
    for descriptor in descriptors:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            with socket.socket(fileno=os.dup(descriptor)) as one:
                if one.type not in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
                    raise InvalidArgument(f"descriptor {descriptor}: expected a stream, got {one.type.name}")


def _uncovered(policy: Policy, home: str) -> list[Step]:
    """Show what lies where only root may go, as an interpreter in root's home does, and nothing else that is there."""
    shown = [*(mount.source for mount in (*system_mounts(policy), *policy.mounts)), home]
    private = {path: top for path in shown if (top := closed_above(path)) is not None}
    for path, top in private.items():
        if can_be_replaced(top):  # root would make folders wherever it leads by then
            raise SandboxUnavailable(
                f"landlock: expected to show {path}, got a private folder above it, {top}, in whose place sandboxed "
                "code could put something else; take the backend 'bubblewrap'"
            )
    steps: list[Step] = [("pin", path) for path in private]
    steps += [("cover", top) for top in sorted(set(private.values()))]
    return steps + [("show", path) for path in sorted(private)]


def _restrictions(policy: Policy, home: str, pins: Pins, *, sized: bool) -> list[Step]:
    version = _version()
    everything = (1 << {3: 15, 4: 15}.get(version, 16)) - 1
    size = 8 if version < 4 else 16 if version < 6 else 24
    steps: list[Step] = [("hold", mount.source, number) for number, mount in enumerate(pins, FIRST_PIN)]
    steps += [("hold", home, HOME), *(_mounted(policy, home, sized=sized) if drops_user() else [])]
    steps += [("ruleset", size, everything, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)]
    steps += [("allow", path, rights & everything) for path, rights in _allowed(policy, home, pins).items()]
    if drops_user():
        steps.append(("user", user_of(policy), group_of(policy)))
    program = landlock_filter(own_user=drops_user(), signals=version >= 6)
    return [*steps, ("privileges",), ("restrict",), ("filter", program.hex())]


def _mounted(policy: Policy, home: str, *, sized: bool) -> list[Step]:
    """In mounts of its own, where root starts it: what lies in private folders, and a home of a limited size."""
    steps = _uncovered(policy, home)
    if sized and policy.limits.disk is not None:
        steps += sized_home(home, policy.limits.disk, user_of(policy), group_of(policy))
    else:
        os.chown(home, user_of(policy), group_of(policy), follow_symlinks=False)
    return [("mounts",), *steps] if steps else []


def _allowed(policy: Policy, home: str, pins: Pins) -> dict[str, int]:
    """Paths and rights; a later one adds to an earlier one."""
    writing = ((1 << 16) - 1) & ~MAKE_DEVICES & ~DEVICES
    found = dict(DEVICE_FILES)
    for mount in system_mounts(policy):
        found |= _allowed_within(mount.source)
    for mount in policy.mounts:
        rights = writing if mount.writable else EXECUTE | READ | LIST
        is_folder = os.path.isdir(f"/proc/self/fd/{pins[mount]}" if mount in pins else mount.source)
        found[mount.source] = rights if is_folder else rights & FILE
        if mount.source == str(PACKAGE):  # Python finds a package by listing the folder it is in
            found.setdefault(os.path.dirname(mount.source), LIST)
    return {**found, home: writing}


def _allowed_within(path: str) -> dict[str, int]:
    """What may be read of a folder or file of the system: of one that holds the host's settings, whatever else it has.

    A rule holds for all that lies below, so its neighbours are named one by one; names may be listed, and no more.
    """
    if not os.path.isdir(path):
        return {path: (EXECUTE | READ | LIST) & FILE}
    if not f"{HOST_SETTINGS}/".startswith(f"{path}/"):
        return {path: EXECUTE | READ | LIST}
    found = {path: LIST}
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.path != HOST_SETTINGS and not entry.is_symlink():
                found |= _allowed_within(entry.path)
    return found


def _try(backend: Landlock) -> Probe:
    """A file of the host must be out of reach."""
    try:
        version = f"Landlock ABI {_version()}"
    except SandboxUnavailable as error:
        return Probe(False, str(error))
    with tempfile.NamedTemporaryFile() as marker:
        os.chmod(marker.name, 0o644)
        reached = f"cat {marker.name} || : >>/proc/sys/kernel/core_pattern"  # opened, never written
        return try_start(backend, ["/bin/sh", "-c", f"({reached}) 2>/dev/null && exit 1; exit 0"], version)
