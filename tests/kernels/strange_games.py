"""Games as a stranger would write them: boards, pictures, dictionaries, states in states, facts of a step."""

from typing import Any, NamedTuple

import numpy as np

from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple


class NoParams(NamedTuple):
    pass


# --- four in a row against chance: a board that is changed in place, masks, truncation, facts ---


class FourState(NamedTuple):
    board: Any
    heights: Any
    moves: int


class FourParams(NamedTuple):
    rows: int = 6
    needed: int = 4


class FourInfo(NamedTuple):
    landed: int
    outcome: int
    reply: int


def four_reset(rng, params):
    return FourState(np.zeros((6, 7), np.int8), np.zeros(7, np.int64), 0)


def run_length(board, row, column, down, right):
    mark, count = board[row, column], 0
    while 0 <= row < 6 and 0 <= column < 7 and board[row, column] == mark:
        count += 1
        row += down
        column += right
    return count


def wins(board, row, column, needed):
    if run_length(board, row, column, 1, 0) >= needed:
        return True
    for down in range(-1, 2):
        both = run_length(board, row, column, down, 1) + run_length(board, row, column, -down, -1) - 1
        if both >= needed:
            return True
    return False


def drop(board, heights, column, mark):
    row = 5 - heights[column]
    board[row, column] = mark
    heights[column] += 1
    return row


def four_step(state, action, rng, params):
    board, heights = state.board, state.heights
    if heights[action] == 6:
        return state, -1.0, True, False, FourInfo(-1, 5, -1)
    row = drop(board, heights, action, 1)
    moves = state.moves + 1
    if wins(board, row, action, params.needed):
        return FourState(board, heights, moves), 1.0, True, False, FourInfo(row, 1, -1)
    free = 0
    for column in range(7):
        free += 1 if heights[column] < 6 else 0
    if free == 0:
        return FourState(board, heights, moves), 0.0, False, True, FourInfo(row, 0, -1)
    place = rng.integers(free)
    reply = 0
    for column in range(7):
        if heights[column] < 6:
            if place == 0:
                reply = column
                break
            place -= 1
    answer = drop(board, heights, reply, -1)
    lost = wins(board, answer, reply, params.needed)
    return FourState(board, heights, moves + 1), -1.0 if lost else 0.0, lost, moves > 30, FourInfo(row, 0, reply)


def four_observe(state, params):
    return state.board


def four_legal(state, params):
    return state.heights < 6


class FourInARow(RuleEnv):
    rules = Rules(FourState, FourParams, four_reset, four_step, four_observe, legal=four_legal)
    observation_space = Box(-1, 1, (6, 7), np.int8)
    action_space = Discrete(7)


class StrictFour(RuleEnv):
    rules = FourInARow.rules._replace(illegal="refuse")
    observation_space = Box(-1, 1, (6, 7), np.int8)
    action_space = Discrete(7)


# --- life: two boards that are swapped, a picture of uint8 ---


class LifeState(NamedTuple):
    cells: Any
    spare: Any
    age: int


class LifeParams(NamedTuple):
    chance: float = 0.4


def life_reset(rng, params):
    cells = np.zeros((8, 9), np.bool_)
    for row in range(8):
        for column in range(9):
            cells[row, column] = rng.random() < params.chance
    return LifeState(cells, np.zeros((8, 9), np.bool_), 0)


def life_step(state, action, rng, params):
    cells, after = state.cells, state.spare
    cells[action[0], action[1]] = True
    alive = 0
    for row in range(8):
        for column in range(9):
            around = 0
            for down in range(-1, 2):
                for right in range(-1, 2):
                    if (down != 0 or right != 0) and cells[(row + down) % 8, (column + right) % 9]:
                        around += 1
            after[row, column] = around == 3 or (around == 2 and cells[row, column])
            alive += 1 if after[row, column] else 0
    return LifeState(after, cells, state.age + 1), float(alive), alive == 0


def life_observe(state, params):
    picture = np.zeros((8, 9, 3), np.uint8)
    for row in range(8):
        for column in range(9):
            picture[row, column, 0] = 255 if state.cells[row, column] else 0
            picture[row, column, 1] = 255 if state.spare[row, column] else 0
            picture[row, column, 2] = state.age % 256
    return picture


