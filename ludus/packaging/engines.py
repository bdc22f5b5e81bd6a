"""Container engines as programs: `podman` and `docker`, which build, run and push with the user's own settings.

As programs, not by their API: how to sign in to a registry is known to them alone.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING

from ludus.errors import InvalidArgument, SandboxUnavailable, listing
from ludus.sandbox import backend

if TYPE_CHECKING:
    from ludus.sandbox.containers.api import Api

__all__ = ["ENGINES", "EngineProgram", "engine"]

ENGINES = ("podman", "docker")
TAIL_CHARS = 2000


class EngineProgram:
    """One of them. Commands print to standard error as they go, or to `say`.

    >>> EngineProgram("podman").name
    'podman'
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def command(self, *arguments: str) -> list[str]:
        """The words that start it."""
        return [self.name, *(_podman_options() if self.name == "podman" else []), *arguments]

    def run(self, *arguments: str, say: Callable[[str], object] | None = None, **variables: str) -> str:
        """Run it, and return what it printed; SandboxUnavailable where it fails, with the end of what it said."""
        process = subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(variables),
            text=True,
            errors="replace",
        )
        lines: list[str] = []
        with process:
            for line in process.stdout or ():
                lines.append(line)
                if say is not None:
                    say(line.rstrip("\n"))
        if process.returncode:
            said = " ".join("".join(lines)[-TAIL_CHARS:].split())
            raise SandboxUnavailable(f"{self.name} {arguments[0]}: expected to succeed, got {said or 'nothing'}")
        return "".join(lines)

    def has(self, image: str) -> bool:
        """Whether an image is here."""
        try:
            self.run("image", "inspect", image)
        except SandboxUnavailable:
            return False
        return True

    def plain(self, image: str) -> list[str]:
        """What it takes to speak to a registry of this machine, which has no certificate; Docker knows by itself."""
        return ["--tls-verify=false"] if self.name == "podman" and _is_loopback(image.partition("/")[0]) else []

    def api(self) -> "Api":
        """Its API, for what the sandbox makes with it."""
        from ludus.sandbox.containers.engine import Engine  # engines are loaded when one is needed

        found = backend(self.name)
        if not isinstance(found, Engine):
            raise SandboxUnavailable(f"engine: expected one that has an API, got {self.name}")
        return found.connect()


def engine(name: str | None = None) -> EngineProgram:
    """The engine of that name, else the first that is installed; SandboxUnavailable says what to install."""
    if name is not None and name not in ENGINES:
        raise InvalidArgument(f"engine: expected one of {listing(ENGINES)}, got {name!r}")
    for one in (name,) if name else ENGINES:
        if shutil.which(one):
            return EngineProgram(one)
    raise SandboxUnavailable(
        f"engine: expected the program {name or ' or '.join(ENGINES)}, got none; apt-get install {name or ENGINES[0]}"
    )


def _podman_options() -> list[str]:
    """As the sandbox starts it: so both see the same images, and it needs no other program to run."""
    own = ["--events-backend=none", *(["--cgroup-manager=cgroupfs"] if os.geteuid() == 0 else [])]
    return [*own, "--runtime=runc"] if shutil.which("runc") else own


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **variables}


def _is_loopback(host: str) -> bool:
    name = host.rpartition(":")[0] or host
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
