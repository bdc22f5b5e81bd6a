"""Environments that a server of the tests offers."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ludus import Env, Step
from ludus.core.state import Private
from ludus.spaces import Box, Dict, Discrete, Record


class Album(Env):
    """Pictures: each shows its number, in every pixel."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.observation_space = Dict({"page": Box(0, 255, (12, 16, 3), np.uint8), "number": Discrete(100)})
        self.action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.number = int(self.np_random.integers(50))
        return self._page(), {}

    def _page(self):
        return {"page": np.full((12, 16, 3), self.number, np.uint8), "number": np.int64(self.number)}

    def step(self, action):
        self.number += int(action)
        return Step(self._page(), np.float32(self.number), False, False, {"turned": (1, {"a": {2}})})

    def render(self):
        return self._page()["page"]


@dataclass
class Mood:
    tries: int
    secret: Annotated[str, Private]


class Moody(Env):
    """Raises what the action says."""

    metadata = {"render_modes": []}

    def __init__(self):
        self.observation_space, self.action_space = Discrete(2), Discrete(4)
        self.state = Mood(0, "a candle")

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = Mood(0, "a candle")
        return 0, {"options": options}

    def step(self, action):
        self.state.tries += 1
        if action == 1:
            return Step.transition(1 // 0)
        if action == 2:
            raise ValueError("a bad mood\x1b[31m")
        if action == 3:
            return Step.transition(0, float("nan"))
        return Step.transition(0, 1.0)


@dataclass
class Place:
    row: int
    column: int


@dataclass
class Settlement:
    place: Place
    name: str = "a hut"
    rooms: Annotated[int, Discrete(5)] = 1


@dataclass
class Village:
    houses: list[str]


class Settler(Env):
    """Typed, with a record inside another."""

    metadata = {"render_modes": []}

    def __init__(self):
        self.observation_space, self.action_space = Record(Village), Record(Settlement)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.houses = []
        return Village([]), {}

    def step(self, action):
        self.houses.append(f"{action.name} at {action.place.row}, {action.place.column}")
        return Step(Village(list(self.houses)), 1.0, len(self.houses) == 3, False, {})
