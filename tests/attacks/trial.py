"""`Trial`: one start of a program in a sandbox, from its first line to the certainty that nothing of it is left."""

import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ludus.sandbox import Policy, Sandbox, SandboxedProcess, Usage

__all__ = ["Told", "Trial", "command"]

INSIDE = Path(__file__).with_name("inside")
PACKAGE = "tests.attacks.inside"
SHARED = ("trying", "kernel")
BOOT = (
    "import json, sys, types; work = json.loads(sys.argv[1])\n"
    "for name, source in work['modules'].items():\n"
    "    module = sys.modules[name] = types.ModuleType(name)\n"
    "    exec(compile(source, name, 'exec'), module.__dict__)\n"
    "sys.modules[name].main(work)\n"
)
"""The modules go in as text, under the names by which they import each other: Ludus need not be inside."""
LONGEST = 1 << 20
"""Bytes of a line, and of standard error, that are kept."""
GONE = 3.0
"""Seconds for the channel to be closed once all is over."""

Told = dict[str, Any]
Look = Callable[[SandboxedProcess, Any], str]


@cache
def _source(module: str) -> str:
    return INSIDE.joinpath(module if module.endswith(".py") else f"{module}.py").read_text(encoding="utf8")


def interpreter() -> str:
    """The interpreter itself, which every backend shows at its own path."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def command(programs: Mapping[str, str], aim: Mapping[str, Any], mark: str) -> list[str]:
    """The command that carries out programs (name → `module:function`); the mark is for finding its processes."""
    used = dict.fromkeys([*SHARED, *(program.rpartition(":")[0] for program in programs.values()), "main"])
    modules = {f"{PACKAGE}.{module}": _source(module) for module in used}
    work = {"package": PACKAGE, "modules": modules, "attacks": dict(programs), "aim": dict(aim)}
    return [interpreter(), "-I", "-S", "-c", BOOT, json.dumps(work), mark]


class Trial:
    """A program under way in a sandbox; `told` are its lines, by attack."""

    def __init__(self, sandbox: Sandbox, policy: Policy, argv: list[str], *, stdin: int | None = None) -> None:
        self.told: dict[str, Told] = {}
        self.ready: Any = None
        self.said: list[Told] = []
        """Its other lines."""
        self.usage, self.seconds, self.left = Usage(), 0.0, False
        self.code: int | None = None
        self._lines: queue.SimpleQueue[Told | None] = queue.SimpleQueue()
        self._errors = b""
        self.began = time.monotonic()
        self._channel, theirs = socket.socketpair()
        with theirs:
            pipe = subprocess.PIPE
            try:
                self.process = sandbox.backend.start(
                    argv, policy, stdin=stdin, stdout=pipe, stderr=pipe, channel=theirs.fileno()
                )
            except BaseException:
                self._channel.close()
                raise
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read_lines, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read_lines(self) -> None:
        with suppress(OSError, ValueError):  # closed meanwhile
            while line := self.process.stdout.readline(LONGEST):
                with suppress(msgspec.DecodeError, ValueError):
                    self._lines.put(json.loads(line))
        self._lines.put(None)

    def _read_errors(self) -> None:
        with suppress(OSError, ValueError):
            while some := self.process.stderr.read1(65536):
                self._errors = (self._errors + some)[-LONGEST:]

    def until_ready(self, seconds: float) -> Any:
        """What it says when all is in place; None where it ends before, or does not say so in time."""
        return self._listen(time.monotonic() + seconds, only_ready=True)

    def go_on(self) -> None:
        """Have it go on, now that the host has looked."""
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)

    def finish(self, seconds: float, gone: float = GONE) -> None:
        """Hear it out, end it after so many seconds at the latest, and see whether something stays for `gone`."""
        ends = self.began + seconds
        try:
            self._listen(ends)
            self.code = self.process.wait(max(0.01, ends - time.monotonic()))
            self.process.kill()
            self.usage = self.process.usage()
        finally:
            self.seconds = time.monotonic() - self.began
            self.process.close()
            self.left = not self._is_closed(gone)
            self._channel.close()
            for thread in self._threads:
                thread.join(GONE)

    def _listen(self, ends: float, *, only_ready: bool = False) -> Any:
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, ends - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                self._lines.put(None)
                return None
            if "attack" in line:
                self.told[line["attack"]] = line
            elif only_ready and "ready" in line:
                self.ready = line["ready"]
                return self.ready
            else:
                self.said.append(line)

    def _is_closed(self, seconds: float) -> bool:
        """Whether nobody holds the other end any more."""
        self._channel.settimeout(seconds)
        try:
            while self._channel.recv(65536):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass  # closed with something unread in it
        return True

    @property
    def errors(self) -> str:
        """The end of its standard error."""
        return self._errors.decode("utf8", "replace").strip()[-500:]
