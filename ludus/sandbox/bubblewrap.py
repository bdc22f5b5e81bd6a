"""`bubblewrap`: namespaces, a root of its own, a filter of system calls, limits. The default below containers.

Root makes the namespaces by itself and becomes a user of no rights inside, so that it can show files of its own;
anybody else makes them in a user namespace. The chain is: a shell that enters the cgroup, `bwrap`, `prlimit`, for root
`setpriv`, and the command; each executes the next, and no Python is in between.
"""

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path

from ludus.errors import SandboxUnavailable
from ludus.sandbox.backend import Backend, Guarantees, Probe, SandboxedProcess
from ludus.sandbox.bwrap import options, program, start_script, tool
from ludus.sandbox.cgroup import Cgroup
from ludus.sandbox.enforcement import limit_means, make_cgroup, process_limits, tmpfs_means
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.namespace_process import NamespaceProcess
from ludus.sandbox.pins import Pins, pinned
from ludus.sandbox.policy import Mount, Policy
from ludus.sandbox.proxy import PORT, Proxy
from ludus.sandbox.seccomp import namespace_filter
from ludus.sandbox.spawn import spawn
from ludus.sandbox.streams import Streams
from ludus.sandbox.trial_start import try_start
from ludus.sandbox.user import can_be_replaced, drops_user, group_of, user_of

__all__ = ["Bubblewrap"]

OWN_PROCESSES = 2
"""Processes of ours in the cgroup: `bwrap` outside, and the first process inside; with a proxy, the relay too."""
RELAY, SOCKET, START = "/run/ludus/relay.py", "/run/ludus/socket", "/run/ludus/start"
ARGUMENTS, FILTER, STATUS, SCRIPT, FIRST_MOUNT = 4, 5, 6, 7, 8
"""Descriptors, beside the streams and the channel at 3."""
ENTER = 'set -e; [ "$PPID" = "$0" ]; while [ "$1" != -- ]; do echo 0 >"$1"; shift; done; shift; exec "$@"'
"""Die unless the parent lives, who would have taken us along; enter the cgroup; go on."""
COUNTED_INSIDE = (5, 14)
"""Since this Linux the processes of a user namespace are counted on their own."""


