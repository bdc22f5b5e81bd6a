"""How Chromium is started: in a sandbox of ours, or, inside of one already, in that.

A sandbox inside of another one would need the namespaces that the outer one forbids. There the browser runs beside the
environment, with what the outer sandbox leaves to both: no network, its memory and its files. That is the boundary to
the machine as it is outside; what a page that breaks out of its renderer reaches is this one environment.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ludus.errors import SandboxUnavailable
from ludus.sandbox import Limits, Mount, Sandbox
from ludus.sandbox.enforcement import is_nested

__all__ = ["Launched", "launch"]

MEMORY = 6 << 30
PROCESSES = 4096
THREADS = 200
"""What a browser with a few pages has of them."""
END_SECONDS = 10.0
FOUND = 'exec "$0" "--user-data-dir=${TMPDIR:-/tmp}/profile" "$@"'
"""The profile is where the sandbox lets it write."""
OWN = f"{FOUND} 4>&3"
"""The one channel is what it reads and what it writes."""
BESIDE = f"{FOUND} 3<&0 4>&0 </dev/null"
ENVIRONMENT = {"TZ": "UTC", "LANG": "en_US.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


class Launched(Protocol):
    """A browser's first process."""

    pid: int

    def kill(self) -> None:
        """End it, and all that it started."""
        ...

    def close(self) -> None:
        """The same, and leave nothing; harmless twice."""
        ...


def launch(program: str, flags: tuple[str, ...]) -> tuple[Launched, socket.socket]:
    """Start it, and give the channel that leads to it; SandboxUnavailable where no boundary can be had."""
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            argv = [program, *flags, "about:blank"]
            return (_Beside(argv, theirs) if is_nested() else _in_sandbox(argv, theirs)), ours
    except BaseException:
        ours.close()
        raise


def _in_sandbox(argv: list[str], channel: socket.socket) -> Launched:
    limits = Limits(
        wall=None, memory=MEMORY, processes=PROCESSES, file_size=1 << 30, disk=1 << 30, open_files=_open_files()
    )
    mounts = [Mount(path) for path in ("/etc/fonts", "/opt") if os.path.isdir(path)]
    try:  # Bubblewrap and no other: Landlock forbids the sockets by which Chromium's own processes talk.
        sandbox = Sandbox("bubblewrap", limits=limits, mounts=mounts, environment=ENVIRONMENT)
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            "BrowserGym: expected bubblewrap to start here, or a sandbox of bubblewrap around the environment; make it "
            f"with isolation='bubblewrap' or without, got: {error}"
        ) from None
    command = ["/bin/sh", "-c", OWN, *argv]
    return sandbox.start(command, stderr=subprocess.DEVNULL, channel=channel.fileno())


def _open_files() -> int:
    import resource  # not on every platform, and neither is the sandbox

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)


class _Beside:
    """A browser in the sandbox of its environment."""

    def __init__(self, argv: list[str], channel: socket.socket) -> None:
        _check_no_network()
        _check_threads()
        self._folder = tempfile.mkdtemp(prefix="browser")
        environment = {**ENVIRONMENT, "PATH": "/usr/bin:/bin", "HOME": self._folder, "TMPDIR": self._folder}
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", BESIDE, *argv],
            stdin=channel.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=self._folder,
        )
        self.pid = self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)


def _check_threads() -> None:
    """A browser that may start no more threads hangs without a word: so as many are tried as it needs."""
    done = threading.Event()
    tried = [threading.Thread(target=done.wait, daemon=True) for _ in range(THREADS)]
    begun = 0
    try:
        for one in tried:
            one.start()
            begun += 1
    except RuntimeError:
        raise SandboxUnavailable(
            f"BrowserGym: expected room for {THREADS} threads of a browser in the sandbox around it, got {begun}; make "
            "it with isolation=Sandbox(limits=Limits(wall=None, memory=4 << 30, processes=1024)), or without"
        ) from None
    finally:
        done.set()


def _check_no_network() -> None:
    """Pages see no network: what the protocol does not show us (sockets, WebRTC, names) has to have nowhere to go."""
    with suppress(OSError):
        lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
        found = sorted({line.partition(":")[0].strip() for line in lines} - {"lo"})
        if not found:
            return
        raise SandboxUnavailable(
            f"BrowserGym: expected a sandbox without network around it, got one with {', '.join(found)}; "
            "make it with network='none', or without isolation"
        )
    raise SandboxUnavailable("BrowserGym: expected /proc/net/dev to tell that there is no network here, got none")