class Life(RuleEnv):
    rules = Rules(LifeState, LifeParams, life_reset, life_step, life_observe)
    observation_space = Box(0, 255, (8, 9, 3), np.uint8)
    action_space = MultiDiscrete([8, 9])


# --- a rover: states in states, a Dict of everything, a start from options ---


class Pose(NamedTuple):
    x: float
    y: float


class Battery(NamedTuple):
    charge: float
    log: Any


class RoverState(NamedTuple):
    pose: Pose
    battery: Battery
    corner: tuple
    doors: Any
    turn: int


class RoverOptions(NamedTuple):
    x: float = 0.0
    doors: Any = np.zeros(4, np.int8)


class RoverParams(NamedTuple):
    cost: float = 0.125


class RoverFacts(NamedTuple):
    slipped: bool
    moved: float


def rover_reset(rng, params, options):
    return RoverState(Pose(options.x, rng.uniform(-1.0, 1.0)), Battery(1.0, np.zeros(3)), (0, 2), options.doors, 0)


def rover_step(state, action, rng, params):
    pose, battery = state.pose, state.battery
    slipped = rng.random() < 0.25
    moved = 0.0 if slipped else float(action.force[0])
    log = battery.log[::-1]  # a view of its own memory, turned round
    doors = state.doors.copy()
    doors[action.door] = 1 - doors[action.door]
    charge = battery.charge - params.cost
    corner = (state.corner[1], state.corner[0] + 1)
    after = RoverState(Pose(pose.x + moved, pose.y), Battery(charge, log), corner, doors, state.turn + 1)
    after.battery.log[0] += moved
    return after, moved, charge <= 0.0, state.turn >= 6 and slipped, RoverFacts(slipped, moved)


def rover_observe(state, params):
    return {
        "pose": (state.pose.x, state.pose.y),
        "log": state.battery.log,
        "doors": state.doors,
        "more": {"corner": state.corner, "turn": state.turn},
    }


class Info(NamedTuple):
    far: bool
    log: Any


def rover_inform(state, params):
    return Info(state.pose.x > 1.0, state.battery.log)


class Rover(RuleEnv):
    rules = Rules(RoverState, RoverParams, rover_reset, rover_step, rover_observe, rover_inform, options=RoverOptions)
    observation_space = Dict(
        pose=Box(-99, 99, (2,)),
        log=Box(-99, 99, (3,), np.float64),
        doors=MultiBinary(4),
        more=Dict(corner=MultiDiscrete([99, 99]), turn=Discrete(99)),
    )
    action_space = Dict(force=Box(-1, 1, (1,)), door=Discrete(4))


# --- a mixed bag: a Tuple with arrays, scalars that are no axis, numbers of odd dtypes ---


class BagState(NamedTuple):
    small: Any
    cell: Any


def bag_reset(rng, params):
    return BagState(np.float32(rng.random()), START)


START = np.arange(6, dtype=np.int16).reshape(2, 3)


def bag_step(state, action, rng, params):
    cell = state.cell
    cell[action[0], 0] += 1
    cell[0, 1] = int(cell[0, 1]) + int(action[1][0]) + int(action[1][1])
    small = np.float32(state.small * np.float32(0.5))
    return BagState(small, cell), small, cell[0, 1] > 12


class Seen(NamedTuple):
    level: Any
    grid: Any
    flags: Any
    one: int


def bag_observe(state, params):
    return Seen(state.small, state.cell, ((state.cell[0, 0] > 1, True), (False, state.cell[1, 0] > 4)), 3)


class Bag(RuleEnv):
    rules = Rules(BagState, NoParams, bag_reset, bag_step, bag_observe)
    observation_space = Tuple(
        (Box(0, 1, (), np.float32), Box(-99, 99, (2, 3), np.int16), MultiBinary((2, 2)), Discrete(7, start=1))
    )
    action_space = Tuple((Discrete(2), MultiBinary(2)))


GAMES = [FourInARow, Life, Rover, Bag]


# --- nim: two players in turn; the same with a rule as the second; and a duel of simultaneous moves ---


