"""Environments that a stranger might write: typed, slow at times, endless, bound to a thread."""

import sqlite3
import time
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from ludus.core import Env, Step
from ludus.spaces import Discrete, Record


@dataclass
class Note:
    """An action."""

    letter: int
    nap: float = 0.0


@dataclass
class Page:
    """An observation that depends on all that was done before, in order."""

    digest: str
    count: int


class Tape(Env[Page, Note]):
    """Remembers everything: a step that is lost, repeated or made out of order shows in all that follow."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(self, render_mode: str | None = None) -> None:
        self.observation_space, self.action_space, self.render_mode = Record(Page), Record(Note), render_mode
        self.digest, self.count = "", 0

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Page, dict[str, Any]]:
        super().reset(seed=seed)
        self.digest, self.count = str(int(self.np_random.integers(1 << 30))), 0
        return Page(self.digest, 0), {}

    def step(self, action: Note) -> Step[Page]:
        if action.nap:
            time.sleep(action.nap)
        self.digest = blake2b(f"{self.digest}{action.letter}".encode(), digest_size=8).hexdigest()
        self.count += 1
        return Step.transition(Page(self.digest, self.count), float(action.letter))

    def render(self) -> Any:
        return np.full((4, 4, 3), self.count % 256, np.uint8)


class Endless(Tape):
    """Never comes back from letter 7."""

    def step(self, action: Note) -> Step[Page]:
        while action.letter == 7:
            self.count += 1
        return super().step(action)


class Ledger(Env[int, int]):
    """Keeps its sum in a database of sqlite, which belongs to the thread that opened it."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Discrete(1000), Discrete(10)
        self.base = sqlite3.connect(":memory:")
        self.base.execute("create table entries (amount integer)")

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.base.execute("delete from entries")
        return 0, {}

    def step(self, action: int) -> Step[int]:
        self.base.execute("insert into entries values (?)", (int(action),))
        (total,) = self.base.execute("select sum(amount) from entries").fetchone()
        return Step.transition(total, 0.0)

    def close(self) -> None:
        self.base.close()
