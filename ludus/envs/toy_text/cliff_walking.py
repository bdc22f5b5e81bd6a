"""CliffWalking: walk along a cliff to the goal; a step over the edge leads back to the start."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.toy_text.categorical import draw_place, which_of_three
from ludus.envs.toy_text.cliff_walking_picture import cliff_walking_picture
from ludus.envs.toy_text.tabular_env import Outcome, TabularEnv
from ludus.kernels import Rules
from ludus.kernels.overrides import Fixed, hook
from ludus.rendering import Canvas
from ludus.spaces import Discrete
from ludus.spaces.array_space import Array

__all__ = ["CliffWalking"]

ROWS, COLUMNS = 4, 12
START, GOAL = 36, 47
UP, RIGHT, DOWN = 0, 1, 2
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
THIRD = 1 / 3
CLIFF = np.array([START < place < GOAL for place in range(ROWS * COLUMNS)]).reshape(ROWS, COLUMNS)
CLIFF.flags.writeable = False
INSTEAD = "change P"


class State(NamedTuple):
    """The cell's number, row by row, and how likely the way there was."""

    s: int
    prob: float = 1.0


class Params(NamedTuple):
    """The ground."""

    is_slippery: bool = False
    """Whether each step goes to either side as often as ahead."""
    starts: NDArray[np.float64] = np.repeat([0.0, 1.0], [START, ROWS * COLUMNS - START])
    """Running sums of the probabilities to start in each cell."""


class Info(NamedTuple):
    """What `info` has beside the observation."""

    prob: float


def reset(rng: np.random.Generator, params: Params) -> State:
    """In the lower left corner, unless other cells are given a chance."""
    return State(draw_place(params.starts, rng), 1.0)


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, int, bool]:
    """One cell in the wanted direction, or on slippery ground to either side of it."""
    number = rng.random()
    prob = 1.0
    if params.is_slippery:
        action = (action + which_of_three(number, THIRD, THIRD, THIRD) - 1) % 4
        prob = THIRD
    place, reward, terminated = move(state.s, action)
    return State(place, prob), reward, terminated


def move(place: int, direction: int) -> tuple[int, int, bool]:
    """Where one cell in a direction leads, what it costs, and whether it ends the episode; the border stops."""
    row, column = place // COLUMNS, place % COLUMNS
    if direction == UP:
        row = max(row - 1, 0)
    elif direction == RIGHT:
        column = min(column + 1, COLUMNS - 1)
    elif direction == DOWN:
        row = min(row + 1, ROWS - 1)
    else:
        column = max(column - 1, 0)
    return arrived(row * COLUMNS + column)


def arrived(place: int) -> tuple[int, int, bool]:
    """Where a step onto a cell ends, what it costs, and whether it ends the episode."""
    if START < place < GOAL:
        return START, -100, False
    return place, -1, place == GOAL


def observe(state: State, params: Params) -> int:
    """The cell's number."""
    return state.s


def inform(state: State, params: Params) -> Info:
    """How likely the step was."""
    return Info(state.prob)


class CliffWalking(TabularEnv):
    """A 4 × 12 field above a cliff. Move up (0), right (1), down (2) or left (3); a step costs 1, a fall 100.

    >>> env = CliffWalking()
    >>> env.reset(seed=0)
    (36, {'prob': 1})
    >>> env.step(1)
    Step(observation=36, reward=-100, terminated=False, truncated=False, info={'prob': 1.0})
    """

    rules = Rules(State, Params, reset, step, observe, inform)
    metadata = TabularEnv.metadata | {
        "render_fps": 4,
        "action_names": ["up", "right", "down", "left"],
        "keys_to_action": {"up": 0, "right": 1, "down": 2, "left": 3},
    }
    shape = Fixed((ROWS, COLUMNS), instead=INSTEAD)
    start_state_index = Fixed(START, instead="change initial_state_distrib")
    nS = Fixed(ROWS * COLUMNS, instead=INSTEAD)  # noqa: N815  (their names everywhere)
    nA = Fixed(4, instead=INSTEAD)  # noqa: N815
    _cliff = Fixed(CLIFF, instead=INSTEAD)

    def __init__(self, render_mode: str | None = None, is_slippery: bool = False) -> None:
        distribution = np.zeros(self.nS)
        distribution[START] = 1.0
        self.observation_space = Discrete(self.nS)
        self.action_space = Discrete(self.nA)
        super().__init__(render_mode=render_mode, distribution=distribution, is_slippery=is_slippery)

    @hook
    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """One outcome on sure ground, three on slippery."""
        return self._calculate_transition_prob(divmod(state, COLUMNS), action)

    @hook
    def _calculate_transition_prob(self, current: tuple[int, int], move: int) -> list[Outcome]:
        """The outcomes of a move from a row and column: Gymnasium's name for it."""
        if not self.params.is_slippery:
            return [(1.0, *self._moved(current, move))]
        return [(THIRD, *self._moved(current, (move + side - 1) % 4)) for side in range(3)]

    @hook
    def _limit_coordinates(self, coord: Array) -> Array:
        """A row and column that may be beyond the border, brought back within it."""
        coord[0], coord[1] = min(max(coord[0], 0), ROWS - 1), min(max(coord[1], 0), COLUMNS - 1)
        return coord

    def _moved(self, current: tuple[int, int], direction: int) -> tuple[int, int, bool]:
        row, column = self._limit_coordinates(np.array(current) + STEPS[direction])
        return arrived(int(row) * COLUMNS + int(column))

    def draw(self) -> Canvas:
        """The meadow, the cliff and the walker."""
        return cliff_walking_picture(self.state.s, ROWS, COLUMNS)

    def board(self) -> str:
        """Letters for the walker (x), the goal (T), the cliff (C) and the rest (o)."""
        letters = ["C" if START < place < GOAL else "o" for place in range(self.nS)]
        letters[GOAL] = "T"
        letters[self.state.s] = "x"
        rows = [letters[first : first + COLUMNS] for first in range(0, self.nS, COLUMNS)]
        return "".join("  ".join(row) + "\n" for row in rows) + "\n"
