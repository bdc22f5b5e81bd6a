"""Environments to try sessions with: one that waits until it is let, one that ends its process, pictures, secrets."""

import os
import threading
import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ludus.core import Env, Step
from ludus.core.state import Private
from ludus.spaces import Box, Discrete

GO, WAIT, FAIL, LEAVE = range(4)


@dataclass
class Riddle:
    """What is asked."""

    tries: int = 0
    answer: Annotated[str, Private] = "a candle"


class Gate(Env[Any, Any]):
    """Steps that go on at once, wait for `Gate.opened`, fail, or end the process. Takes a thread."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
    opened = threading.Event()
    waiting = threading.Semaphore(0)
    """One more for each step that waits."""
    closed: list[int] = []

    def __init__(self, start: int = 0, render_mode: str | None = None) -> None:
        self.observation_space, self.action_space = Discrete(1 << 30), Discrete(4)
        self.render_mode, self.start, self.count, self.state = render_mode, start, start, Riddle()

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count, self.state = self.start, Riddle()
        return self.count, {}

    def step(self, action: Any) -> Step[Any]:
        if action == WAIT:
            Gate.waiting.release()
            Gate.opened.wait(60)
        elif action == FAIL:
            raise ZeroDivisionError("by nothing")
        elif action == LEAVE:
            os._exit(3)
        self.count += 1
        self.state.tries += 1
        return Step.transition(self.count, 1.0)

    def render(self) -> Any:
        return np.full((4, 6, 3), self.count % 256, np.uint8)

    def close(self) -> None:
        Gate.closed.append(self.count)


class Calm(Gate):
    """Only what does no harm in a process that others use."""

    def __init__(self, start: int = 0, render_mode: str | None = None) -> None:
        super().__init__(start, render_mode)
        self.action_space = Discrete(1)


class Sleeper(Gate):
    """Waits by sleeping, for processes of their own."""

    def step(self, action: Any) -> Step[Any]:
        if action == WAIT:
            time.sleep(600)
        return super().step(action)


class Film(Env[Any, Any]):
    """Pictures, each of one shade."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(self, height: int = 32, render_mode: str | None = None) -> None:
        self.observation_space, self.action_space = Box(0, 255, (height, 24, 3), np.uint8), Discrete(256)
        self.render_mode, self.shade = render_mode, 0

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.shade = 0
        return self.render(), {}

    def step(self, action: Any) -> Step[Any]:
        self.shade = int(action)
        return Step.transition(self.render(), 0.0)

    def render(self) -> Any:
        shape: Any = self.observation_space.shape
        return np.full(shape, self.shade, np.uint8)
