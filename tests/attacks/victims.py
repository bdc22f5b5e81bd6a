"""Processes of the host that nobody in a sandbox may see or touch: shells that wait, and end with the suite."""

import ctypes
import os
import subprocess
from pathlib import Path
from typing import Any

from ludus.sandbox.user import GROUP, USER, drops_user
from tests.attacks.canaries import secret

__all__ = ["Victims"]

PURPOSES = ("memory", "trace", "kill", "slow", "signal")
HOLD = 'trap "echo signalled" WINCH; read -r held; echo "$$"; while read -r end; [ "$?" -gt 1 ]; do :; done'
"""A read that a signal interrupts is begun again; one that meets the end is the end."""


class Victims:
    """For each purpose one of our own user, and where sandboxed code is another user, one of that."""

    def __init__(self) -> None:
        self.secrets = {name: secret() for name in ("command", "variable", "memory")}
        self._word = os.urandom(8).hex()
        self.marks = {purpose: f"{self._word}-{purpose}" for purpose in PURPOSES}
        users: list[dict[str, Any]] = [{}]
        if drops_user():
            users.append({"user": USER, "group": GROUP, "extra_groups": []})
        self._processes = {purpose: [self._start(purpose, **user) for user in users] for purpose in PURPOSES}
        self._before = {pid: _standing(pid) for pid in self.pids["slow"]}

    def _start(self, purpose: str, **user: Any) -> Any:
        process: Any = subprocess.Popen(
            ["/bin/sh", "-c", HOLD, self.marks[purpose], self.secrets["command"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"SECRET": self.secrets["variable"]},
            start_new_session=True,
            **user,
        )
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

    def signalled(self) -> str:
        """Those that heard SIGWINCH; empty where none."""
        found: list[str] = []
        for one in self._processes["signal"]:
            one.stdin.close()
            found += [str(one.pid)] if one.stdout.read() else []
        return ", ".join(found)

    def slowed(self) -> str:
        """Those whose priority, scheduling or limits were changed; empty where none."""
        found = {pid: (before, _standing(pid)) for pid, before in self._before.items()}
        return ", ".join(f"{pid} ({_difference(*both)})" for pid, both in found.items() if both[0] != both[1])

    def close(self) -> None:
        """End all of them."""
        for process in (one for found in self._processes.values() for one in found):
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def _difference(before: tuple[Any, ...], after: tuple[Any, ...]) -> str:
    if before[:3] != after[:3]:
        return f"{before[:3]} to {after[:3]}"
    return "; ".join(sorted(set(after[3].splitlines()) - set(before[3].splitlines())))


def _standing(pid: int) -> tuple[Any, ...]:
    """Its priority, its scheduler, its priority at the disk, its limits."""
    number = {"x86_64": 252, "aarch64": 31}.get(os.uname().machine)
    disk = None if number is None else ctypes.CDLL(None).syscall(number, 1, pid)  # ioprio_get of a process
    limits = Path(f"/proc/{pid}/limits").read_text(encoding="utf8")
    return os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid), disk, limits
