"""Milliseconds of a reset and of a step of BrowserGym, beside BrowserGym's own and MiniWoB's own environment.

    python benchmarks/browser.py [episodes]
    FIRST=1 python benchmarks/browser.py                # as root, on a machine that others use
    PEER=that/bin/python python benchmarks/browser.py   # browsergym-miniwob in a virtual environment of its own

A click on the button of `click-test`, which ends the episode, one wait in any task, and clicks on a page that stays
(`click-checkboxes`); medians, the 90th percentile, and what Chromium (of the others, all their processes) and this
process spent of the processor for an episode: the clock tells of whoever shares the machine too. The first reset starts
the browser and is told apart. Every episode gets a context that was made ahead: with an agent that thinks (here for a
third of a second a step; a language model takes longer) while the one before was under way, back to back within the
reset before. With FIRST this process and the browser go before all others (the kernel's real-time class), as if they
had the machine for themselves: the rest of it waits, so keep that short. BrowserGym's own runs with Debian's Chromium,
and without its pause of half a second before it looks at a page.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import Any

TASK, CLICK = "click-test", "click('{}')"
TICK_MS = 1e3 / os.sysconf("SC_CLK_TCK")
PEER_EPISODES = 5


def processes(pid: int) -> Iterator[Path]:
    """A process, and all that it started."""
    home = Path(f"/proc/{pid}")
    yield home
    for thread in home.glob("task/*/children"):
        try:
            children = thread.read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in children:
            yield from processes(int(child))


def spent(pid: int) -> float:
    """Milliseconds that a process, those it started, and those of them that have ended, had of a core."""
    ticks = 0
    for home in processes(pid):
        try:
            fields = (home / "stat").read_text(encoding="utf8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks * TICK_MS


def go_first(pid: int) -> None:
    """Let a process, and what it has started and will, run before all that is not of the real-time class."""
    for home in processes(pid):
        for thread in os.listdir(home / "task"):
            os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))


def timed(call: Callable[[], Any]) -> float:
    """Milliseconds of a call."""
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3


class Series:
    """Resets and steps of one environment, and what they cost the processor."""

    def __init__(self, name: str, pid: int) -> None:
        self.name, self.pid = name, pid
        self.resets: list[float] = []
        self.steps: list[float] = []
        self._before = spent(pid), time.process_time()

    def summary(self) -> dict[str, Any]:
        """What a line of the table is made of."""
        browser, own = spent(self.pid) - self._before[0], (time.process_time() - self._before[1]) * 1e3
        each = [one / len(self.resets) for one in (browser, own)]
        return {"name": self.name, "resets": self.resets, "steps": self.steps, "processor": each}


def rows(name: str, resets: list[float], steps: list[float], processor: list[float]) -> list[str]:
    """Two lines of the table."""
    both = f"{processor[0]:.0f} | {processor[1]:.1f} |"
    return [
        f"| {name}: {what} | {median(figures):.1f} | {quantiles(figures, n=10)[-1]:.1f} | {more}"
        for what, figures, more in (("reset", resets, both), ("step", steps, "| |"))
    ]


def ours(episodes: int, task: str | None, action: str, *, steps: int, think: float) -> list[str]:
    """Resets and steps of BrowserGym, by an agent that thinks for some seconds before each step."""
    from ludus.envs.open.browsergym import BrowserGym, BrowserGymAction  # not in the interpreter of the other one
    from ludus.envs.open.browsergym.chromium import acquire, release

    name = f"{task or 'any task'}, {f'thinking {think:g} s' if think else 'back to back'}"
    with BrowserGym(task_name=task) as env:
        first = timed(lambda: env.reset(seed=0))
        browser = acquire().process.pid
        release()
        if "FIRST" in os.environ:
            go_first(os.getpid())
            go_first(browser)
        series = Series(name, browser)
        for seed in range(1, episodes + 1):
            for _ in range(steps):
                time.sleep(think)
                begun = time.perf_counter()
                step = env.step(BrowserGymAction(action))
                series.steps.append((time.perf_counter() - begun) * 1e3)
                if step.terminated or step.truncated:
                    break
            series.resets.append(timed(lambda seed=seed: env.reset(seed=seed)))
        summary = series.summary()
    return [f"| {name}: first reset | {first:.0f} | | | |", *rows(**summary)]


def selenium(episodes: int) -> list[str]:
    """The same with MiniWoB's own environment."""
    os.environ.setdefault("MINIWOB_CHROME_BINARY", "/usr/bin/chromium")
    os.environ.setdefault("MINIWOB_CHROMEDRIVER", "/usr/bin/chromedriver")
    gymnasium = import_module("gymnasium")
    try:
        env = gymnasium.make("miniwob:miniwob/click-test-v1", disable_env_checker=True)
        env.reset(seed=0)
    except Exception as error:  # a driver that is not installed, in any of its ways
        return [f"| miniwob by Selenium | did not start: {type(error).__name__} | | | |"]
    series = Series("miniwob by Selenium (no action)", os.getpid())
    for seed in range(episodes):
        series.resets.append(timed(lambda seed=seed: env.reset(seed=seed)))
        action = env.unwrapped.create_action(import_module("miniwob.action").ActionTypes.NONE)
        series.steps.append(timed(lambda action=action: env.step(action)))
    summary = series.summary()
    env.close()
    return rows(**summary)


