"""MountainCarContinuous: the car in the valley, with an engine that can be throttled."""

from math import cos
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.classic.bounds import reset_bounds
from ludus.envs.classic.single import SPLIT, single
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box

__all__ = ["MountainCarContinuous"]

NEAR = 1e-5  # wider than a single-precision step at this scale


class State(NamedTuple):
    """Where the car is along the valley, and how fast it goes."""

    position: float
    velocity: float


class Params(NamedTuple):
    """The valley, the engine, and where an episode starts and ends."""

    min_action: float = -1.0
    max_action: float = 1.0
    min_position: float = -1.2
    max_position: float = 0.6
    max_speed: float = 0.07
    goal_position: float = 0.45
    goal_velocity: float = 0.0
    """The least speed at the goal that counts."""
    power: float = 0.0015
    start_low: float = -0.6
    start_high: float = -0.4


def reset(rng: Any, params: Params) -> State:
    """At rest near the bottom, between `start_low` and `start_high`."""
    return State(rng.uniform(params.start_low, params.start_high), 0.0)


def step(
    state: State, action: NDArray[np.float32], rng: Any, params: Params
) -> tuple[tuple[float, float], float, bool]:
    """One step of the engine and of gravity; the left wall stops the car.

    In double precision from a first state, in single precision from all others: such is the history everybody has. Each
    pair of lines with `wide` is `single()`, written out because a call costs more than the arithmetic.
    """
    position, velocity = state
    weakest, strongest, lowest, highest, top_speed, goal, goal_velocity, power, _, _ = params
    pull = float(action[0])
    wide = position * SPLIT
    double = position != wide - (wide - position)
    slope = 3.0 * position
    if not double:
        wide = slope * SPLIT
        slope = wide - (wide - slope)
    gravity = 0.0025 * cos(slope)
    if weakest <= pull <= strongest:
        wide = gravity * SPLIT
        push = single(pull * single(power)) - (wide - (wide - gravity))
    else:
        push = (strongest if pull > strongest else weakest) * power - gravity
    if not double or weakest <= pull <= strongest:
        wide = push * SPLIT
        push = wide - (wide - push)
    velocity = velocity + push
    if not double:
        wide = velocity * SPLIT
        velocity = wide - (wide - velocity)
    velocity = min(max(velocity, -top_speed), top_speed)
    return _arrive(position, velocity, double, lowest, highest), -(pull * pull * 0.1), False


def _arrive(position: float, velocity: float, double: bool, lowest: float, highest: float) -> tuple[float, float]:
    return position, velocity


def observe(state: State, params: Params) -> State:
    """The state itself."""
    return state
