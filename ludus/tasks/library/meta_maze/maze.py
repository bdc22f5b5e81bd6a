"""A maze that is new in every episode, with a goal that has to be found, and can be found again and again."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete

__all__ = ["Maze"]

SIDE, STEPS = 11, 150


class State(NamedTuple):
    """Walls, where the walker is, where it starts, and where the goal is."""

    walls: NDArray[np.int8]
    row: int
    column: int
    start: int
    goal: int
    reward: float
    time: int


class Params(NamedTuple):
    """How long an episode lasts."""

    steps: int = STEPS


def reset(rng: np.random.Generator, params: Params) -> State:
    """Each pillar grows one wall; only those of the first row may grow it upwards, so that all stays connected."""
    walls = np.zeros((SIDE, SIDE), np.int8)
    walls[0, :] = walls[SIDE - 1, :] = 1
    walls[:, 0] = walls[:, SIDE - 1] = 1
    for row in range(2, SIDE - 1, 2):
        for column in range(2, SIDE - 1, 2):
            walls[row, column] = 1
            way = rng.integers(0, 4 if row == 2 else 3)
            if way == 0:
                walls[row + 1, column] = 1
            elif way == 1:
                walls[row, column - 1] = 1
            elif way == 2:
                walls[row, column + 1] = 1
            else:
                walls[row - 1, column] = 1
    half = SIDE // 2
    start = int(rng.integers(0, half * half))
    goal = int(rng.integers(0, half * half - 1))
    goal += 1 if goal >= start else 0
    return State(walls, 1 + 2 * (start // half), 1 + 2 * (start % half), start, goal, 0.0, 0)


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, float, bool]:
    """Up, down, left or right; walls stop. At the goal: 1, and back to the start."""
    half = SIDE // 2
    row = state.row + (-1 if action == 0 else 1 if action == 1 else 0)
    column = state.column + (-1 if action == 2 else 1 if action == 3 else 0)
    if state.walls[row, column] == 1:
        row, column = state.row, state.column
    reward = 0.0
    if row == 1 + 2 * (state.goal // half) and column == 1 + 2 * (state.goal % half):
        reward = 1.0
        row, column = 1 + 2 * (state.start // half), 1 + 2 * (state.start % half)
    time = state.time + 1
    return State(state.walls, row, column, state.start, state.goal, reward, time), reward, time >= params.steps


def observe(state: State, params: Params) -> NDArray[np.float32]:
    """Nine cells around the walker (1 is a wall), its row and column, the last reward, and the share of time gone."""
    seen = np.zeros(13, np.float32)
    for up in range(3):
        for on in range(3):
            seen[3 * up + on] = state.walls[state.row + up - 1, state.column + on - 1]
    seen[9] = state.row
    seen[10] = state.column
    seen[11] = state.reward
    seen[12] = state.time / params.steps
    return seen


class Maze(RuleEnv):
    """Find the goal, remember the way, take it as often as there is time."""

    rules = Rules(State, Params, reset, step, observe)
    observation_space = Box(0.0, float(SIDE), (13,), np.float32)
    action_space = Discrete(4)
