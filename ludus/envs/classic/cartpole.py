"""CartPole: keep a pole upright on a cart by pushing the cart left or right."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from ludus.envs.classic.cartpole_picture import cartpole_picture
from ludus.envs.classic.classic_env import ClassicEnv
from ludus.errors import InvalidArgument
from ludus.kernels import Rules
from ludus.rendering import Canvas
from ludus.spaces import Box, Discrete

__all__ = ["CartPole"]


class State(NamedTuple):
    """Position and speed of the cart, angle and angular speed of the pole."""

    x: float
    x_dot: float
    theta: float
    theta_dot: float


class Params(NamedTuple):
    """The physics, and where an episode starts and ends."""

    gravity: float = 9.8
    masscart: float = 1.0
    masspole: float = 0.1
    total_mass: float = 1.1
    length: float = 0.5
    """Half the pole's length."""
    polemass_length: float = 0.05
    force_mag: float = 10.0
    tau: float = 0.02
    """Seconds between two states."""
    semi_implicit: bool = False
    theta_threshold_radians: float = 12 * 2 * pi / 360
    x_threshold: float = 2.4
    sutton_barto_reward: bool = False
    start_low: float = -0.05
    start_high: float = 0.05


def reset(rng: np.random.Generator, params: Params) -> State:
    """All four quantities uniform between `start_low` and `start_high`."""
    low, high = params.start_low, params.start_high
    return State(rng.uniform(low, high), rng.uniform(low, high), rng.uniform(low, high), rng.uniform(low, high))


def step(
    state: State, action: int, rng: np.random.Generator, params: Params
) -> tuple[tuple[float, float, float, float], float, bool]:
    """One Euler step under a push of fixed force."""
    x, x_dot, theta, theta_dot = state
    # Unpacked at once: fourteen look-ups by name would take as long as the physics.
    gravity, _, masspole, mass, length, polemass, force, tau, semi_implicit, steepest, farthest, negative, _, _ = params
    if action != 1:
        force = -force
    costheta, sintheta = cos(theta), sin(theta)
    temp = (force + polemass * (theta_dot * theta_dot) * sintheta) / mass
    thetaacc = (gravity * sintheta - costheta * temp) / (length * (4.0 / 3.0 - masspole * (costheta * costheta) / mass))
    xacc = temp - polemass * thetaacc * costheta / mass
    if semi_implicit:
        x_dot = x_dot + tau * xacc
        x = x + tau * x_dot
        theta_dot = theta_dot + tau * thetaacc
        theta = theta + tau * theta_dot
    else:
        x = x + tau * x_dot
        x_dot = x_dot + tau * xacc
        theta = theta + tau * theta_dot
        theta_dot = theta_dot + tau * thetaacc
    fallen = x < -farthest or x > farthest or theta < -steepest or theta > steepest
    if negative:
        return (x, x_dot, theta, theta_dot), -1.0 if fallen else 0.0, fallen
    return (x, x_dot, theta, theta_dot), 1.0, fallen


def observe(state: State, params: Params) -> State:
    """The state itself."""
    return state


class CartPole(ClassicEnv):
    """A pole on a cart. Push left (0) or right (1); the reward is 1 a step until the pole falls or the cart leaves.

    >>> env = CartPole()
    >>> env.reset(seed=42)[0]
    array([ 0.0273956 , -0.00611216,  0.03585979,  0.0197368 ], dtype=float32)
    """

    rules = Rules(State, Params, reset, step, observe)
    metadata = ClassicEnv.metadata | {
        "render_fps": 50,
        "action_names": ["push left", "push right"],
    }

    def __init__(self, sutton_barto_reward: bool = False, render_mode: str | None = None) -> None:
        params = self._default_params()
        ends = np.array([params.x_threshold * 2, np.inf, params.theta_threshold_radians * 2, np.inf], dtype=np.float32)
        self.observation_space = Box(-ends, ends, dtype=np.float32)
        self.action_space = Discrete(2)
        super().__init__(render_mode=render_mode, sutton_barto_reward=sutton_barto_reward, **self._derived(params))

    def _derived(self, params: Params) -> dict[str, float]:
        """What follows from other parameters, unless a class sets it; later changes are nobody's but the caller's."""
        found = {"total_mass": params.masspole + params.masscart, "polemass_length": params.masspole * params.length}
        return {name: value for name, value in found.items() if name not in self._class_settings}

    @property
    def kinematics_integrator(self) -> str:
        """`"euler"`, or `"semi-implicit"`, which moves by the new speeds rather than the old."""
        return "semi-implicit" if self.params.semi_implicit else "euler"

    @kinematics_integrator.setter
    def kinematics_integrator(self, value: str) -> None:
        if value not in ("euler", "semi-implicit"):
            raise InvalidArgument(f"kinematics_integrator: expected 'euler' or 'semi-implicit', got {value!r}")
        self.params = self.params._replace(semi_implicit=value != "euler")

    @property
    def _sutton_barto_reward(self) -> bool:
        """Its name in Gymnasium, which programs with a `step` of their own read."""
        return self.params.sutton_barto_reward

    @_sutton_barto_reward.setter
    def _sutton_barto_reward(self, value: bool) -> None:
        self._set_params(sutton_barto_reward=value)

    def draw(self) -> Canvas:
        """The cart, the pole, and the limits of both."""
        params, state = self.params, self._fields()
        return cartpole_picture(state.x, state.theta, params.length, params.x_threshold, params.theta_threshold_radians)
