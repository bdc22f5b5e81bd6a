"""`Hostile`: an environment that does one hostile deed, when it is made or in the step whose action names it."""

import os
from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.errors import InvalidArgument
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete
from tests.attacks.hostile.channel import hang
from tests.attacks.hostile.ending import ENDINGS, FLOODS
from tests.attacks.hostile.lies import LIES, SPACE_LIES
from tests.attacks.hostile.nonsense import NONSENSE

__all__ = ["DEEDS", "Hostile"]

DEEDS = {**NONSENSE, **LIES, **ENDINGS, **FLOODS}
"""By name: what can be done in a step."""


class Hostile(Env[Any, Any]):
    """Action 0 is an ordinary step; action n does the deed number n, in the order of `DEEDS`.

    `deed` is what it does otherwise: a lie about its spaces, or to `hang` or `exit` when it is made, reset or closed.
    """

    def __init__(self, deed: str = "", path: str = "") -> None:
        self.observation_space = Box(0, 1, (2,), np.float32)
        self.action_space = Discrete(len(DEEDS) + 1)
        self.deed, self.path = deed, path
        if deed in SPACE_LIES:
            SPACE_LIES[deed]()
        self._at("make")

    def _at(self, moment: str) -> None:
        if self.deed == f"{moment}-hang":
            hang()
        if self.deed == f"{moment}-exit":
            os._exit(3)

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        super().reset(seed=seed, options=options)
        self._at("reset")
        return np.full(2, 0.5, np.float32), {}

    def step(self, action: Any) -> Step[Any]:
        if not self.action_space.contains(action):
            raise InvalidArgument(f"action: expected one of {self.action_space!r}, got {action!r}")
        if action:
            list(DEEDS.values())[int(action) - 1](self.path)
        return Step.transition(np.full(2, 0.5, np.float32), 0.0)

    def close(self) -> None:
        self._at("close")
