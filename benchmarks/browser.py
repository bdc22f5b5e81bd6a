"""Milliseconds of a reset and of a step of BrowserGym, beside MiniWoB's own environment by Selenium where it runs.

    python benchmarks/browser.py [episodes]

A click on the button of `click-test`, which ends the episode, and clicks on a page that stays (`click-checkboxes`);
medians, and the 90th percentile. The first reset starts the browser and is told apart. Every episode gets a context
that was made while the one before was under way: back to back that is what a reset waits for, and with an agent that
thinks (here for a third of a second a step; a language model takes longer) it is there.
"""

import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from statistics import median, quantiles
from typing import Any

from ludus.envs.open.browsergym import BrowserGym, BrowserGymAction
from ludus.envs.open.browsergym.chromium import program


def timed(call: Callable[[], Any]) -> float:
    """Milliseconds of a call."""
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3


def row(name: str, figures: list[float]) -> str:
    """A line of the table."""
    return f"| {name} | {median(figures):.1f} | {quantiles(figures, n=10)[-1]:.1f} |"


def ours(episodes: int, task: str | None, action: str, *, steps: int, think: float) -> list[str]:
    """Resets and steps of BrowserGym, by an agent that thinks for some seconds before each step."""
    what = task or "any task"
    how = f"thinking {think:g} s" if think else "back to back"
    with BrowserGym(task_name=task) as env:
        first = timed(lambda: env.reset(seed=0))
        resets: list[float] = []
        taken: list[float] = []
        for seed in range(1, episodes + 1):
            for _ in range(steps):
                time.sleep(think)
                begun = time.perf_counter()
                step = env.step(BrowserGymAction(action))
                taken.append((time.perf_counter() - begun) * 1e3)
                if step.terminated or step.truncated:
                    break
            resets.append(timed(lambda seed=seed: env.reset(seed=seed)))
    return [
        f"| {what}, {how}: first reset | {first:.0f} | |",
        row(f"{what}, {how}: reset", resets),
        row(f"{what}, {how}: step", taken),
    ]


def selenium(episodes: int) -> list[str]:
    """The same with MiniWoB's own environment."""
    os.environ.setdefault("MINIWOB_CHROME_BINARY", "/usr/bin/chromium")
    os.environ.setdefault("MINIWOB_CHROMEDRIVER", "/usr/bin/chromedriver")
    gymnasium = import_module("gymnasium")
    try:
        env = gymnasium.make("miniwob:miniwob/click-test-v1", disable_env_checker=True)
        env.reset(seed=0)
    except Exception as error:  # a driver that is not installed, in any of its ways
        return [f"| miniwob by Selenium | did not start: {type(error).__name__} | |"]
    resets: list[float] = []
    taken: list[float] = []
    for seed in range(episodes):
        resets.append(timed(lambda seed=seed: env.reset(seed=seed)))
        action = env.unwrapped.create_action(import_module("miniwob.action").ActionTypes.NONE)
        taken.append(timed(lambda action=action: env.step(action)))
    env.close()
    return [row("miniwob by Selenium, reset", resets), row("miniwob by Selenium, step (none)", taken)]


def main(episodes: int) -> None:
    """Print the table."""
    print(f"{program()}, load {os.getloadavg()[0]:.1f}\n| | median ms | 90 % |\n|---|---|---|")
    for line in (
        *ours(episodes, "click-test", "click('4')", steps=1, think=0.33),
        *ours(episodes, None, "noop()", steps=1, think=0.33),
        *ours(episodes, "click-test", "click('4')", steps=1, think=0.0),
        *ours(episodes, "click-checkboxes", "click('6')", steps=10, think=0.0),
        *selenium(episodes),
    ):
        print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
