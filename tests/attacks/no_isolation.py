"""`NoIsolation`: no sandbox at all. Attacks are shown against it, so that it is known that they can succeed.

Only ever in namespaces that were made for it (see `isolated`): the victims are inside, and the machine is not.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ludus.sandbox import Backend, Guarantees, Limits, Policy, Probe, Sandbox, SandboxedProcess, Usage
from tests.attacks.isolated import check_isolated

__all__ = ["NoIsolation", "without_isolation"]

BESIDE = '"$@"; exit $?'
"""A shell in between: whoever kills its parent kills this one."""
UNLIMITED = Limits(
    wall=None, cpu=None, memory=None, processes=None, file_size=None, disk=None, open_files=None, output=None
)


class NoIsolation(Backend):
    """A plain child process, which inherits everything and is asked for nothing; SandboxError outside of a worker.

    >>> NoIsolation().guarantees(Policy()).enforced
    ()
    """

    name = "none"
    boundary = False
    rank = -1

    def probe(self) -> Probe:
        return Probe(True, "")

    def guarantees(self, policy: Policy) -> Guarantees:
        del policy
        return Guarantees(backend=self.name, boundary=False)

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
        check_isolated()
        streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        given: dict[str, Any] = {name: subprocess.DEVNULL if one is None else one for name, one in streams.items()}
        process: Any = subprocess.Popen(
            ["/bin/sh", "-c", BESIDE, "sh", *argv],
            close_fds=False,
            start_new_session=True,
            cwd=policy.folder,
            preexec_fn=None if channel is None else lambda: os.dup2(channel, 3),  # noqa: PLW1509  (3 is the channel)
            **given,
        )
        return _Unconfined(process, self.guarantees(policy))


class _Unconfined(SandboxedProcess):
    def __init__(self, process: "subprocess.Popen[bytes]", guarantees: Guarantees) -> None:
        self._process, self.pid, self.guarantees = process, process.pid, guarantees
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr

    def wait(self, timeout: float | None = None) -> int | None:
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """As far as a careless program would: the process group."""
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def usage(self) -> Usage:
        return Usage()

    def close(self) -> None:
        self.kill()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()


def without_isolation() -> Sandbox:
    """A sandbox that is none.

    >>> without_isolation().backend.boundary
    False
    """
    sandbox = Sandbox("process", limits=UNLIMITED)
    sandbox.backend = NoIsolation()
    return sandbox
