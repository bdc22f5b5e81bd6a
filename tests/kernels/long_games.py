"""Three more games of strangers: physics by every kind of function, a list that grows, and a view through a keyhole."""

import math
from typing import Any, NamedTuple

import numpy as np

from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Dict, Discrete

# --- physics ---


class Swing(NamedTuple):
    angle: float
    speed: float
    heat: float
    trail: Any


class SwingParams(NamedTuple):
    gravity: float = 9.81
    drag: float = 0.03
    kick: float = 2.5


def swing_reset(rng, params):
    return Swing(rng.uniform(-3.0, 3.0), rng.normal(0.0, 0.5), rng.exponential(1.0), np.zeros(9))


def lift(angle, speed):
    """A helper, as authors write them."""
    return math.copysign(math.sqrt(abs(speed)), speed) * math.tanh(angle) + math.atan2(angle, 1.0 + speed * speed)


def swing_step(state, action, rng, params):
    push = (action - 1) * params.kick + rng.normal() * 0.01
    force = -params.gravity * math.sin(state.angle) - params.drag * state.speed**3 + push
    force += 0.1 * lift(state.angle, state.speed) + 0.01 * np.tanh(state.heat) * np.cos(state.angle)
    speed = state.speed + 0.02 * force
    angle = (state.angle + 0.02 * speed + math.pi) % (2.0 * math.pi) - math.pi
    trail = state.trail
    for place in range(8, 0, -1):
        trail[place] = trail[place - 1]
    trail[0] = angle
    heat = min(max(state.heat + 0.001 * speed**2 - 0.0005 * math.exp(state.heat * 0.1), 0.0), 50.0)
    spread = np.sum(trail * trail) - np.mean(trail) ** 2 + np.max(trail)
    reward = math.cos(angle) - 0.01 * abs(speed) ** 1.5 + 1e-3 * spread + 1e-4 * math.log1p(heat)
    return Swing(angle, speed, heat, trail), reward, abs(speed) > 11.0, heat > 40.0


def swing_observe(state, params):
    return {
        "pose": (math.cos(state.angle), math.sin(state.angle), state.speed),
        "trail": np.arctan(state.trail),
        "heat": state.heat**0.5,
    }


class SwingGame(RuleEnv):
    rules = Rules(Swing, SwingParams, swing_reset, swing_step, swing_observe)
    observation_space = Dict(
        pose=Box(-np.inf, np.inf, (3,), np.float32),
        trail=Box(-2.0, 2.0, (9,), np.float64),
        heat=Box(0.0, 10.0, (), np.float64),
    )
    action_space = Discrete(3)


# --- a list that grows ---

SIZE, MOST = 6, 36
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Snake(NamedTuple):
    body: Any
    length: int
    food: int


class SnakeParams(NamedTuple):
    pass


def free_place(body, length, rng):
    place = rng.integers(SIZE * SIZE)
    for _ in range(SIZE * SIZE):
        taken = False
        for one in range(length):
            taken = taken or body[one] == place
        if not taken:
            return place
        place = (place + 7) % (SIZE * SIZE)
    return place


def snake_reset(rng, params):
    body = np.full(MOST, -1)
    body[0] = rng.integers(SIZE * SIZE)
    return Snake(body, 1, free_place(body, 1, rng))


def snake_step(state, action, rng, params):
    body, length, food = state.body, state.length, state.food
    row = body[0] // SIZE + MOVES[action, 0]
    column = body[0] % SIZE + MOVES[action, 1]
    if row < 0 or column < 0 or row >= SIZE or column >= SIZE:
        return state, -1.0, True, False, {"eaten": 0, "length": length}
    place = row * SIZE + column
    for one in range(length - 1):
        if body[one] == place:
            return state, -1.0, True, False, {"eaten": 0, "length": length}
    eats = place == food
    grown = min(length + 1, MOST) if eats else length
    for one in range(grown - 1, 0, -1):
        body[one] = body[one - 1]
    body[0] = place
    if eats:
        food = free_place(body, grown, rng)
    return Snake(body, grown, food), 1.0 if eats else -0.01, False, grown > 12, {"eaten": int(eats), "length": grown}


def snake_observe(state, params):
    seen = np.zeros((3, SIZE, SIZE), np.uint8)
    for one in range(state.length):
        seen[0, state.body[one] // SIZE, state.body[one] % SIZE] = 1
    seen[1, state.body[0] // SIZE, state.body[0] % SIZE] = 255
    seen[2, state.food // SIZE, state.food % SIZE] = 255
    return seen


def snake_legal(state, params):
    allowed = np.zeros(4, np.bool_)
    for move in range(4):
        row = state.body[0] // SIZE + MOVES[move, 0]
        column = state.body[0] % SIZE + MOVES[move, 1]
        allowed[move] = row >= 0 and column >= 0 and row < SIZE and column < SIZE
    return allowed


class SnakeGame(RuleEnv):
    rules = Rules(Snake, SnakeParams, snake_reset, snake_step, snake_observe, legal=snake_legal)
    observation_space, action_space = Box(0, 255, (3, SIZE, SIZE), np.uint8), Discrete(4)


# --- a view through a keyhole ---


class Cave(NamedTuple):
    rock: Any
    row: int
    column: int


class CaveParams(NamedTuple):
    density: float = 0.3


def cave_reset(rng, params):
    rock = np.zeros((9, 9), np.int8)
    for row in range(9):
        for column in range(9):
            rock[row, column] = 1 if rng.random() < params.density else 0
    row, column = rng.integers(9), rng.integers(9)
    rock[row, column] = 0
    return Cave(rock, row, column)


def cave_step(state, action, rng, params):
    row = min(max(state.row + (action == 0) - (action == 1), 0), 8)
    column = min(max(state.column + (action == 2) - (action == 3), 0), 8)
    rock = state.rock
    if rock[row, column] > 0:
        rock[row, column] -= 1  # it is dug away
        return Cave(rock, state.row, state.column), 0.25, False
    return Cave(rock, row, column), -0.01, row == 8 and column == 8


def cave_observe(state, params):
    seen = np.full((3, 3), 2, np.int8)
    for down in range(3):
        for right in range(3):
            row, column = state.row + down - 1, state.column + right - 1
            if 0 <= row < 9 and 0 <= column < 9:
                seen[down, right] = state.rock[row, column]
    return seen


class CaveGame(RuleEnv):
    rules = Rules(Cave, CaveParams, cave_reset, cave_step, cave_observe)
    observation_space, action_space = Box(0, 2, (3, 3), np.int8), Discrete(4)


LONG_GAMES = [SwingGame, SnakeGame, CaveGame]
