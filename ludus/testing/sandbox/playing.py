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

from ludus.errors import ChannelError, LudusError
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.environment import Deadlines, SandboxedEnv, confine
from ludus.testing.sandbox.attack import Account, Attack
from ludus.testing.sandbox.environment_attacks import HANGING
from ludus.testing.sandbox.hostile.environment import DEEDS

__all__ = ["Playground", "Watch", "play_moment", "play_step"]

HOSTILE = "ludus.testing.sandbox.hostile.environment:Hostile"
MARK = "LUDUS_HOSTILE_MARK"
LIMITS = Limits(wall=None, memory=256 << 20, processes=32)
SHORT, LONG = 0.5, 30.0
GROWTH = 400 << 20
"""Bytes by which this process may grow, at most: frames of 64 MiB are allowed, and held twice while they are read."""
KEPT = 20
"""Descriptors more than before that are no finding: other threads may open some."""
LONGEST = 32_000
"""Characters of a message."""
GONE = 3.0
IMPORTED = {"import-hang": "import time; time.sleep(20)\n", "import-exit": "import os; os._exit(3)\n"}
NUMBERS = {deed: number for number, deed in enumerate(DEEDS, start=1)}


class Watch:
    """This process before and after: memory, descriptors, a path that must not come to be, processes that are left."""

    def __init__(self) -> None:
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
        ends = time.monotonic() + GONE
        while found := _marked(self.mark):
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
    """Hostile environments that are kept from deed to deed; one whose process is gone is started anew."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._open: dict[bool, tuple[SandboxedEnv, Watch]] = {}
        self._undo = ExitStack()

    def play(self, attack: Attack) -> Account:
        """Do a deed in a step of its own; those that never answer have an environment with a short deadline."""
        hanging = attack.program in HANGING
        if hanging not in self._open:
            watch = self._undo.enter_context(Watch())
            deadlines = Deadlines(step=SHORT if hanging else LONG, close=SHORT)
            env = self._undo.enter_context(_confined(self._sandbox, watch, deadlines=deadlines))
            self._open[hanging] = env, watch
        env, watch = self._open[hanging]
        return play_step(env, attack.program, watch)

    def close(self) -> None:
        """Close the environments; harmless twice."""
        self._undo.close()

    def __enter__(self) -> "Playground":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def play_step(env: Any, deed: str, watch: Watch) -> Account:
    """Begin an episode, have the deed done in its first step, and see what comes of it."""
    began = time.monotonic()

    def step() -> tuple[str, str]:
        env.reset(seed=0)
        return _word(env.step(NUMBERS[deed]), env)

    word, error = _attempt(step)
    if word == "answered":
        word, error = _attempt(lambda: _word(env.step(0), env))  # what else is in the channel
    fatal = word.startswith("cut") or "ChannelError" in error
    seen = watch.breach(ended=fatal)
    return Account(did=word, error=error, seen=seen, code=0, seconds=time.monotonic() - began)


def play_moment(attack: Attack, sandbox: Sandbox) -> Account:
    """Make, reset and close an environment that does its deed at one of these moments."""
    deed, began = attack.program, time.monotonic()
    with Watch() as watch:
        deadlines = Deadlines(start=1.5 if "hang" in deed else LONG, reset=SHORT if "reset" in deed else LONG, close=SHORT)
        if "hang" in deed and not deed.startswith(("import", "make")):
            deadlines = msgspec.structs.replace(deadlines, start=LONG)

        def whole() -> tuple[str, str]:
            with _confined(sandbox, watch, deed, deadlines) as env:
                env.reset(seed=0)
            return "closed", ""

        word, error = _attempt(whole)
        return Account(
            did=word, error=error, seen=watch.breach(ended=True), code=0, seconds=time.monotonic() - began
        )


def _confined(sandbox: Sandbox, watch: Watch, deed: str = "", deadlines: Deadlines | None = None) -> SandboxedEnv:
    own = copy(sandbox)
    own.policy = msgspec.structs.replace(
        sandbox.policy, limits=LIMITS, environment={**sandbox.policy.environment, MARK: watch.mark}
    )
    if deed in IMPORTED:
        Path(watch.folder, "hostile_import.py").write_text(IMPORTED[deed], encoding="utf8")
        return confine("hostile_import:Env", {}, own, deadline=deadlines, paths=[watch.folder])
    arguments: Mapping[str, Any] = {"deed": deed, "path": watch.path}
    return confine(HOSTILE, arguments, own, deadline=deadlines)


def _attempt(deed: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """A word for what came of it, and the error: one of Ludus's, which says no more than a message should."""
    try:
        return deed()
    except LudusError as error:
        text = f"{type(error).__name__}: {error}"
        told = text + "".join(getattr(error, "__notes__", ()))
        if len(told) > LONGEST or not all(one.isprintable() or one in "\n\t" for one in told):
            return "an error that is not fit to be shown", text[:200]
        return "refused", f"{text[:300]}{' … ' if len(told) > len(text) else ''}{told[len(text) :][-300:]}"
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


def _marked(mark: str) -> list[int]:
    """The processes of the host whose environment carries a mark, as far as they can be looked at."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it ended, or is none of ours
            found += [int(name)] if mark.encode() in Path(f"/proc/{name}/environ").read_bytes() else []
    return found
