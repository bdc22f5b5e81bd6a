"""MountainCar: an underpowered car has to swing up a hill by way of the other one."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from math import cos
from typing import NamedTuple

import numpy as np

from ludus.envs.classic.classic_env import ClassicEnv
from ludus.envs.classic.mountain_car_picture import mountain_car_picture
from ludus.kernels import Rules
from ludus.rendering import Canvas
from ludus.spaces import Box, Discrete

__all__ = ["MountainCar"]


class State(NamedTuple):
    """Where the car is along the valley, and how fast it goes."""

    position: float
    velocity: float


class Params(NamedTuple):
    """The valley, the engine, and where an episode starts and ends."""

    min_position: float = -1.2
    max_position: float = 0.6
    max_speed: float = 0.07
    goal_position: float = 0.5
    goal_velocity: float = 0.0
    """The least speed at the goal that counts."""
    force: float = 0.001
    gravity: float = 0.0025
    start_low: float = -0.6
    start_high: float = -0.4


def reset(rng: np.random.Generator, params: Params) -> State:
    """At rest near the bottom, between `start_low` and `start_high`."""
    return State(rng.uniform(params.start_low, params.start_high), 0.0)


def step(
    state: State, action: int, rng: np.random.Generator, params: Params
) -> tuple[tuple[float, float], float, bool]:
    """One step of the engine (back, off, ahead) and of gravity; the left wall stops the car."""
    position, velocity = state
    lowest, highest, top_speed, goal, goal_velocity, force, gravity, _, _ = params
    velocity = velocity + ((action - 1) * force + cos(3 * position) * (-gravity))
    velocity = min(max(velocity, -top_speed), top_speed)
    position = position + velocity
    position = min(max(position, lowest), highest)
    if position == lowest and velocity < 0:
        velocity = 0.0
    return (position, velocity), -1.0, position >= goal and velocity >= goal_velocity


def observe(state: State, params: Params) -> State:
    """The state itself."""
    return state


class MountainCar(ClassicEnv):
    """A car in a valley. Push left (0), not at all (1) or right (2); every step costs 1 until the flag is reached.

    >>> env = MountainCar()
    >>> env.reset(seed=123)[0]
    array([-0.46352962,  0.        ], dtype=float32)
    """

    rules = Rules(State, Params, reset, step, observe)
    metadata = ClassicEnv.metadata | {
        "render_fps": 30,
        "action_names": ["push left", "coast", "push right"],
        "keys_to_action": {"": 1, "left": 0, "right": 2},
    }

    def __init__(self, render_mode: str | None = None, goal_velocity: float = 0) -> None:
        params = self._default_params()
        self.low = np.array([params.min_position, -params.max_speed], dtype=np.float32)
        self.high = np.array([params.max_position, params.max_speed], dtype=np.float32)
        self.observation_space = Box(self.low, self.high, dtype=np.float32)
        self.action_space = Discrete(3)
        super().__init__(render_mode=render_mode, goal_velocity=goal_velocity)

    def draw(self) -> Canvas:
        """The valley, the car and the flag."""
        params, throttle = self.params, 0 if self.last_action is None else self.last_action - 1
        return mountain_car_picture(
            self._fields().position, params.min_position, params.max_position, params.goal_position, throttle
        )