def theirs(episodes: int) -> dict[str, Any]:
    """Resets and steps of BrowserGym's own environment, in the interpreter that has it."""
    playwright: Any = import_module("playwright.sync_api")
    launch = playwright.BrowserType.launch

    def launched(self: Any, **options: Any) -> Any:
        arguments = [*options.pop("args", ()), "--no-sandbox"]
        return launch(self, **{**options, "executable_path": "/usr/bin/chromium", "args": arguments})

    playwright.BrowserType.launch = launched
    found: Any = find_spec("miniwob")
    os.environ["MINIWOB_URL"] = f"file://{Path(found.origin).parent}/html/miniwob/"
    import_module("browsergym.miniwob")
    env = import_module("gymnasium").make(
        f"browsergym/miniwob.{TASK}", headless=True, pre_observation_delay=0.0, disable_env_checker=True
    )
    observation, _ = env.reset(seed=0)
    series = Series(f"BrowserGym's own, {TASK}", os.getpid())
    for seed in range(1, episodes + 1):
        nodes = (one for one in observation["axtree_object"]["nodes"] if one.get("browsergym_id"))
        bid = next(one["browsergym_id"] for one in nodes if one["role"]["value"] == "button")
        series.steps.append(timed(lambda bid=bid: env.step(CLICK.format(bid))))
        begun = time.perf_counter()
        observation, _ = env.reset(seed=seed)
        series.resets.append((time.perf_counter() - begun) * 1e3)
    summary = series.summary()
    env.close()
    return summary


def peer(python: str) -> list[str]:
    """The same of BrowserGym's own, or why there is none."""
    code = f"import json, browser; print(json.dumps(browser.theirs({PEER_EPISODES})))"
    beside = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, env=beside, check=False)
    if done.returncode:
        return [f"| BrowserGym's own | did not run: {done.stderr.strip().splitlines()[-1]} | | | |"]
    return rows(**json.loads(done.stdout.splitlines()[-1]))


def main(episodes: int) -> None:
    """Print the table."""
    from ludus.envs.open.browsergym.chromium import program

    columns = "| | median ms | 90 % | Chromium's processor, an episode | Python's |\n|---|---|---|---|---|"
    print(f"{program()}, load {os.getloadavg()[0]:.1f}\n{columns}")
    for line in (
        *ours(episodes, TASK, CLICK.format(4), steps=1, think=0.33),
        *ours(episodes, None, "noop()", steps=1, think=0.33),
        *ours(episodes, TASK, CLICK.format(4), steps=1, think=0.0),
        *ours(episodes, None, "noop()", steps=1, think=0.0),
        *ours(episodes, "click-checkboxes", CLICK.format(6), steps=10, think=0.0),
        *selenium(episodes),
        *(peer(os.environ["PEER"]) if "PEER" in os.environ else ()),
    ):
        print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
