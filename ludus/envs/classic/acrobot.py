"""Acrobot: swing the free end of two hinged links above a line, with torque at the joint between them only."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from collections.abc import Sequence
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.classic.acrobot_picture import acrobot_picture
from ludus.envs.classic.classic_env import ClassicEnv
from ludus.envs.classic.single import cosine, is_single, sine, single
from ludus.errors import InvalidArgument
from ludus.kernels import Rules
from ludus.kernels.overrides import hook, overridden
from ludus.rendering import Canvas
from ludus.spaces import Box, Discrete

__all__ = ["Acrobot"]

Angles = tuple[float, float, float, float]


class State(NamedTuple):
    """The first link's angle from hanging down, the second's from the first, and their speeds."""

    theta1: float
    theta2: float
    theta1_dot: float
    theta2_dot: float


class Params(NamedTuple):
    """The physics, and where an episode starts."""

    dt: float = 0.2
    """Seconds between two states."""
    LINK_LENGTH_1: float = 1.0
    LINK_LENGTH_2: float = 1.0
    LINK_MASS_1: float = 1.0
    LINK_MASS_2: float = 1.0
    LINK_COM_POS_1: float = 0.5
    """Where along the first link its centre of mass is."""
    LINK_COM_POS_2: float = 0.5
    LINK_MOI: float = 1.0
    """The moment of inertia of either link."""
    MAX_VEL_1: float = 4 * pi
    MAX_VEL_2: float = 9 * pi
    AVAIL_TORQUE: tuple[float, float, float] = (-1.0, 0.0, 1.0)
    torque_noise_max: float = 0.0
    nips: bool = False
    """Whether to leave out the term that is in the book's equations but not in the paper's."""
    square: float = 2.0
    """The exponent in the equations, no constant: a compiler would multiply instead, and the last bit may differ."""
    start_low: float = -0.1
    start_high: float = 0.1


def reset(rng: np.random.Generator, params: Params) -> Angles:
    """Both links hanging, all four quantities uniform between `start_low` and `start_high`, in single precision."""
    low, high = params.start_low, params.start_high
    theta1, theta2 = single(rng.uniform(low, high)), single(rng.uniform(low, high))
    return theta1, theta2, single(rng.uniform(low, high)), single(rng.uniform(low, high))


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[Angles, float, bool]:
    """One fourth-order Runge-Kutta step under a constant torque."""
    torque = drawn_torque(action, rng, params)
    a1, a2, v1, v2 = state
    dt = params.dt
    half = dt / 2.0
    # Each stage is a speed and an acceleration for both angles; the speeds of a stage are those it was evaluated at.
    p1, p2 = _accelerations(a1, a2, v1, v2, torque, params)
    r1, r2 = v1 + half * p1, v2 + half * p2
    q1, q2 = _accelerations(a1 + half * v1, a2 + half * v2, r1, r2, torque, params)
    s1, s2 = v1 + half * q1, v2 + half * q2
    w1, w2 = _accelerations(a1 + half * r1, a2 + half * r2, s1, s2, torque, params)
    t1, t2 = v1 + dt * w1, v2 + dt * w2
    z1, z2 = _accelerations(a1 + dt * s1, a2 + dt * s2, t1, t2, torque, params)
    sixth = dt / 6.0
    after = limited(
        a1 + sixth * (v1 + 2 * r1 + 2 * s1 + t1),
        a2 + sixth * (v2 + 2 * r2 + 2 * s2 + t2),
        v1 + sixth * (p1 + 2 * q1 + 2 * w1 + z1),
        v2 + sixth * (p2 + 2 * q2 + 2 * w2 + z2),
        params,
    )
    above = is_above(after[0], after[1])
    return after, 0.0 if above else -1.0, above


def drawn_torque(action: int, rng: np.random.Generator, params: Params) -> float:
    """The torque of an action, with its noise."""
    torque = params.AVAIL_TORQUE[action]
    if params.torque_noise_max > 0:
        torque += rng.uniform(-params.torque_noise_max, params.torque_noise_max)
    return torque


def limited(theta1: float, theta2: float, theta1_dot: float, theta2_dot: float, params: Params) -> Angles:
    """A state within its limits: angles by whole turns, speeds by cutting them."""
    slower = min(max(theta1_dot, -params.MAX_VEL_1), params.MAX_VEL_1)
    return _wrapped(theta1), _wrapped(theta2), slower, min(max(theta2_dot, -params.MAX_VEL_2), params.MAX_VEL_2)


def is_above(theta1: float, theta2: float) -> bool:
    """Whether the free end is above the line."""
    return -cos(theta1) - cos(theta2 + theta1) > 1.0


def _accelerations(
    theta1: float, theta2: float, dtheta1: float, dtheta2: float, torque: float, params: Params
) -> tuple[float, float]:
    """What the torque, gravity and the links' motion do to both angles."""
    _, l1, _, m1, m2, lc1, lc2, inertia, _, _, _, _, nips, square, _, _ = params
    g = 9.8
    cos2, sin2 = cos(theta2), sin(theta2)
    d1 = m1 * lc1**square + m2 * (l1**square + lc2**square + 2 * l1 * lc2 * cos2) + inertia + inertia
    d2 = m2 * (lc2**square + l1 * lc2 * cos2) + inertia
    phi2 = m2 * lc2 * g * cos(theta1 + theta2 - pi / 2.0)
    phi1 = (
        -m2 * l1 * lc2 * dtheta2**square * sin2
        - 2 * m2 * l1 * lc2 * dtheta2 * dtheta1 * sin2
        + (m1 * lc1 + m2 * l1) * g * cos(theta1 - pi / 2)
        + phi2
    )
    drive = torque + d2 / d1 * phi1
    if not nips:
        drive = drive - m2 * l1 * lc2 * dtheta1**square * sin2
    ddtheta2 = (drive - phi2) / (m2 * lc2**square + inertia - d2**square / d1)
    return -(d2 * ddtheta2 + phi1) / d1, ddtheta2