class NimState(NamedTuple):
    piles: Any
    player: int


class NimParams(NamedTuple):
    most: int = 5
    careless: float = 0.25


class NimInfo(NamedTuple):
    taken: int


def nim_reset(rng, params):
    return NimState(np.array([rng.integers(1, params.most + 1) for _ in range(3)]), rng.integers(2))


def nim_step(state, action, rng, params):
    piles, player = state.piles, state.player
    pile, taken = action // 5, action % 5 + 1
    if piles[pile] < taken:
        return state, (-1.0, 1) if player == 0 else (1, -1.0), True, False, NimInfo(0)
    piles[pile] -= taken
    over = piles.max() == 0
    won = (1.0, -1.0) if player == 0 else (-1.0, 1.0)
    return NimState(piles, 1 - player), won if over else (0.0, 0.0), over, False, NimInfo(taken)


def nim_observe(state, params, player):
    return (state.piles[0], state.piles[1], state.piles[2], state.player == player)


def nim_turn(state, params):
    return state.player


def nim_legal(state, params):
    mask = np.zeros(15, np.bool_)
    for pile in range(3):
        mask[pile * 5 : pile * 5 + state.piles[pile]] = True
    return mask


def nim_opponent(state, rng, params):
    """The move that leaves nothing to the sum of binary digits, unless he is careless."""
    total = state.piles[0] ^ state.piles[1] ^ state.piles[2]
    if rng.random() >= params.careless:
        for pile in range(3):
            wanted = state.piles[pile] ^ total
            if wanted < state.piles[pile]:
                return pile * 5 + (state.piles[pile] - wanted) - 1
    for pile in range(3):
        if state.piles[pile] > 0:
            return pile * 5
    return 0


NIM = Rules(
    NimState, NimParams, nim_reset, nim_step, nim_observe, legal=nim_legal, illegal="refuse", players=2, turn=nim_turn
)


class Nim(RuleEnv):
    rules = NIM
    observation_space = MultiDiscrete([6, 6, 6, 2])
    action_space = Discrete(15)


class NimAgainst(RuleEnv):
    rules = NIM._replace(opponent=nim_opponent)
    observation_space = MultiDiscrete([6, 6, 6, 2])
    action_space = Discrete(15)


class TableParams(NamedTuple):
    most: int = 5
    careless: float = 0.25
    table: Any = np.zeros((6, 6, 6), np.int64)


def nim_table():
    """The move of the rule that never errs, for every position."""
    table, rng = np.zeros((6, 6, 6), np.int64), np.random.default_rng(0)
    for place in np.ndindex(6, 6, 6):
        table[place] = nim_opponent(NimState(np.array(place), 1), rng, NimParams(careless=0.0))
    return table


def table_opponent(state, rng, params):
    return params.table[state.piles[0], state.piles[1], state.piles[2]]


class NimTable(RuleEnv):
    rules = NIM._replace(params=TableParams, opponent=table_opponent)
    observation_space = MultiDiscrete([6, 6, 6, 2])
    action_space = Discrete(15)


class DuelState(NamedTuple):
    lives: tuple
    round: int


def duel_reset(rng, params):
    return DuelState((3, 3), 0)


def duel_step(state, action, rng, params):
    first, second = state.lives
    hit_second = action[0] != action[1] and rng.random() < 0.75
    hit_first = action[0] == action[1] and rng.random() < 0.75
    first, second = first - (1 if hit_first else 0), second - (1 if hit_second else 0)
    rewards = (1.0 if hit_second else 0.0, 1.0 if hit_first else 0.0)
    return DuelState((first, second), state.round + 1), rewards, first == 0 or second == 0, state.round > 10


def duel_observe(state, params, player):
    return {"mine": state.lives[0] if player == 0 else state.lives[1], "round": float(state.round)}


ONE = Dict(mine=Discrete(4), round=Box(0, 99, ()))


class Duel(RuleEnv):
    rules = Rules(DuelState, NoParams, duel_reset, duel_step, duel_observe, players=2)
    observation_space = Tuple((ONE, ONE))
    action_space = Tuple((Discrete(2), Discrete(2)))


PLAYED = [Nim, NimAgainst, Duel]
