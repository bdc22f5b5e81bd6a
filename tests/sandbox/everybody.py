"""Signals to everybody, sent where everybody is known: called by a worker with namespaces of its own, never else."""

import os
import signal
import subprocess
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from ludus.sandbox import Limits, Sandbox, process
from ludus.sandbox.process import ProcessBackend, ProcessIsolation
from tests.attacks.isolated import Isolated, check_isolated


def kill_in_session(form: list[Any] | None) -> dict[str, Any]:
    """A session of `process` that kills everybody it can: what is left of a decoy, and of a session beside it."""
    check_isolated()
    chosen = process._forms if form is None else lambda: [ProcessIsolation(*form)]
    warnings.simplefilter("ignore")
    ordinary, process._forms = process._forms, chosen
    try:
        box = Sandbox(ProcessBackend(), limits=Limits(wall=60))
    finally:
        process._forms = ordinary
    decoy: Any = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    with box.open_session(restart=True) as session:
        lost = session.run("kill -9 -1; kill -9 1; kill -9 $PPID; kill -9 $$").lost
        try:
            again = session.run("echo still here").stdout.decode()
        except Exception as error:
            again = str(error)
    survived = decoy.poll() is None
    decoy.stdin.close()
    return {"lost": lost, "decoys": [survived, decoy.wait() == 0], "again": again}


def kill_from_within() -> list[bool]:
    """A worker in this worker that kills everybody it can, and a decoy in this one: whether it, and they, survived."""
    check_isolated()
    decoy: Any = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    with Isolated() as inner:
        own = inner.call("tests.sandbox.everybody:kill_everybody")
        survived = decoy.poll() is None
    decoy.stdin.close()
    return [own, survived, decoy.wait() == 0]


def kill_everybody() -> bool:
    """Whether a decoy of its own is killed by a signal to everybody."""
    check_isolated()
    if os.getpid() != 1:
        raise RuntimeError("expected to be the first process of a namespace")
    decoy: Any = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    os.kill(-1, signal.SIGKILL)
    decoy.stdin.close()
    return decoy.wait() == -signal.SIGKILL


def namespaces() -> dict[str, str]:
    """The namespaces of this process."""
    return {name: os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "mnt", "net", "ipc", "uts")}


def leave_orphans(number: int) -> None:
    """Start programs that start one each and leave it behind; all of them have ended afterwards, and nobody waited."""
    check_isolated()
    for _ in range(number):
        subprocess.run(["/bin/sh", "-c", "/bin/true & exit"], check=True)
    while any(state != "Z" for pid, state in states().items() if pid != os.getpid()):
        os.sched_yield()


def zombies() -> list[int]:
    """The processes of this namespace that have ended and that nobody has waited for."""
    return [pid for pid, state in states().items() if state == "Z"]


def states() -> dict[int, str]:
    """The state of each process of this namespace, as /proc tells it in a letter."""
    found: dict[int, str] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has gone
            found[int(name)] = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[0]
    return found
