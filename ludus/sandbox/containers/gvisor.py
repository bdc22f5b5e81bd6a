"""`gvisor`: podman's containers on a kernel of their own, in user space; the host's kernel is out of their reach."""

import os
import stat
import subprocess
from collections.abc import Sequence
from typing import ClassVar, Unpack

import msgspec

from ludus.errors import InvalidArgument
from ludus.sandbox.backend import SandboxedProcess, StreamOptions
from ludus.sandbox.containers.api import Api
from ludus.sandbox.containers.container import Container
from ludus.sandbox.containers.description import EngineSetup, keepers
from ludus.sandbox.containers.engine import Engine
from ludus.sandbox.containers.podman import require, service
from ludus.sandbox.containers.verification import gofer, missing_limits, missing_sentry, replaced
from ludus.sandbox.pins import Pins
from ludus.sandbox.policy import Mount, Policy

__all__ = ["Gvisor"]

OPTIONS = (
    "--runtime=runsc",
    "--runtime-flag=platform=ptrace",
    "--runtime-flag=network=none",
    "--runtime-flag=host-uds=open",
)
"""ptrace needs no hardware. Of the host's sockets only those in mounts are there to be opened: our own."""
TASKS, EACH = 128, 4
"""Threads of the host that gVisor takes for itself, and for each process."""


class Gvisor(Engine):
    """Containers of podman on gVisor's kernel: the strongest isolation, and slow at system calls.

    >>> Gvisor().rank
    120
    """

    name = "gvisor"
    rank = 120
    means: ClassVar[dict[str, str]] = {
        "user": "another user of gVisor's kernel, without capabilities or new privileges",
        "syscalls": "gVisor's kernel in user space, with our filter in it and its own around it",
        "other_processes": "gVisor's kernel",
        "kill": "end of gVisor's kernel",
    }
    counting = "RLIMIT_NPROC of gVisor's kernel; pids cgroup around it"
    native = False

    def connect(self) -> Api:
        require("podman", "apt-get install podman runc")
        require("runsc", "apt-get install runsc")
        return service(*OPTIONS)

    def start(self, argv: Sequence[str], policy: Policy, **streams: Unpack[StreamOptions]) -> SandboxedProcess:
        for name, stream in streams.items():
            if isinstance(stream, int) and stream >= 0 and stat.S_ISREG(os.fstat(stream).st_mode):
                raise InvalidArgument(
                    f"{name}: expected a pipe, a socket or DEVNULL for gvisor, got a file, whose position its kernel "
                    "does not share with the host's; pass PIPE and copy"
                )
        return super().start(argv, policy, **streams)

    def _versions(self, api: Api) -> str:
        output = subprocess.run(["runsc", "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
        return f"{api.version()}, {output.partition(chr(10))[0]}"

    def _place(self, api: Api, policy: Policy) -> EngineSetup:
        most = policy.limits.processes
        place = super()._place(api, policy)
        return msgspec.structs.replace(place, processes=None if most is None else most + keepers(policy))

    def _missing_isolation(self, container: Container) -> list[str]:
        return missing_sentry(container.pid)

    def _replaced(self, container: Container, pins: Pins) -> list[Mount]:
        server = gofer(container.pid)
        return list(pins) if server is None else replaced(server, pins)

    def _open_limits(self, container: Container, policy: Policy) -> list[str]:
        return missing_limits(container.group, policy.limits, self._tasks(policy))

    def _tasks(self, policy: Policy) -> int | None:
        return None if policy.limits.processes is None else TASKS + EACH * policy.limits.processes
