"""One server of all twelve open environments, several sessions of each at once: latency by environment, what is left.

    python benchmarks/fleet.py [sessions of each] [seconds]

The server is a process of its own, and so are the clients. Policies act at random. Any error, and whatever is left
after the sessions are closed (processes, descriptors, threads), is told and makes the exit code 1.
"""

import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

import ludus
from ludus.core import Outcome

FOLDERS = {
    "open/Echo-v0": None,
    "open/OpenSpiel-v0": "openspiel",
    "open/Connect4-v0": "connect4",
    "open/Atari-v0": "atari",
    "open/BrowserGym-v0": "browsergym",
    "open/Coding-v0": "coding",
    "open/Chat-v0": "chat",
    "open/Git-v0": "git",
    "open/FinRL-v0": "finrl",
    "open/SumoRL-v0": "sumo",
    "open/TextArena-v0": "textarena",
    "open/DIPGSafety-v0": "dipg_safety",
}
START_S, CLOSING_S = 120, 60


class Session:
    """What one client saw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps_ms: list[float] = []
        self.resets_ms: list[float] = []
        self.errors: Counter[str] = Counter()

    def play(self, url: str, seed: int, ends: float) -> "Session":
        """Episodes at random until the time is over."""
        rng = np.random.default_rng(seed)
        with ludus.connect(url, env=self.name, timeout=120) as env:
            while time.monotonic() < ends:
                self._episode(env, rng, ends)
        return self

    def _episode(self, env: Any, rng: np.random.Generator, ends: float) -> None:
        begun = time.perf_counter()
        observation, _ = env.reset(seed=int(rng.integers(1 << 30)))
        self.resets_ms.append((time.perf_counter() - begun) * 1e3)
        while time.monotonic() < ends:
            action = self._action(env, observation, rng)
            begun = time.perf_counter()
            step = env.step(action)
            self.steps_ms.append((time.perf_counter() - begun) * 1e3)
            observation = step.observation
            if step.done:
                told = Outcome.told(step.info.get("outcome"))
                if told in (Outcome.ENVIRONMENT_FAILED, Outcome.INFRASTRUCTURE_FAILED):
                    self.errors[str(told)] += 1
                return

    def _action(self, env: Any, observation: Any, rng: np.random.Generator) -> Any:
        folder = FOLDERS[self.name]
        if folder is None:
            return env.action_space.coerce({"message": "hello"}, "action")
        return import_module(f"ludus.envs.open.{folder}.policies").POLICIES["random"](None, observation, rng)


@contextmanager
def server(sessions: int) -> Iterator[tuple[str, int]]:
    """The address of a server of all of them, and its process."""
    command = [sys.executable, "-m", "ludus", "serve", *FOLDERS, "--port", "0", "--max-sessions", str(sessions + 8)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield _address(process), process.pid
        finally:
            process.terminate()
            process.wait(CLOSING_S)


def _address(process: Any) -> str:
    ends, heard = time.monotonic() + START_S, ""
    while time.monotonic() < ends:
        line = process.stdout.readline()
        heard += line
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found[0]
        if not line:
            break
    raise SystemExit(f"the server did not start: {heard}")


def held(pid: int) -> dict[str, int]:
    """What a process and its children hold."""
    tree = _tree(pid)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf8")
    return {
        "processes": len(tree),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]),  # pyright: ignore[reportOptionalSubscript]
        "MiB": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) >> 10,  # pyright: ignore[reportOptionalSubscript]
    }


def _tree(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task")
        children = [int(word) for task in tasks.iterdir() for word in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(one for child in children for one in _tree(child))]


def table(played: list[Session], seconds: float) -> Iterator[str]:
    """A line for each environment."""
    yield "| environment | steps/s | reset, median ms | step, median ms | step, p99 ms |"
    yield "|---|---|---|---|---|"
    for name in FOLDERS:
        steps = [one for session in played if session.name == name for one in session.steps_ms]
        resets = [one for session in played if session.name == name for one in session.resets_ms]
        if len(steps) < 2:
            yield f"| `{name}` | {len(steps)} steps in all | {median(resets):.1f} | | |"
            continue
        p99 = quantiles(steps, n=100)[98]
        yield f"| `{name}` | {len(steps) / seconds:,.0f} | {median(resets):.1f} | {median(steps):.2f} | {p99:.1f} |"


def main() -> int:
    """Play, print, and say whether anything went wrong."""
    each, seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 8, float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    number = each * len(FOLDERS)
    with server(number) as (url, pid):
        with ludus.connect(url, env="open/Echo-v0") as env:
            env.reset(seed=0)
        before, ends = held(pid), time.monotonic() + seconds
        with ThreadPoolExecutor(number) as threads:
            work = [
                threads.submit(Session(name).play, url, 1000 * place + one, ends)
                for place, name in enumerate(FOLDERS)
                for one in range(each)
            ]
        failures = Counter(f"{type(error).__name__}: {str(error)[:200]}" for one in work if (error := one.exception()))
        played = [one.result() for one in work if one.exception() is None]
        for session in played:
            failures.update({f"{session.name}: {what}": count for what, count in session.errors.items()})
        after = settled(pid, before)
    print(f"{each} sessions of each of {len(FOLDERS)}, {seconds:g} seconds, {os.cpu_count()} cores\n")
    print(*table(played, seconds), sep="\n")
    print(f"\nheld by the server before: {before}\nheld by the server after:  {after}")
    print("errors:", dict(failures) or "none")
    return 1 if failures else 0


def settled(pid: int, before: dict[str, int]) -> dict[str, int]:
    """What the server holds once sessions have been closed, at most a minute later."""
    ends = time.monotonic() + CLOSING_S
    found = held(pid)
    while found["processes"] > before["processes"] and time.monotonic() < ends:
        time.sleep(0.5)
        found = held(pid)
    return found


if __name__ == "__main__":
    sys.exit(main())
