"""Contestants that need no library, and reports whose figures are known."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from ludus.benchmarks import BenchmarkReport, Contestant, Figure

TINY = '''
    import os, sys


    class TimedBatch:
        """Adds numbers."""

        turns, about = 2, {"tiny": "1.0"}

        def __init__(self, id, lanes, ring, mood="good"):
            if mood == "refuses":
                raise LookupError(f"there is no {id} here")
            print("hello from", id)
            self.actions, self.sum, self.mood = list(range(ring)), 0, mood
            self.lanes, self.drawn = b"x" * (1000 * lanes), b"x" * (2000 * lanes)
            self.held = len(self.drawn)

        def step(self, action):
            self.sum += action
            if self.mood == "breaks":
                raise ValueError("broken:\\n two lines")
            if self.mood == "leaves":
                print("no more of this", file=sys.stderr, flush=True)
                os._exit(3)
            if self.mood == "sleeps":
                import threading
                threading.Event().wait()

        def close(self):
            pass
'''


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Contestant]:
    """A contestant of a few lines, in a mood."""
    program = tmp_path / "tiny.py"
    program.write_text(dedent(TINY), encoding="utf8")
    return lambda mood="good": Contestant(f"{mood} one", str(program), {"mood": mood})


@pytest.fixture
def figure() -> Callable[..., Figure]:
    """A figure of which only the speed matters."""
    return lambda contestant, lanes, speed, size=None, **about: Figure(
        contestant, lanes, speed, 1e6 * lanes / speed, 2e6 * lanes / speed, 5, 0.9, size, about
    )


@pytest.fixture
def report(figure) -> Callable[..., BenchmarkReport]:
    """A report of these figures about a machine that does not exist."""
    machine = {"processor": "Abacus", "cores": "2"}
    return lambda *figures, id="CartPole-v1", skipped=(): BenchmarkReport(id, 0.3, 5, figures, tuple(skipped), machine)
