"""FrozenLake: cross slippery ice to a goal without falling into a hole."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ludus.envs.toy_text.categorical import draw_place, probability, which_of_three
from ludus.envs.toy_text.frozen_lake_map import read_map
from ludus.envs.toy_text.frozen_lake_picture import frozen_lake_picture
from ludus.envs.toy_text.tabular_env import Outcome, TabularEnv, colored
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import Rules
from ludus.kernels.overrides import Fixed, hook
from ludus.rendering import Canvas
from ludus.spaces import Discrete

__all__ = ["FrozenLake"]

LEFT, DOWN, RIGHT = 0, 1, 2
HOLE, GOAL = ord("H"), ord("G")


class State(NamedTuple):
    """The tile's number, row by row, and how likely the way there was."""

    s: int
    prob: float = 1.0


class Params(NamedTuple):
    """The map, the ice, and what tiles are worth."""

    tiles: bytes = b"SFFFFHFHFFFHHFFG"
    """The letters of the map, row by row."""
    nrow: int = 4
    ncol: int = 4
    starts: NDArray[np.float64] = np.ones(16)
    """Running sums of the probabilities to start on each tile."""
    is_slippery: bool = True
    success_rate: float = 1.0 / 3.0
    """The probability to go where one wants to, on slippery ice."""
    goal_reward: int | float = 1
    hole_reward: int | float = 0
    frozen_reward: int | float = 0


class Info(NamedTuple):
    """What `info` has beside the observation."""

    prob: float


def reset(rng: np.random.Generator, params: Params) -> State:
    """On a start tile."""
    return State(draw_place(params.starts, rng), 1.0)


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, float, bool]:
    """One tile in the wanted direction, or to either side of it; holes and goals are not left again."""
    number = rng.random()
    tile, prob = params.tiles[state.s], 1.0
    if tile in (HOLE, GOAL):
        place, reward, terminated = state.s, 0, True
    else:
        if params.is_slippery:
            fail_rate = slip_rate(params)
            side = which_of_three(number, fail_rate, params.success_rate, fail_rate)
            prob = params.success_rate if side == 1 else fail_rate
            action = (action + side - 1) % 4
        place, reward, terminated = move(state.s, action, params)
    return State(place, prob), reward, terminated


def slip_rate(params: Params) -> float:
    """The probability to slip to one given side."""
    return (1.0 - params.success_rate) / 2.0


def move(place: int, direction: int, params: Params) -> tuple[int, float, bool]:
    """Where one tile in a direction leads, what that is worth, and whether it ends the episode; the shore stops."""
    row, column = place // params.ncol, place % params.ncol
    if direction == LEFT:
        column = max(column - 1, 0)
    elif direction == DOWN:
        row = min(row + 1, params.nrow - 1)
    elif direction == RIGHT:
        column = min(column + 1, params.ncol - 1)
    else:
        row = max(row - 1, 0)
    place = row * params.ncol + column
    tile = params.tiles[place]
    if tile == GOAL:
        return place, params.goal_reward, True
    if tile == HOLE:
        return place, params.hole_reward, True
    return place, params.frozen_reward, False


def observe(state: State, params: Params) -> int:
    """The tile's number."""
    return state.s


def inform(state: State, params: Params) -> Info:
    """How likely the step was."""
    return Info(state.prob)


class FrozenLake(TabularEnv):
    """A lake with holes. Move left (0), down (1), right (2) or up (3), if the ice lets you; the goal is worth 1.

    >>> env = FrozenLake(is_slippery=False)
    >>> env.reset(seed=0)
    (0, {'prob': 1})
    >>> env.step(2)
    Step(observation=1, reward=0, terminated=False, truncated=False, info={'prob': 1.0})
    """

    rules = Rules(State, Params, reset, step, observe, inform)
    metadata = TabularEnv.metadata | {
        "render_fps": 4,
        "action_names": ["left", "down", "right", "up"],
    }
    desc = Fixed(instead="make a new one with desc=…")

    def __init__(
        self,
        render_mode: str | None = None,
        desc: Sequence[str] | None = None,
        map_name: str | None = "4x4",
        is_slippery: bool = True,
        success_rate: float = 1.0 / 3.0,
        reward_schedule: tuple[float, float, float] = (1, 0, 0),
    ) -> None:
        self.desc = read_map(desc, map_name)
        nrow, ncol = self.desc.shape
        starts = (self.desc == b"S").astype(np.float64).ravel()
        goal, hole, frozen = _rewards(reward_schedule)
        self.reward_range = min(goal, hole, frozen), max(goal, hole, frozen)
        self.observation_space = Discrete(nrow * ncol)
        self.action_space = Discrete(4)
        super().__init__(
            render_mode=render_mode,
            tiles=self.desc.tobytes(),
            nrow=nrow,
            ncol=ncol,
            distribution=starts / starts.sum(),
            is_slippery=is_slippery,
            success_rate=probability("FrozenLake success_rate", success_rate),
            goal_reward=goal,
            hole_reward=hole,
            frozen_reward=frozen,
        )

    @hook
    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """One outcome on sure ground, three on ice."""
        params = self.params
        if params.tiles[state] in (HOLE, GOAL):
            return [(1.0, state, 0, True)]
        if not params.is_slippery:
            return [(1.0, *move(state, action, params))]
        chances = (slip_rate(params), params.success_rate, slip_rate(params))
        return [(chance, *move(state, (action + side - 1) % 4, params)) for side, chance in enumerate(chances)]

    def draw(self) -> Canvas:
        """The lake and the one who crosses it."""
        return frozen_lake_picture(self.desc, *divmod(self.state.s, self.params.ncol))

    def board(self) -> str:
        """The last action and the map, with the tile under the agent on red."""
        rows = [[tile.decode() for tile in row] for row in self.desc.tolist()]
        row, column = divmod(self.state.s, self.params.ncol)
        rows[row][column] = colored(rows[row][column], "red", highlight=True)
        action = "" if self.last_action is None else f"  ({('Left', 'Down', 'Right', 'Up')[self.last_action]})"
        return "\n".join([action, *("".join(row) for row in rows)]) + "\n"


def _is_listed(schedule: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(schedule, Sequence | np.ndarray) and not isinstance(schedule, str)


def _rewards(schedule: object) -> tuple[float, float, float]:
    values = tuple(schedule) if _is_listed(schedule) else ()
    if len(values) != 3 or not all(isinstance(one, int | float | np.number) for one in values):
        raise InvalidArgument(
            f"FrozenLake reward_schedule: expected three numbers, for goal, hole and frozen, got {shorten(schedule)}"
        )
    goal, hole, frozen = values
    return goal, hole, frozen
