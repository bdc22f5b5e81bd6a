"""Playing with hostile environments: what comes of a deed, and what it did to this process."""

import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from copy import copy
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from ludus.errors import LudusError
from ludus.sandbox import Deadlines, Limits, Sandbox
from ludus.sandbox.environment import ForkServer, SandboxedEnv, isolate
from tests.attacks.attack import Account
from tests.attacks.environment_attacks import HANGING
from tests.attacks.hostile.environment import DEEDS
from tests.attacks.hostile.lies import LIES
from tests.attacks.hostile.nonsense import NONSENSE

__all__ = ["IMPORTED", "MARK", "Playground", "Watch", "sandboxed_env", "play_moment", "play_step"]

HOSTILE = "tests.attacks.hostile.environment:Hostile"
MARK = "LUDUS_HOSTILE_MARK"
LIMITS = Limits(wall=None, memory=256 << 20, processes=32)
SHORT, LONG = 0.5, 120.0
GROWTH = 400 << 20
"""Bytes by which this process may grow, at most: frames of 64 MiB are allowed, and held twice while they are read."""
KEPT = 20
"""Descriptors more than before that are no finding: other threads may open some."""
LONGEST = 32_000
"""Characters of a message."""
GONE = 3.0
"""Seconds for processes to be gone once they were ended."""
OURS = "tests/attacks/hostile"
"""In the trace of an error: a deed that was kept from being done."""
IMPORTED = {"import-hang": "import time; time.sleep(20)\n", "import-exit": "import os; os._exit(3)\n"}
"""By deed: a module that does it while it is imported."""
NUMBERS = {deed: number for number, deed in enumerate(DEEDS, start=1)}


Make = Callable[["Watch", str, Deadlines], Any]
"""Makes an environment that does a deed."""


class Watch:
    """This process before and after: memory, descriptors, a path that must not come to be, processes that are left."""

    def __init__(self, patience: float = GONE) -> None:
        self._patience = patience
        self.folder = tempfile.mkdtemp(prefix="ludus-hostile-")
        os.chmod(self.folder, 0o755)
        self.path = f"{self.folder}/made-by-a-pickle"
        self.mark = os.urandom(8).hex()
        self._memory, self._descriptors = _memory(), _descriptors()

    def breach(self, *, ended: bool) -> str:
        """What has happened to this process, or is left though it has `ended`; empty where nothing."""
        if os.path.lexists(self.path):
            return "code from the channel was run in this process"
        if _memory() - self._memory > GROWTH:
            return f"this process grew by {(_memory() - self._memory) >> 20} MiB"
        if _descriptors() - self._descriptors > KEPT:
            return f"{_descriptors() - self._descriptors} descriptors were kept"
        return "its processes were still there after the end" if ended and not self._gone() else ""

    def _gone(self) -> bool:
        ends = time.monotonic() + self._patience
        while found := _with_mark(self.mark):
            if time.monotonic() > ends:
                return not found
            time.sleep(0.02)
        return True

    def close(self) -> None:
        """Remove its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Playground:
    """Hostile environments that are kept from deed to deed; one whose process is gone is started anew.

    What is only said is said by children of a fork server, which are quick to start; what is done to a process is done
    to one with a sandbox of its own.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._open: dict[str, tuple[Any, Watch]] = {}
        self._undo = ExitStack()

    def play(self, deed: str) -> Account:
        """Do a deed in a step of its own."""
        kind = "hanging" if deed in HANGING else "forked" if deed in (*NONSENSE, *LIES) else "alone"
        if kind not in self._open:
            watch = self._undo.enter_context(Watch())
            deadlines = Deadlines(step=SHORT if kind == "hanging" else LONG, close=SHORT)
            self._open[kind] = self._undo.enter_context(self._made(kind, watch, deadlines)), watch
        env, watch = self._open[kind]
        return play_step(env, deed, watch, alone=kind != "forked")

    def _made(self, kind: str, watch: Watch, deadlines: Deadlines) -> SandboxedEnv:
        """Those that never answer have a short deadline."""
        if kind != "forked":
            return sandboxed_env(self._sandbox, watch, "", deadlines)
        arguments = {"path": watch.path}
        server = ForkServer(HOSTILE, arguments, _marked(self._sandbox, watch), deadline=deadlines)
        return self._undo.enter_context(server).spawn()

    def close(self) -> None:
        """Close the environments; harmless twice."""
        self._undo.close()

    def __enter__(self) -> "Playground":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def play_step(env: Any, deed: str, watch: Watch, *, alone: bool = True) -> Account:
    """Begin an episode, have the deed done in its first step, and see what comes of it.

    `alone`: the environment has a sandbox of its own, in which nothing is left when it is ended.
    """
    began = time.monotonic()

    def step() -> tuple[str, str]:
        env.reset(seed=0)
        return _word(env.step(NUMBERS[deed]), env)

    word, error = _attempt(step)
    if word == "answered":
        word, error = _attempt(lambda: _word(env.step(0), env))  # what else is in the channel
    fatal = word.startswith("cut") or "ChannelError" in error
    seen = watch.breach(ended=fatal and alone)
    return Account(did=word, error=error, seen=seen, code=0, seconds=time.monotonic() - began)


