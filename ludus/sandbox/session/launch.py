"""How the agent of a session gets into the sandbox: a Python that is there reads its modules from the channel."""

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol, Unpack

from ludus.sandbox.backend import SandboxedProcess, StreamOptions
from ludus.sandbox.policy import Policy

__all__ = ["Launcher", "command", "modules"]

INSIDE = "ludus.sandbox.session.inside."
ORDER = ("wire", "capture", "shell", "tree", "supervisor", "files", "job", "agent")
"""Each module imports only those before it."""

BOOT = """
import json, os, sys, types
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece:
            sys.exit(1)
        data += piece
    return data
for name, text in json.loads(take(int.from_bytes(take(4), "big"))):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main(sys.argv[1])
"""

CHOOSE = """
for python in "$1" /usr/bin/python3 /usr/local/bin/python3 python3; do
  if command -v "$python" >/dev/null 2>&1; then exec "$python" -I -S -c "$2" "$3"; fi
done
echo 'no Python in the sandbox: a session needs one, from 3.8 on' >&2
exit 127
"""


class Launcher(Protocol):
    """What starts sandboxed processes: a `Sandbox`."""

    policy: Policy

    def start(self, argv: Sequence[str], **streams: Unpack[StreamOptions]) -> SandboxedProcess:
        """Start a command; see `Backend.start`."""
        ...


def command(shell: str) -> list[str]:
    """What to start, with the channel as descriptor 3."""
    return ["/bin/sh", "-c", CHOOSE, "sh", os.path.realpath(sys.executable), BOOT, shell]


@cache
def modules() -> bytes:
    """What to send first: the agent's modules, in order."""
    folder = Path(__file__).parent / "inside"
    sources = [(INSIDE + name, (folder / f"{name}.py").read_text(encoding="utf8")) for name in ORDER]
    data = json.dumps(sources).encode()
    return len(data).to_bytes(4, "big") + data