class Bubblewrap(Backend):
    """Every namespace, a root of its own, no capabilities, a filter of system calls, limits by cgroup.

    >>> Bubblewrap().guarantees(Policy()).files
    'mount namespace, own root'
    """

    name = "bubblewrap"
    rank = 50

    def __init__(self) -> None:
        self._probe: Probe | None = None

    def probe(self) -> Probe:
        if self._probe is None or not self._probe.works:
            self._probe = _try(self)
        return self._probe

    def guarantees(self, policy: Policy) -> Guarantees:
        root = drops_user()
        namespace_filter()  # raises where no filter is known for this machine
        return Guarantees(
            backend=self.name,
            boundary=True,
            version=program().version,
            user=f"{f'user {user_of(policy)}' if root else 'user namespace'}, no capabilities, no new privileges",
            files="mount namespace, own root",
            network=_network(policy),
            syscalls="seccomp",
            other_processes="pid and ipc namespaces",
            disk=tmpfs_means(policy.limits),
            kill="pid namespace",
            **limit_means(policy.limits, without_pids=_without_pids(policy, root=root)),
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
        with pinned(policy) as pins, ExitStack() as undo:
            streams = Streams(stdin, stdout, stderr)
            undo.callback(streams.close)
            undo.callback(streams.release)
            cgroup = make_cgroup(policy.limits, OWN_PROCESSES + (1 if policy.hosts else 0))
            if cgroup is not None:
                undo.callback(cgroup.remove)
            proxy = Proxy(policy.hosts) if policy.hosts else None
            if proxy is not None:
                undo.callback(proxy.close)
            descriptors = dict(streams.descriptors) if channel is None else {**streams.descriptors, 3: channel}
            descriptors |= _handed(pins)
            pid, status = _start(argv, policy, cgroup, proxy, descriptors, sources=dict(zip(pins, count(FIRST_MOUNT))))
            undo.pop_all()
        streams.release()
        return NamespaceProcess(pid, streams, policy.limits, guarantees, cgroup, status=status, proxy=proxy)


def _start(
    argv: Sequence[str],
    policy: Policy,
    cgroup: Cgroup | None,
    proxy: Proxy | None,
    descriptors: dict[int, int],
    *,
    sources: Mapping[Mount, int],
) -> tuple[int, int]:
    """Start the chain; the pid of its outermost process, and the status pipe."""
    root = drops_user()
    with ExitStack() as opened:
        extra = {} if proxy is None else {RELAY: str(Path(__file__).with_name("relay.py")), SOCKET: proxy.path}
        flags = options(policy, root=root, sources=sources, extra=extra)
        if policy.environment:
            descriptors[SCRIPT] = _written(start_script(policy), opened)
            flags = ["--perms", "0755", "--dir", "/run/ludus", "--perms", "0644", "--file", str(SCRIPT), START, *flags]
        descriptors[ARGUMENTS] = _written("".join(f"{flag}\0" for flag in flags).encode(), opened)
        descriptors[FILTER] = _written(namespace_filter(network=policy.network != "none"), opened)
        status, theirs = os.pipe()
        opened.callback(os.close, theirs)
        descriptors[STATUS] = theirs
        try:
            return spawn(
                [*_entering(cgroup), *_bwrap_command(), *_inside(policy, root=root), *argv], {}, descriptors
            ), status
        except BaseException:
            os.close(status)
            raise


def _handed(pins: Pins) -> dict[int, int]:
    """The sources of mounts as descriptors, which `bwrap` closes; by path it would take what is there by then."""
    if program().has("--bind-fd"):
        return dict(enumerate(pins.values(), FIRST_MOUNT))
    replaceable = [mount.source for mount in pins if can_be_replaced(mount.source)]
    if replaceable:
        raise SandboxUnavailable(
            f"bubblewrap: expected bwrap 0.10 or a distribution's with --bind-fd to mount {replaceable[0]}, in whose "
            f"place sandboxed code could put something else, got {program().version}; update it"
        )
    return {}


def _written(data: bytes, opened: ExitStack) -> int:
    descriptor = os.memfd_create("ludus", os.MFD_CLOEXEC)
    opened.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _entering(cgroup: Cgroup | None) -> list[str]:
    """A shell that is killed with the thread that starts it, from its first moment on."""
    entries = cgroup.entries if cgroup is not None else ()
    dying = [tool("setpriv", "util-linux"), "--pdeathsig", "KILL", "--"]
    return [*dying, "/bin/sh", "-c", ENTER, str(os.getpid()), *entries, "--"]


def _bwrap_command() -> list[str]:
    return [program().path, "--args", str(ARGUMENTS), "--seccomp", str(FILTER), "--json-status-fd", str(STATUS), "--"]


def _inside(policy: Policy, *, root: bool) -> list[str]:
    """The limits of each process, for root the way to become nobody, and then what the policy has a say in."""
    counted = not root and _kernel() >= COUNTED_INSIDE
    limits = process_limits(policy.limits, user=user_of(policy) if root or counted else None, alone=counted)
    found = [tool("prlimit", "util-linux"), *(f"--{one.name.lower()}={one.soft}:{one.hard}" for one in limits), "--"]
    if root:
        became = [f"--reuid={user_of(policy)}", f"--regid={group_of(policy)}", "--clear-groups"]
        found += [tool("setpriv", "util-linux"), *became]
        found += ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]
    if policy.environment:
        found += ["/bin/sh", START]
    if policy.hosts:
        found += [interpreter(), "-I", "-S", RELAY, str(PORT), SOCKET]
    return found


def _without_pids(policy: Policy, *, root: bool) -> str:
    """How processes are bounded without a cgroup: in a user namespace they are counted on their own."""
    if root:
        return f"RLIMIT_NPROC of user {user_of(policy)}"
    return "RLIMIT_NPROC of the user namespace" if _kernel() >= COUNTED_INSIDE else ""


def _network(policy: Policy) -> str:
    if policy.hosts:
        return f"network namespace, proxy to {', '.join(policy.hosts)}"
    return f"network namespace, {'empty' if policy.network == 'none' else 'own loopback'}"


@cache
def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())


def _try(backend: Bubblewrap) -> Probe:
    """A file of the host must be out of sight, and the kernel's settings out of reach."""
    try:
        version = program().version
    except SandboxUnavailable as error:
        return Probe(False, str(error))
    with tempfile.NamedTemporaryFile() as marker:
        unseen = f"[ ! -e {marker.name} ] && [ ! -w /proc/sys/kernel/core_pattern ]"
        found = try_start(backend, ["/bin/sh", "-c", f"{unseen} || {{ echo the isolation leaks; exit 1; }}"], version)
    if found.works or drops_user():
        return found
    return Probe(False, f"{found.detail}; are user namespaces switched off here (sysctl kernel.*userns*)?")
