"""Rules of somebody's own that draw at every reset and every step: one step too many shows in all that follows."""

from typing import NamedTuple

import numpy as np

from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete


class Boat(NamedTuple):
    place: float
    wind: float
    left: int


class Water(NamedTuple):
    drift: float = 0.5
    longest: int = 9


class Log(NamedTuple):
    left: int
    wind: float


def launch(rng, params):
    return Boat(rng.random(), rng.random(), 1 + int(rng.random() * params.longest))


def sail(state, action, rng, params):
    wind = rng.random()
    place = state.place + (action - 1) * params.drift + wind - 0.5
    after = Boat(place, wind, state.left - 1)
    return after, place * 2 + action, after.left <= 0


def look(state, params):
    return np.float32(state.place), np.float32(state.wind)


def log(state, params):
    return Log(state.left, state.wind)


class Drift(RuleEnv):
    observation_space, action_space = Box(-99.0, 99.0, (2,), np.float32), Discrete(3)
    rules = Rules(Boat, Water, launch, sail, look, log)

    def reset_params(self, options):
        return self.params._replace(longest=int(options["longest"]))
