"""A podman service of our own, on a socket of our own: it ends when this process does, however that ends."""

import atexit
import os
import resource
import select
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ludus.errors import SandboxUnavailable
from ludus.sandbox.containers.api import Api
from ludus.sandbox.leftovers import private_folder

__all__ = ["PodmanService", "most_files", "most_processes", "shared_service"]

START_TIMEOUT_S = 20.0
POLL_INTERVAL_S = 0.01
SUPERVISE = '"$@" & exec >&-; read -r _; kill "$!"; wait'
"""A shell that waits for the end of its input, which comes when the process that holds the other end ends."""
CONFIGURATION = """[containers]
base_hosts_file = "none"
no_hosts = true
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]

[engine]
exit_command_delay = 1
"""


class PodmanService:
    """`podman system service` with a configuration that holds nothing of this machine's."""

    def __init__(self, *options: str) -> None:
        self.folder = private_folder("box")
        self.api = Api(f"{self.folder}/podman.sock")
        self._process = os.getpid()
        configuration = Path(self.folder, "containers.conf")
        configuration.write_text(CONFIGURATION.format(files=most_files(), processes=most_processes()))
        self._log = Path(self.folder, "service.log")
        command = ["podman", "--log-level=error", *options, "system", "service", "--time=0", f"unix://{self.api.path}"]
        self._shell = _supervised(command, {"CONTAINERS_CONF": str(configuration)}, self._log)
        try:
            self._await()
        except BaseException:
            self.stop()
            raise

    def alive(self) -> bool:
        """Whether it is still there, and ours: a fork uses its parent's no longer than the parent lives."""
        return self._process == os.getpid() and not _ended(self._shell, 0)

    def stop(self) -> None:
        """End it, and remove what it left; harmless twice."""
        if self._process != os.getpid():
            return
        if self._shell.stdin is not None:
            self._shell.stdin.close()
        self._shell.wait(START_TIMEOUT_S)
        if self._shell.stdout is not None:
            self._shell.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await(self) -> None:
        end = time.monotonic() + START_TIMEOUT_S
        while not (os.path.exists(self.api.path) and self.api.answers()):
            if _ended(self._shell, POLL_INTERVAL_S) or time.monotonic() > end:
                output = self._log.read_text(errors="replace").strip()[-500:]
                raise SandboxUnavailable(f"podman: expected its service to start, got: {output or 'no answer'}")


_shared: dict[tuple[str, ...], PodmanService] = {}
_lock = threading.Lock()


def shared_service(*options: str) -> PodmanService:
    """The service with these options of this process, started if it is not there."""
    with _lock:
        service = _shared.get(options)
        if service is None or not service.alive():
            service = _shared[options] = PodmanService(*options)
            atexit.register(service.stop)
        return service


def most_files() -> int:
    """What podman may set as a limit of open files."""
    return _most("NOFILE")


def most_processes() -> int:
    """What podman may set as a limit of processes: it lowers its own to the highest pid, and cannot raise it again."""
    return min(_most("NPROC"), int(Path("/proc/sys/kernel/pid_max").read_text()))


def _most(name: str) -> int:
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    return 1 << 20 if hard == resource.RLIM_INFINITY else hard


def _supervised(command: Sequence[str], variables: dict[str, str], log: Path) -> "subprocess.Popen[bytes]":
    with open(log, "wb") as file:
        return subprocess.Popen(
            ["sh", "-c", SUPERVISE, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # closes when the command ends
            stderr=file,
            env={**os.environ, **variables},
            cwd=log.parent,  # where memory ran out, conmon leaves a file in the folder it was started from
            start_new_session=True,
        )


def _ended(shell: "subprocess.Popen[bytes]", seconds: float) -> bool:
    return shell.stdout is not None and bool(select.select([shell.stdout], [], [], seconds)[0])
