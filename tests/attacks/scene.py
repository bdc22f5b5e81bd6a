"""`Scene`: everything that attacks are aimed at, and how it looks afterwards. All of it is made for them."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import msgspec

from ludus.sandbox import Mount, Sandbox
from tests.attacks.canaries import Canaries, secret
from tests.attacks.listeners import Listeners
from tests.attacks.sibling import Sibling
from tests.attacks.victims import Victims
from tests.ports import own_port

__all__ = ["AIMS", "Scene"]

MIB = 1 << 20
VARIABLE = "LUDUS_CANARY"
AIMS: dict[str, Any] = {
    "most_processes": 48,
    "most_memory": 144 * MIB,
    "most_disk": 24 * MIB,
    "most_names": 40_000,
    "most_file": 16 * MIB,
    "most_files": 256,
    "most_output": 4 * MIB,
    "spin": 2.0,
    "stay": 6.0,
    "hold": 8.0,
    "typed": "exit 7\n",
}
"""How far attacks go: beyond the limits that they are run with, and no further than a machine can bear."""
BARE: dict[str, Any] = {"most_names": 3000, "stay": 1.0, "hold": 1.0, "spin": 0.5}
"""Without isolation nobody ends them: they end sooner by themselves."""


class Scene:
    """Files, services and processes of the host, a descriptor that is open and a variable that is set."""

    def __init__(self, attacks: Iterable[str], *, bare: bool = False) -> None:
        self.bare = bare
        self.sibling: Sibling | None = None
        self.variable = secret()
        with ExitStack() as undo:
            self.free_port = undo.enter_context(own_port())
            self.canaries = Canaries(attacks)
            undo.callback(self.canaries.close)
            self.listeners = Listeners(self.canaries.folder)
            undo.callback(self.listeners.close)
            self.victims = Victims()
            undo.callback(self.victims.close)
            self._descriptor = os.open(self.canaries.temporary[0], os.O_RDONLY)
            undo.callback(os.close, self._descriptor)
            os.set_inheritable(self._descriptor, True)
            os.environ[VARIABLE] = self.variable
            undo.callback(os.environ.pop, VARIABLE)
            self.mounts = tuple(
                Mount(f"{self.canaries.folder}/{place}", writable=place == "shared") for place in ("shown", "shared")
            )
            self._undo = undo.pop_all()

    def aim(self) -> dict[str, Any]:
        """What attacks are told."""
        sibling = self.sibling
        marks = {**self.victims.marks, "sibling": sibling.mark if sibling else "nobody"}
        return {
            **AIMS,
            **(BARE if self.bare else {}),
            **self.canaries.aim(),
            **self.listeners.aim(),
            "pids": {**self.victims.pids, "sibling": sibling.pids if sibling else []},
            "marks": {name: mark[::-1] for name, mark in marks.items()},
            "sibling": sibling.place if sibling else {},
            "free_port": self.free_port,
            "suite": os.getpid(),
            "user": os.getuid(),
        }

    def add_sibling(self, sandbox: Sandbox) -> None:
        """Start another sandbox beside the one that attacks."""
        policy = msgspec.structs.replace(sandbox.policy, folder=self.canaries.own) if self.bare else sandbox.policy
        self.sibling = Sibling(sandbox, policy, self.aim())
        self._undo.callback(self.sibling.close)

    def close(self) -> None:
        """Remove all of it; harmless twice."""
        self._undo.close()

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
