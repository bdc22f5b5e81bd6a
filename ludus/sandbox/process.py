"""`process`: a plain child process with limits. It is no boundary, and never chosen unless it is asked for by name.

No boundary, and no danger to the machine either: what it signals are processes of its own. It is put into a PID
namespace, made by root or else in a user namespace, and where root starts it, it becomes the sandboxed user. That user
keeps one right of root's, to read (CAP_DAC_READ_SEARCH): a module in root's home, an interpreter that was installed
there and the data beside them are as readable as they were, and nothing of them can be changed. What else there was to
choose from:

- Showing what a policy names by mounts, as `landlock` does: what an environment reads beside that is lost, and so is
  every file that only its owner may read. That is a boundary, and there are backends that are one.
- Opening files before the user is dropped: an import cannot be handed descriptors.
- The right to write as well (CAP_DAC_OVERRIDE): what may write root's files is root.
- Staying root wherever something private is named: so it would be on every machine whose interpreter is root's.

Root is kept only where its program could not be used otherwise: a file that none but root may execute, or a container
whose root has no such right and a policy that names something private. Where there is neither a namespace nor another
user to be had, it says so once, as a `SandboxWarning`.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from ludus.errors import SandboxUnavailable
from ludus.sandbox.backend import Backend, Guarantees, Probe, SandboxedProcess, SandboxWarning
from ludus.sandbox.enforcement import kill_means, limit_means, process_limits
from ludus.sandbox.launcher_process import Step, launch, sized_home
from ludus.sandbox.policy import Policy
from ludus.sandbox.streams import Streams
from ludus.sandbox.trial_start import try_start
from ludus.sandbox.user import check_writable, drops_user, group_of, may_execute, may_use, user_of

__all__ = ["UNSEEN", "ProcessBackend"]

UNSEEN = "but for files that are removed, closed and still mapped"
"""Where it is no limit to whoever means it ill; a trusted program that works so is not ended for it."""
READS = "no right of root but to read"
SHARED_MEMORY, OF_ITS_USER = "but for shared memory of System V", "and files of its user's other sandboxes"
SET_USER_ID = "but for set-user-id bits on files of its own"
"""It has no filter of system calls."""
READ_SEARCH = 2
"""The number of the capability to read any file and to enter any folder."""


class ProcessIsolation(NamedTuple):
    """How far a plain process is kept to itself."""

    namespace: str
    """How its PID namespace is made, as `root` or in a `user` namespace; empty: it has none."""
    drops: bool
    """Whether root becomes the sandboxed user."""


class ProcessBackend(Backend):
    """Limits, a cleared environment, signals within its own tree and a certain end, for code that is trusted.

    It sees what you may see, and unless you are root it may change what you may change.

    >>> ProcessBackend().guarantees(Policy()).boundary
    False
    """

    name = "process"
    boundary = False
    rank = 0

    def __init__(self) -> None:
        self._probe: Probe | None = None
        self._form: ProcessIsolation | None = None
        self._warned = False

    def probe(self) -> Probe:
        if self._probe is None or not self._probe.works:
            for self._form in _forms():
                self._probe = try_start(self, ["/bin/sh", "-c", "exit 0"])
                if self._probe.works:
                    break
            self._warn_of("")
        return self._probe or Probe(False, "nothing was tried")

    def guarantees(self, policy: Policy) -> Guarantees:
        # A link that leads there already is no other place: a virtual environment may be known by one.
        moved = [mount.where for mount in policy.mounts if os.path.realpath(mount.where) != mount.source]
        if moved:
            raise SandboxUnavailable(
                f"process: expected mounts at their own path, got {moved[0]}: it sees the host's files as they are; "
                "take the backend 'bubblewrap'"
            )
        form = self._probed()
        return Guarantees(
            backend=self.name,
            boundary=False,
            user=_user(policy) if form.drops else "",
            other_processes=_others(policy, form) if form.namespace else "",
            **limit_means(policy.limits),
            disk=_disk_means(form) if policy.limits.disk is not None else "",
            kill="pid namespace" if form.namespace else kill_means(),
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
        guarantees, form = self.guarantees(policy), self._probed()
        if form.drops and (reason := _unusable(argv, policy)):
            form, guarantees = form._replace(drops=False), msgspec.structs.replace(guarantees, user="")
            self._warn_of(reason)
        if form.drops:
            check_writable(policy.mounts, user_of(policy))
        return launch(
            argv,
            policy,
            guarantees,
            limits=process_limits(policy.limits),
            restrictions=lambda home: _restrictions(policy, home, form),
            streams=Streams(stdin, stdout, stderr),
            channel=channel,
            namespace=form.namespace,
        )

    def _probed(self) -> ProcessIsolation:
        if self._form is None:
            self.probe()
        return self._form or ProcessIsolation("", False)

    def _warn_of(self, reason: str) -> None:
        """Tell, once, that it could have been kept to itself and is not."""
        if self._warned or (not reason and self._form != ProcessIsolation("", False)):
            return
        self._warned = True
        got = reason or "neither a PID namespace nor another user to give it"
        warnings.warn(
            f"process: expected sandboxed code to signal and change nothing but its own, got {got}: it may do all that "
            f"user {os.geteuid()} may; take a backend that is a boundary, or allow user namespaces here "
            "(sysctl kernel.*userns*)",
            SandboxWarning,
            stacklevel=4,
        )


def _forms() -> list[ProcessIsolation]:
    """What to try, the best first."""
    if sys.platform != "linux":
        return [ProcessIsolation("", False)]
    if drops_user():
        return [ProcessIsolation(namespace, drops) for drops in (True, False) for namespace in ("root", "")]
    return [ProcessIsolation("user", False), ProcessIsolation("", False)]


def _restrictions(policy: Policy, home: str, form: ProcessIsolation) -> list[Step]:
    if _sizes(form) and policy.limits.disk is not None:
        return [*sized_home(home, policy.limits.disk, os.geteuid(), os.getegid()), ("privileges",)]
    if not form.drops:
        return [("privileges",)]
    os.chown(home, user_of(policy), group_of(policy), follow_symlinks=False)
    return [("reader" if _reads_all() else "user", user_of(policy), group_of(policy)), ("privileges",)]


def _others(policy: Policy, form: ProcessIsolation) -> str:
    """What keeps it from others, and from what of theirs nothing does; a home in mounts of its own nobody else sees."""
    unseen = _sizes(form) and policy.limits.disk is not None
    return f"pid namespace, {SHARED_MEMORY}" + ("" if unseen else f" {OF_ITS_USER}")


def _sizes(form: ProcessIsolation) -> bool:
    """Whether its home is one in memory, of a size that the kernel keeps: in the mounts of a user namespace it can be.

    Who may look behind mappings watches a folder on the disk instead, which takes no memory. Nameless files that it
    leaves beside its home, in the host's temporary folder, are watched either way.
    """
    return form.namespace == "user" and not _sees_mapped()


def _disk_means(form: ProcessIsolation) -> str:
    """What keeps the limit of its folder; only root may learn how large a file is of which a mapping alone is left."""
    if _sizes(form):
        return "tmpfs size"
    return "watched" if _sees_mapped() else f"watched, {UNSEEN}"


@cache
def _sees_mapped() -> bool:
    """Whether this process may look behind a mapping, going by one of its own."""
    folder = "/proc/self/map_files"
    try:
        return all(os.stat(f"{folder}/{one}") for one in os.listdir(folder)[:1])
    except OSError:
        return False


def _user(policy: Policy) -> str:
    rights = READS if _reads_all() else "no capabilities"
    return f"user {user_of(policy)}, {rights}, no new privileges, {SET_USER_ID}"


def _reads_all() -> bool:
    """Whether this process may read what it pleases, and so may hand that on."""
    status = Path("/proc/self/status").read_text(encoding="utf8")
    return bool(int(status.partition("CapPrm:")[2].split()[0], 16) >> READ_SEARCH & 1)


def _unusable(argv: Sequence[str], policy: Policy) -> str:
    """Why a command could not run as the sandboxed user; empty where it can."""
    program = os.path.realpath(argv[0]) if os.path.isabs(argv[0]) else ""
    if program and os.path.exists(program) and not may_execute(program, user_of(policy)):
        return f"a program that only its owner may execute, {program}"
    named = [] if _reads_all() else [*filter(None, [program]), *(mount.source for mount in policy.mounts)]
    private = [path for path in named if os.path.exists(path) and not may_use(path, user_of(policy))]
    return f"a path that only its owner may read, {private[0]}" if private else ""
