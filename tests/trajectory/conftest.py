"""Environments as a stranger would write them, and runs recorded from them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludus
from ludus.core import Env, Step
from ludus.spaces import Box, Dict, Discrete, Record, Text, Tuple
from ludus.trajectory import Recorder


@dataclass
class Move:
    """A typed action."""

    word: str
    power: float = 0.5


class Workshop(Env[Any, Any]):
    """Odd spaces: dictionaries with odd keys, texts, records; every seventh step ends, by turns in three ways."""

    observation_space = Dict(
        {"größe/x": Box(-1, 1, (2, 3), np.float64), "word": Text(8), "n": Tuple((Discrete(300, start=-5),))}
    )
    action_space = Dict({"move": Record(Move), "aim": Box(-1, 1, (2,), np.float32)})

    def __init__(self) -> None:
        self.steps = self.episodes = 0

    def _seen(self) -> Any:
        return {
            "größe/x": self.np_random.uniform(-1, 1, (2, 3)),
            "word": "ab"[: int(self.np_random.integers(1, 3))],
            "n": (int(self.np_random.integers(-5, 295)),),
        }

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps, self.episodes = 0, self.episodes + 1
        return self._seen(), {"begun": self.episodes}

    def step(self, action: Any) -> Any:
        self.steps += 1
        reward = float(self.np_random.normal()) + action["move"].power
        over = self.steps % 7 == 0
        outcome = ("success", "failure", None)[self.episodes % 3]
        info = {"outcome": outcome, "power": action["move"].power} if over and outcome else {"power": 0.0}
        return Step(self._seen(), reward, over and self.episodes % 3 != 2, over and self.episodes % 3 == 2, info)


def random_actions(env: Any, count: int, seed: int = 0) -> list[Any]:
    env.action_space.seed(seed)
    return [env.action_space.sample() for _ in range(count)]


def play(env: Any, count: int, *, seed: Any = 11) -> list[Any]:
    """So many steps, each with what it gave; one environment is reset where it ends."""
    seen = [(env.reset(seed=seed), None)]
    for action in random_actions(env, count):
        step = env.step(action)
        seen.append((step, action))
        if not env.batch_shape and step.done:
            seen.append((env.reset(), None))
    return seen


def record(env: Any, path: Path, level: Any, count: int = 60, **options: Any) -> list[Any]:
    with Recorder(env, path, level, **options) as recorded:
        return play(recorded, count)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.ludus"


def batch(executor: str = "kernel", mode: str = "NextStep", lanes: int = 5) -> Any:
    return ludus.make_vec("CartPole-v1", lanes, executor=executor, autoreset_mode=mode)
