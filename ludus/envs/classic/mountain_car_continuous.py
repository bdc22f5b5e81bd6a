"""MountainCarContinuous: the car in the valley, with an engine that can be throttled."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from collections.abc import Sequence
from math import cos
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.classic.classic_env import ClassicEnv
from ludus.envs.classic.mountain_car_picture import mountain_car_picture
from ludus.envs.classic.single import SPLIT, is_single, single
from ludus.kernels import Rules
from ludus.rendering import Canvas
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


def reset(rng: np.random.Generator, params: Params) -> State:
    """At rest near the bottom, between `start_low` and `start_high`."""
    return State(rng.uniform(params.start_low, params.start_high), 0.0)


def step(
    state: State, action: NDArray[np.float32], rng: np.random.Generator, params: Params
) -> tuple[tuple[float, float], float, bool]:
    """One step of the engine and of gravity; the left wall stops the car.

    From a first state in double precision, from all others in single precision: such is the history everybody has.
    Pairs of lines with `wide` are `single()` written out, because a call costs more than the arithmetic.
    """
    position, velocity = state
    weakest, strongest, lowest, highest, top_speed, goal, goal_velocity, power, _, _ = params
    pull = 0.0 + float(action[0])  # a double, also where `float` keeps a single
    wide = position * SPLIT
    if position != wide - (wide - position):
        return _first_step(position, velocity, pull, params)
    slope = 3.0 * position
    wide = slope * SPLIT
    weight = 0.0025 * cos(wide - (wide - slope))
    if weakest <= pull <= strongest:
        wide = power * SPLIT
        push = pull * (wide - (wide - power))
        wide = push * SPLIT
        push = wide - (wide - push)
        wide = weight * SPLIT
        push = push - (wide - (wide - weight))
    else:
        push = (weakest if pull < weakest else strongest) * power - weight
    wide = push * SPLIT
    velocity = velocity + (wide - (wide - push))
    if velocity > top_speed:
        velocity = top_speed
    elif velocity < -top_speed:
        velocity = -top_speed
    wide = velocity * SPLIT
    velocity = wide - (wide - velocity)
    position = position + velocity
    if position > highest:
        position = highest
    elif position < lowest:
        position = lowest
    wide = position * SPLIT
    position = wide - (wide - position)
    if position < lowest + NEAR and position == single(lowest) and velocity < 0.0:
        velocity = 0.0
    arrived = position > goal - NEAR and position >= single(goal) and velocity >= goal_velocity
    return (position, velocity), (100.0 if arrived else 0.0) - pull * pull * 0.1, arrived


def _first_step(
    position: float, velocity: float, pull: float, params: Params
) -> tuple[tuple[float, float], float, bool]:
    """The same in double precision, except for the push of an engine within its limits."""
    weight = 0.0025 * cos(3.0 * position)
    if params.min_action <= pull <= params.max_action:
        push = single(single(pull * single(params.power)) - single(weight))
    else:
        push = min(max(pull, params.min_action), params.max_action) * params.power - weight
    velocity = min(max(velocity + push, -params.max_speed), params.max_speed)
    position = min(max(position + velocity, params.min_position), params.max_position)
    if position == params.min_position and velocity < 0.0:
        velocity = 0.0
    arrived = position >= params.goal_position and velocity >= params.goal_velocity
    return (single(position), single(velocity)), (100.0 if arrived else 0.0) - pull * pull * 0.1, arrived


def observe(state: State, params: Params) -> State:
    """The state itself."""
    return state


class MountainCarContinuous(ClassicEnv):
    """A car in a valley, pulled by a force from -1 to 1, clipped; 100 at the flag, less 0.1 × force² each step.

    >>> env = MountainCarContinuous()
    >>> env.reset(seed=123, options={"low": -0.7, "high": -0.5})[0]
    array([-0.5635296,  0.       ], dtype=float32)
    """

    rules = Rules(State, Params, reset, step, observe)
    clips_actions = True
    metadata = ClassicEnv.metadata | {"render_fps": 30}

    def __init__(self, render_mode: str | None = None, goal_velocity: float = 0) -> None:
        params = self._default_params()
        self.low_state = np.array([params.min_position, -params.max_speed], dtype=np.float32)
        self.high_state = np.array([params.max_position, params.max_speed], dtype=np.float32)
        self.observation_space = Box(self.low_state, self.high_state, dtype=np.float32)
        self.action_space = Box(params.min_action, params.max_action, shape=(1,), dtype=np.float32)
        super().__init__(render_mode=render_mode, goal_velocity=goal_velocity)

    def _state_dtype(self, state: Sequence[float]) -> type[np.floating]:
        return np.float32 if is_single(state[0]) else np.float64  # all but a first state are single precision

    def draw(self) -> Canvas:
        """The valley, the car and the flag."""
        params, throttle = self.params, 0.0 if self.last_action is None else float(self.last_action[0])
        return mountain_car_picture(
            self._fields().position, params.min_position, params.max_position, params.goal_position, throttle
        )
