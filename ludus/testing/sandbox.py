"""`check_sandbox`: whether a sandbox keeps on this machine what it promises, tried from inside by harmless means.

What is tried ends by itself where nothing stands in its way, and is aimed only at what was made for it. The attacks
that Ludus is tested with are another matter: they are in its repository, and not in the package.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from ludus.errors import SandboxError, shorten
from ludus.sandbox import Limits, Sandbox
from ludus.testing.report import Finding, Report

__all__ = ["SANDBOX_RULES", "check_sandbox"]

MIB_BYTES = 1 << 20
VARIABLE = "LUDUS_SELF_CHECK"
GONE_SECONDS = 10.0
"""For the last process inside to let go of its channel."""
INSIDE = """
import json, os, signal, socket, subprocess, sys, time
aim = json.loads(sys.argv[1])
def read(): return open(aim["file"]).read()
def write(): return open(aim["new"], "w").write("x") and "written"
def connect(): return socket.create_connection(("127.0.0.1", aim["port"]), 5) and "connected"
def signalled(): return os.kill(aim["pid"], signal.SIGTERM) or "signalled"
def variable(): return os.environ[aim["variable"]]
def memory(): return [bytearray(b"x") * (8 << 20) for _ in range(40)] and "320 MiB"
def processes():
    held = []
    try:
        for _ in range(40): held.append(subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE))
    except OSError as error: print(len(held), error, file=sys.stderr)
    return "40 processes" if len(held) == 40 else 1/0
def wall(): return time.sleep(20) or "20 seconds"
def stay(): return os.fork() and "left one" or (os.setsid(), time.sleep(20))
print("began", flush=True)
print(json.dumps(globals()[sys.argv[2]]()), flush=True)
"""
"""One function for each rule, which gives what it got; where it is kept from it, it fails."""


class SandboxRule(NamedTuple):
    """What is tried, by which function of `INSIDE`, which guarantee stands against it, and with which limits."""

    title: str
    function: str
    guarantee: str
    limits: Mapping[str, float] = MappingProxyType({})


SANDBOX_RULES = {
    "files-are-unseen": SandboxRule("read a file of the host", "read", "files"),
    "files-are-unwritten": SandboxRule("write a file of the host", "write", "files"),
    "host-is-unreached": SandboxRule("connect to a service on the host's loopback", "connect", "network"),
    "processes-are-untouched": SandboxRule("signal a process of the host", "signalled", "other_processes"),
    "variables-are-unseen": SandboxRule("read an environment variable of the host", "variable", "user"),
    "memory-is-limited": SandboxRule(
        "use 320 MiB where 96 are allowed", "memory", "memory", {"memory": 96 * MIB_BYTES}
    ),
    "processes-are-limited": SandboxRule("start 40 processes of 16", "processes", "processes", {"processes": 16}),
    "time-is-limited": SandboxRule("run for 20 seconds of 2", "wall", "wall", {"wall": 2.0}),
    "nothing-is-left": SandboxRule("leave a process behind", "stay", "kill"),
}
"""By name."""


def check_sandbox(sandbox: Sandbox | str | None = None) -> Report:
    """Try from inside what a sandbox promises to prevent, and report what got through; it takes seconds.

    A name is the sandbox of that backend, None the default one. The sandbox's own policy is checked, with smaller
    limits where a rule is about a limit: a mount too many is found only where something was made to be found. A backend
    that is no boundary is checked only where it enforces something.

    >>> report = check_sandbox("process")
    >>> report.ok, report.not_checked["files-are-unseen"]
    (True, 'process does not enforce files')
    """
    box = sandbox if isinstance(sandbox, Sandbox) else Sandbox(sandbox)
    kept = box.guarantees
    left = {
        name: f"{kept.backend} does not enforce {rule.guarantee}"
        for name, rule in SANDBOX_RULES.items()
        if not kept.boundary and rule.guarantee not in kept.enforced
    }
    due = {name: rule for name, rule in SANDBOX_RULES.items() if name not in left}
    with ExitStack() as undo:
        aim = _aim(undo)
        got = {name: _tried(box, rule, aim) for name, rule in due.items()}
    findings = [_finding(name, rule, got[name]) for name, rule in due.items() if got[name]]
    return Report(box.backend.name, tuple(due), tuple(findings), left)


def _aim(undo: ExitStack) -> dict[str, object]:
    """What is tried for: a file, a folder, a service, a process and a variable, each made for it."""
    folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="ludus-self-check-")))
    folder.chmod(0o755)
    (folder / "file").write_text("secret", encoding="utf8")
    service = undo.enter_context(socket.create_server(("127.0.0.1", 0)))
    victim = undo.enter_context(subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE))
    undo.callback(victim.kill)
    os.environ[VARIABLE] = "secret"
    undo.callback(os.environ.pop, VARIABLE)
    port = service.getsockname()[1]
    return {
        "file": f"{folder}/file", "new": f"{folder}/new", "port": port, "pid": victim.pid, "variable": VARIABLE
    }  # fmt: skip


def _tried(box: Sandbox, rule: SandboxRule, aim: dict[str, object]) -> str:
    """What was got, by the program's own word or by what is left of it; empty where it was kept from all."""
    limits = msgspec.structs.replace(Limits() if box.policy.limits.wall is None else box.policy.limits, **rule.limits)
    interpreter = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    command = [interpreter, "-I", "-S", "-c", INSIDE, json.dumps(aim), rule.function]
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            streams = {"stdout": subprocess.PIPE, "channel": theirs.fileno()}
            process = box.with_limits(limits).start(command, **streams)
        with process:
            began, said = process.stdout.readline(), process.stdout.readline()
            process.wait()
        left = _left(ours)
    if not began:
        raise SandboxError(f"{box.backend.name}: expected a program inside to {rule.title}, got one that did not begin")
    return left if left or rule.guarantee == "kill" else shorten(said.decode("utf8", "replace").strip(), 200).strip("'")


def _left(channel: socket.socket) -> str:
    """Whether somebody inside still has the other end of a channel, once all of them were ended."""
    channel.settimeout(GONE_SECONDS)
    try:
        return "bytes in its channel" if channel.recv(1) else ""
    except TimeoutError:
        return "a process that was still there after the end"
    except OSError:  # closed with something unread in it
        return ""


def _finding(name: str, rule: SandboxRule, got: str) -> Finding:
    message = f"{rule.title}: expected to be kept from it, got {got}"
    return Finding("error", name, message, f"trust it with nothing until guarantees.{rule.guarantee} holds")