def _wrapped(angle: float) -> float:
    """`angle` brought between -π and π by whole turns."""
    turn = pi - -pi
    while angle > pi:
        angle = angle - turn
    while angle < -pi:
        angle = angle + turn
    return angle


def observe(state: State, params: Params) -> tuple[float, float, float, float, float, float]:
    """Cosine and sine of both angles, and their speeds; a first state is seen in single precision, as it was drawn."""
    theta1, theta2, dot1, dot2 = state
    if is_single(theta1) and is_single(theta2) and is_single(dot1) and is_single(dot2):
        return cosine(theta1), sine(theta1), cosine(theta2), sine(theta2), dot1, dot2
    return cos(theta1), sin(theta1), cos(theta2), sin(theta2), dot1, dot2


class Acrobot(ClassicEnv):
    """Two links, one motor between them. Torque of -1 (0), 0 (1) or 1 (2); a step costs 1 until the free end is high.

    >>> env = Acrobot()
    >>> env.reset(seed=123, options={"low": -0.2, "high": 0.2})[0].round(3)
    array([ 0.997,  0.073,  0.984, -0.178, -0.112, -0.126], dtype=float32)
    """

    rules = Rules(State, Params, reset, step, observe)
    metadata = ClassicEnv.metadata | {
        "render_fps": 15,
        "action_names": ["torque -1", "no torque", "torque 1"],
        "keys_to_action": {"": 1, "left": 0, "right": 2},
    }

    def __init__(self, render_mode: str | None = None) -> None:
        params = self._default_params()
        ends = np.array([1.0, 1.0, 1.0, 1.0, params.MAX_VEL_1, params.MAX_VEL_2], dtype=np.float32)
        self.observation_space = Box(-ends, ends, dtype=np.float32)
        self.action_space = Discrete(3)
        super().__init__(render_mode=render_mode)

    @property
    def book_or_nips(self) -> str:
        """`"book"`, or `"nips"` for the equations of the paper, which lack a term."""
        return "nips" if self.params.nips else "book"

    @book_or_nips.setter
    def book_or_nips(self, value: str) -> None:
        if value not in ("book", "nips"):
            raise InvalidArgument(f"book_or_nips: expected 'book' or 'nips', got {value!r}")
        self.params = self.params._replace(nips=value == "nips")

    def _state_dtype(self, state: Sequence[float]) -> type[np.floating]:
        return np.float32 if all(map(is_single, state)) else np.float64  # a first state is drawn in single precision

    # --- hooks, by Gymnasium's names ---

    @hook
    def _get_ob(self) -> NDArray[np.float32]:
        """The observation of the state as it is."""
        return np.array(observe(self._viewed_state(), self.params), np.float32)

    @hook
    def _terminal(self) -> bool:
        """Whether the free end is above the line."""
        return is_above(*self._viewed_state()[:2])

    @hook
    def _dsdt(self, s_augmented: NDArray[np.float64]) -> tuple[float, float, float, float, float]:
        """How fast the state changes; the torque is its last number, and does not."""
        theta1, theta2, dtheta1, dtheta2, torque = s_augmented
        first, second = _accelerations(theta1, theta2, dtheta1, dtheta2, torque, self.params)
        return dtheta1, dtheta2, first, second, 0.0

    def _hooked_functions(self, changed: list[str]) -> tuple[object, object, object] | None:
        hooks = {"_get_ob", "_terminal", "_dsdt"}
        return None if hooks.isdisjoint(changed) else (self._advanced, self._observed, None)

    def _advanced(
        self, state: State, action: int, rng: np.random.Generator, params: Params
    ) -> tuple[object, float, bool]:
        if "_dsdt" in overridden(self):
            self._state = self._integrated(state, drawn_torque(action, rng, params), params)
        else:
            self._state, _, _ = step(state, action, rng, params)
        above = self._terminal()
        return self._state, 0.0 if above else -1.0, above

    def _integrated(self, state: State, torque: float, params: Params) -> Angles:
        """The state after one fourth-order Runge-Kutta step of `_dsdt`."""
        first, dt = np.array([*state, torque]), params.dt
        p = np.asarray(self._dsdt(first))
        q = np.asarray(self._dsdt(first + dt / 2.0 * p))
        r = np.asarray(self._dsdt(first + dt / 2.0 * q))
        s = np.asarray(self._dsdt(first + dt * r))
        theta1, theta2, theta1_dot, theta2_dot, _ = (first + dt / 6.0 * (p + 2 * q + 2 * r + s)).tolist()
        return limited(theta1, theta2, theta1_dot, theta2_dot, params)

    def _observed(self, state: State, params: Params) -> NDArray[np.float32]:
        del state, params  # those of the environment, which a hook reads by itself
        return self._get_ob()

    def draw(self) -> Canvas:
        """The links, the line, and the last torque."""
        params, state = self.params, self._fields()
        torque = 0.0 if self.last_action is None else params.AVAIL_TORQUE[self.last_action]
        return acrobot_picture(state.theta1, state.theta2, (params.LINK_LENGTH_1, params.LINK_LENGTH_2), torque)
