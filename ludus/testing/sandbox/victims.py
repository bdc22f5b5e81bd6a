"""Processes of the host that nobody behind a wall may see or touch: shells that wait, and end with the suite."""

import os
import subprocess
from pathlib import Path
from typing import Any

from ludus.sandbox.user import GROUP, USER, drops_user
from ludus.testing.sandbox.canaries import secret

__all__ = ["Victims"]

PURPOSES = ("memory", "trace", "kill", "slow")
HOLD = 'read -r held; echo "$$"; read -r end'


class Victims:
    """For each purpose one of our own user, and where confined code is another user, one of that."""

    def __init__(self) -> None:
        self.secrets = {name: secret() for name in ("command", "variable", "memory")}
        self._word = os.urandom(8).hex()
        self.marks = {purpose: f"{self._word}-{purpose}" for purpose in PURPOSES}
        users: list[dict[str, Any]] = [{}]
        if drops_user():
            users.append({"user": USER, "group": GROUP, "extra_groups": []})
        self._processes = {purpose: [self._start(purpose, **user) for user in users] for purpose in PURPOSES}
        self._before = {pid: _standing(pid) for pid in self.pids["slow"]}

    def _start(self, purpose: str, **user: Any) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            ["/bin/sh", "-c", HOLD, self.marks[purpose], self.secrets["command"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"SECRET": self.secrets["variable"]},
            start_new_session=True,
            **user,
        )
        if process.stdin is not None and process.stdout is not None:
            process.stdin.write(f"{self.secrets['memory']}\n".encode())
            process.stdin.flush()
            process.stdout.readline()
        return process

    @property
    def pids(self) -> dict[str, list[int]]:
        """Their numbers, by purpose."""
        return {purpose: [one.pid for one in found] for purpose, found in self._processes.items()}

    def dead(self, purpose: str) -> str:
        """Those that were ended; empty where none."""
        return ", ".join(str(one.pid) for one in self._processes[purpose] if one.poll() is not None)

    def slowed(self) -> str:
        """Those whose priority, scheduling or limits were changed; empty where none."""
        return ", ".join(str(pid) for pid, before in self._before.items() if _standing(pid) != before)

    def close(self) -> None:
        """End all of them."""
        for process in (one for found in self._processes.values() for one in found):
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


def _standing(pid: int) -> tuple[Any, ...]:
    limits = Path(f"/proc/{pid}/limits").read_text(encoding="utf8")
    return os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid), limits
