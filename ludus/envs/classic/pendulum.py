"""Pendulum: swing a pole up with a motor too weak to lift it, and hold it there."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from math import cos, pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.core.options import Options
from ludus.envs.classic.classic_env import ClassicEnv
from ludus.envs.classic.pendulum_picture import pendulum_picture
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import Rules
from ludus.kernels.overrides import hook
from ludus.rendering import Canvas
from ludus.spaces import Box

__all__ = ["Pendulum"]


class State(NamedTuple):
    """The angle from upright, not wrapped, and its speed."""

    theta: float
    theta_dot: float


class Params(NamedTuple):
    """The physics, and where an episode starts."""

    max_speed: float = 8.0
    max_torque: float = 2.0
    dt: float = 0.05
    """Seconds between two states."""
    g: float = 10.0
    m: float = 1.0
    l: float = 1.0  # noqa: E741  (its name everywhere)
    square: float = 2.0
    """The exponent in the costs, no constant: a compiler would multiply instead, and the last bit may differ."""
    start_angle: float = pi
    start_speed: float = 1.0


def reset(rng: np.random.Generator, params: Params) -> State:
    """Angle and speed uniform up to `start_angle` and `start_speed`, either way."""
    angle, speed = params.start_angle, params.start_speed
    return State(rng.uniform(-angle, angle), rng.uniform(-speed, speed))


def step(
    state: State, action: NDArray[np.float32], rng: np.random.Generator, params: Params
) -> tuple[tuple[float, float], float, bool]:
    """One Euler step by the new speed; the torque counts in single precision, as the action does."""
    theta, theta_dot = state
    top_speed, strongest, dt, g, m, length, square, _, _ = params
    limit = np.float32(strongest)
    torque = action[0]
    if torque > limit:
        torque = limit
    if torque < -limit:
        torque = -limit
    effort = np.float32(0.001) * torque ** np.float32(square)
    lean = ((theta + pi) % (2 * pi)) - pi
    costs = lean**square + 0.1 * theta_dot**square + float(effort)
    push = float(np.float32(3.0 / (m * length**square)) * torque)
    theta_dot = theta_dot + (3 * g / (2 * length) * sin(theta) + push) * dt
    theta_dot = min(max(theta_dot, -top_speed), top_speed)
    return (theta + theta_dot * dt, theta_dot), -costs, False


def observe(state: State, params: Params) -> tuple[float, float, float]:
    """The place of the free end, and the speed."""
    theta, theta_dot = state
    return cos(theta), sin(theta), theta_dot


class Pendulum(ClassicEnv):
    """A pole on a hinge with a motor. The action is a torque from -2 to 2, clipped; upright and still is best.

    >>> env = Pendulum(g=9.81)
    >>> env.reset(seed=123, options={"x_init": 1.5707963267948966, "y_init": 0.5})[0]
    array([ 0.8403459 ,  0.54205054, -0.44617897], dtype=float32)
    """

    rules = Rules(State, Params, reset, step, observe)
    clips_actions = True
    metadata = ClassicEnv.metadata | {"render_fps": 30}

    def __init__(self, render_mode: str | None = None, g: float = 10.0) -> None:
        params = self._default_params()
        ends = np.array([1.0, 1.0, params.max_speed], dtype=np.float32)
        self.observation_space = Box(-ends, ends, dtype=np.float32)
        self.action_space = Box(-params.max_torque, params.max_torque, shape=(1,), dtype=np.float32)
        super().__init__(render_mode=render_mode, g=g)

    @property
    def last_u(self) -> float | None:
        """The torque of the last step, clipped; None after a reset."""
        if self.last_action is None:
            return None
        return min(max(float(self.last_action[0]), -self.params.max_torque), self.params.max_torque)

    @last_u.setter
    def last_u(self, value: float | None) -> None:
        self.last_action = None if value is None else np.array([value], np.float32)

    @hook
    def _get_obs(self) -> NDArray[np.float32]:
        """The observation of the state as it is: Gymnasium's name for it."""
        return np.array(observe(self._viewed_state(), self.params), np.float32)

    def _hooked_functions(self, changed: list[str]) -> tuple[object, object, object] | None:
        return (step, self._observed, None) if "_get_obs" in changed else None

    def _observed(self, state: State, params: Params) -> NDArray[np.float32]:
        del state, params  # those of the environment, which a hook reads by itself
        return self._get_obs()

    def reset_params(self, options: Options) -> Params:
        """`x_init` and `y_init` set how far the first angle and speed may be from zero."""
        unknown = [name for name in options if name not in ("x_init", "y_init")]
        if unknown:
            raise InvalidArgument(f"options: expected 'x_init' and 'y_init' at most, got {shorten(unknown)}")
        ends = options.get("x_init", self.params.start_angle), options.get("y_init", self.params.start_speed)
        try:
            angle, speed = (float(end) for end in ends)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"options: expected numbers for x_init and y_init, got {shorten(ends)}") from error
        if not (0 <= angle < float("inf") and 0 <= speed < float("inf")):
            raise InvalidArgument(
                f"options: expected finite numbers from 0 for x_init and y_init, got x_init={angle}, y_init={speed}"
            )
        return self.params._replace(start_angle=angle, start_speed=speed)

    def draw(self) -> Canvas:
        """The rod, and the last torque."""
        return pendulum_picture(self._fields().theta, self.last_u or 0.0, self.params.max_torque)
