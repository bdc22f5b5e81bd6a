"""One server of all twelve open environments, several sessions of each at once: latency by environment, what is left.

    python benchmarks/fleet.py [sessions of each] [seconds]

The server is a process of its own, and so are the clients. Policies act at random. Any error, and whatever is left
after the sessions are closed (processes, descriptors, threads, files, memory), is told and makes the exit code 1.
Two rounds are played, the first for a quarter of the time: what a server keeps ready once it was used (pools of
threads, caches, a browser) is there after the first, and whatever the second adds to it is a leak.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

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
ALLOWED = {"processes": 0, "descriptors": 8, "threads": 8, "files": 0, "MiB": 64}
"""What may be held more after the second round than after the first: pools fill up by chance."""


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
        return policies(folder)["random"](None, observation, rng)


def policies(folder: str) -> Any:
    """How an environment may be played."""
    return import_module(f"ludus.envs.open.{folder}.policies").POLICIES


class Running(NamedTuple):
    """A server: its address, its process, and the folder that its temporary files are in."""

    url: str
    pid: int
    folder: str


@contextmanager
def server(sessions: int) -> Generator[Running]:
    """A server of all of them, with a folder of its own for what it leaves behind."""
    command = [sys.executable, "-m", "ludus", "serve", *FOLDERS, "--port", "0", "--max-sessions", str(sessions + 8)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with (
        tempfile.TemporaryDirectory(prefix="fleet") as folder,
        subprocess.Popen(command, env={**os.environ, "TMPDIR": folder}, **pipes) as process,
    ):
        os.chmod(folder, 0o755)  # sandboxes have users of their own
        try:
            yield Running(_address(process), process.pid, folder)
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


def held(running: Running) -> dict[str, int]:
    """What a server and its children hold."""
    pid = running.pid
    tree = _tree(pid)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf8")
    return {
        "processes": len(tree),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]),  # pyright: ignore[reportOptionalSubscript]
        "files": len(os.listdir(running.folder)),
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
    yield "| environment | steps/s | reset, median ms | reset, p99 ms | step, median ms | step, p99 ms |"
    yield "|---|---|---|---|---|---|"
    for name in FOLDERS:
        steps = [one for session in played if session.name == name for one in session.steps_ms]
        resets = [one for session in played if session.name == name for one in session.resets_ms]
        yield f"| `{name}` | {len(steps) / seconds:,.1f} | {_cells(resets)} | {_cells(steps)} |"


def _cells(found: list[float]) -> str:
    """Median and p99, as far as there is anything to tell."""
    if len(found) < 2:
        return f"{found[0]:.1f} | (one)" if found else "none | none"
    return f"{median(found):.1f} | {quantiles(found, n=100)[98]:.1f}"


def played_for(url: str, each: int, seconds: float, first: int) -> tuple[list[Session], Counter[str]]:
    """Sessions of all environments at once, and what failed in them."""
    ends = time.monotonic() + seconds
    with ThreadPoolExecutor(each * len(FOLDERS)) as threads:
        work = {
            threads.submit(Session(name).play, url, first + 1000 * place + one, ends): name
            for place, name in enumerate(FOLDERS)
            for one in range(each)
        }
    failures: Counter[str] = Counter()
    for one, name in work.items():
        if error := one.exception():
            failures[f"{name}: {type(error).__name__}: {str(error)[:200]}"] += 1
    played = [one.result() for one in work if one.exception() is None]
    for session in played:
        failures.update({f"{session.name}: {what}": count for what, count in session.errors.items()})
    return played, failures


def main() -> int:
    """Play, print, and say whether anything went wrong."""
    each, seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 8, float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    for folder in filter(None, FOLDERS.values()):
        policies(folder)  # by one thread: Python refuses one of two that import a package and a module in it
    with server(each * len(FOLDERS)) as running:
        with ludus.connect(running.url, env="open/Echo-v0") as env:
            env.reset(seed=0)
        begun = held(running)
        _, early = played_for(running.url, each, seconds / 4, 500_000)
        before = settled(running, begun)
        played, failures = played_for(running.url, each, seconds, 0)
        after = settled(running, before)
    failures += early
    leaks = {name: after[name] - before[name] for name, most in ALLOWED.items() if after[name] - before[name] > most}
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{each} sessions of each of {len(FOLDERS)}, {seconds:g} seconds, {os.cpu_count()} cores, load {load}\n")
    print(*table(played, seconds), sep="\n")
    print(f"\nheld by the server at the start: {begun}\nafter the first round: {before}\nafter the second: {after}")
    print("errors:", dict(failures) or "none")
    print("leaks:", leaks or "none")
    return 1 if failures or leaks else 0


def settled(running: Running, before: dict[str, int]) -> dict[str, int]:
    """What the server holds once sessions have been closed, at most a minute later."""
    ends = time.monotonic() + CLOSING_S
    found = held(running)
    while time.monotonic() < ends and any(found[name] > before[name] + most for name, most in ALLOWED.items()):
        time.sleep(0.5)
        found = held(running)
    return found


if __name__ == "__main__":
    sys.exit(main())
