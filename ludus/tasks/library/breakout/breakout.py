"""A small breakout: a ball that is faster than the paddle, three rows of bricks, and a paddle that shakes."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete

__all__ = ["Breakout"]

HEIGHT, WIDTH, TOP, BRICK_ROWS, STEPS = 12, 11, 2, 3, 250


class State(NamedTuple):
    """Bricks, the ball and its way, the middle of the paddle, and the time."""

    bricks: NDArray[np.int8]
    row: int
    column: int
    down: int
    right: int
    paddle: int
    time: int


class Params(NamedTuple):
    """How long an episode lasts, and how far the paddle reaches to both sides."""

    steps: int = STEPS
    reach: int = 1


def reset(rng: np.random.Generator, params: Params) -> State:
    """All bricks, and a ball below them on its way down."""
    bricks = np.zeros((HEIGHT, WIDTH), np.int8)
    bricks[TOP : TOP + BRICK_ROWS, :] = 1
    right = int(rng.integers(0, 4)) - 2
    return State(
        bricks, TOP + BRICK_ROWS, int(rng.integers(0, WIDTH)), 1, right + (1 if right >= 0 else 0), WIDTH // 2, 0
    )


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, float, bool]:
    """0 stays, 1 goes left, 2 goes right; then the ball moves: one row, and one or two columns."""
    bricks, down, right = state.bricks, state.down, state.right
    move = -1 if action == 1 else 1 if action == 2 else 0
    paddle = min(max(state.paddle + move, params.reach), WIDTH - 1 - params.reach)
    column = state.column + right
    if column < 0:
        column, right = -column, -right
    elif column > WIDTH - 1:
        column, right = 2 * (WIDTH - 1) - column, -right
    row, reward, lost = state.row + down, 0.0, False
    if row < 0:
        row, down = 1, 1
    if bricks[row, column] == 1:
        bricks[row, column] = 0
        reward = 1.0
        row, down = state.row, -down
        if bricks.sum() == 0:
            bricks[TOP : TOP + BRICK_ROWS, :] = 1
            row, down = HEIGHT // 2 + 1, 1
    elif row == HEIGHT - 1:
        lost = abs(column - paddle) > params.reach
        if not lost:
            row, down = HEIGHT - 2, -1
            right = int(rng.integers(0, 4)) - 2
            right += 1 if right >= 0 else 0
    time = state.time + 1
    return State(bricks, row, column, down, right, paddle, time), reward, lost or time >= params.steps


def observe(state: State, params: Params) -> NDArray[np.int8]:
    """The picture: 0 is empty, 1 a brick, 2 the ball, 3 the paddle."""
    picture = np.zeros((HEIGHT, WIDTH), np.int8)
    picture[:, :] = state.bricks
    picture[HEIGHT - 1, state.paddle - params.reach : state.paddle + params.reach + 1] = 3
    picture[state.row, state.column] = 2
    return picture


class Breakout(RuleEnv):
    """One point for each brick; a ball that is missed ends the episode."""

    rules = Rules(State, Params, reset, step, observe)
    observation_space = Box(0, 3, (HEIGHT, WIDTH), np.int8)
    action_space = Discrete(3)