def play_moment(deed: str, make: Make, patience: float = GONE) -> Account:
    """Make, reset and close an environment that does its deed at one of these moments."""
    began = time.monotonic()
    early, late = deed.startswith(("import", "make")), deed.startswith("reset")
    deadlines = Deadlines(start=1.5 if early else LONG, reset=SHORT if late else LONG, close=SHORT)

    def whole() -> tuple[str, str]:
        env = make(watch, deed, deadlines)
        try:
            env.reset(seed=0)
        finally:
            env.close()
        return "closed", ""

    with Watch(patience) as watch:
        word, error = _attempt(whole)
        seen = watch.breach(ended=True)
        return Account(did=word, error=error, seen=seen, code=0, seconds=time.monotonic() - began)


def sandboxed_env(sandbox: Sandbox, watch: Watch, deed: str, deadlines: Deadlines) -> SandboxedEnv:
    """A hostile environment in a sandbox."""
    own = _marked(sandbox, watch)
    if deed in IMPORTED:
        Path(watch.folder, "hostile_import.py").write_text(IMPORTED[deed], encoding="utf8")
        return isolate("hostile_import:Env", {}, own, deadline=deadlines, paths=[watch.folder])
    arguments: Mapping[str, Any] = {"deed": deed, "path": watch.path}
    return isolate(HOSTILE, arguments, own, deadline=deadlines)


def _marked(sandbox: Sandbox, watch: Watch) -> Sandbox:
    """The sandbox, with a mark by which its processes are found."""
    own = copy(sandbox)
    variables = {**sandbox.policy.environment, MARK: watch.mark}
    own.policy = msgspec.structs.replace(sandbox.policy, limits=LIMITS, environment=variables)
    return own


def _attempt(deed: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """A word for what came of it, and the error: one of Ludus's, which says no more than a message should."""
    try:
        return deed()
    except LudusError as error:
        text = f"{type(error).__name__}: {error}"
        told = text + "".join(getattr(error, "__notes__", ()))
        if len(told) > LONGEST or not all(one.isprintable() or one in "\n\t" for one in told):
            return "an error that is not fit to be shown", text[:200]
        detail = f"{text[:300]} {told[len(text) :][-300:]}".strip()
        if OURS not in told:
            return "refused", detail
        return "refused inside" if "OSError" in text else "of no effect, for it failed by itself", detail
    except BaseException as error:
        return f"an error of another kind ({type(error).__name__})", str(error)[:300]


def _word(step: Any, env: Any) -> tuple[str, str]:
    """What a step that was answered is: cut short by this side, or a step as the contract has it."""
    observation, reward, terminated, truncated, info = step
    if truncated is True and "sandbox" in info:
        limit = info["sandbox"]["limit"]
        return f"cut: {limit}" if limit else "cut", info["sandbox"]["reason"]
    fits = env.observation_space.contains(observation) and isinstance(reward, int | float) and isfinite(reward)
    if not fits or not isinstance(terminated, bool) or not isinstance(truncated, bool):
        return "answered against the contract", repr(step)[:200]
    return "answered", ""


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _with_mark(mark: str) -> list[int]:
    """The processes of the host whose environment carries a mark, as far as they can be looked at."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it ended, or is none of ours
            found += [int(name)] if mark.encode() in Path(f"/proc/{name}/environ").read_bytes() else []
    return found
