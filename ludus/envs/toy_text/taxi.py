"""Taxi: fetch a passenger from one of four stops and bring them to another."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.toy_text.categorical import draw_place, probability, which_of_three
from ludus.envs.toy_text.tabular_env import Outcome, Table, TabularEnv, colored
from ludus.envs.toy_text.taxi_picture import taxi_picture
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import Rules
from ludus.kernels.overrides import Fixed, hook, overridden
from ludus.rendering import Canvas
from ludus.spaces import Discrete

__all__ = ["Taxi"]

MAP = (
    "+---------+",
    "|R: | : :G|",
    "| : | : : |",
    "| : : : : |",
    "| | : | : |",
    "|Y| : |B: |",
    "+---------+",
)
TOWN = np.asarray(MAP, dtype="c")
TOWN.flags.writeable = False
INSTEAD = "change P, and initial_state_distrib"
SOUTH, NORTH, EAST, WEST, PICKUP = 0, 1, 2, 3, 4
IN_TAXI = 4
STOP_ROWS, STOP_COLUMNS = (0, 0, 4, 4), (0, 4, 0, 3)
# For each heading: ahead, to its left, to its right.
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""Rows and columns that each heading leads to."""
TURNS = ((SOUTH, EAST, WEST), (NORTH, WEST, EAST), (EAST, NORTH, SOUTH), (WEST, SOUTH, NORTH))


class State(NamedTuple):
    """The place of taxi and passenger and the destination in one number, and what is not seen."""

    s: int
    prob: float = 1.0
    fickle: bool = False
    """Whether the passenger will change their mind on the way."""
    heading: int = SOUTH


class Params(NamedTuple):
    """Weather and passenger."""

    is_rainy: bool = False
    """Whether the taxi may skid to either side of where it heads."""
    fickle_passenger: bool = False
    """Whether a passenger may change the destination, once, when the taxi has left with them."""
    rainy_probability: float = 0.8
    """How likely the taxi goes where it heads, in rain."""
    fickle_probability: float = 0.3
    starts: NDArray[np.float64] = np.ones(500)
    """Running sums of the probabilities to start in each state."""


class Info(NamedTuple):
    """What `info` has beside the observation."""

    prob: float
    action_mask: NDArray[np.int8]


def reset(rng: np.random.Generator, params: Params) -> State:
    """Taxi anywhere, passenger at one stop, destination another."""
    place = draw_place(params.starts, rng)
    fickle = params.fickle_passenger and rng.random() < params.fickle_probability
    return State(place, 1.0, fickle, SOUTH)


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, int, bool]:
    """One street further, or passengers in and out."""
    number = rng.random()
    turn, prob = 0, 1.0
    if params.is_rainy and action < PICKUP:
        skid = skid_rate(params)
        turn = which_of_three(number, params.rainy_probability, skid, skid)
        prob = params.rainy_probability if turn == 0 else skid
    place, reward, terminated = move(state.s, action, turn)
    fickle = state.fickle
    if params.fickle_passenger and fickle and passenger(state.s) == IN_TAXI and place // 20 != state.s // 20:
        fickle = False
        other = int(rng.integers(3))  # of the three other destinations, in their order
        destination = place % 4
        place = place - destination + (other if other < state.s % 4 else other + 1)
    heading = action if action < PICKUP else state.heading
    return State(place, prob, fickle, heading), reward, terminated


def skid_rate(params: Params) -> float:
    """The probability to skid to one given side."""
    return (1.0 - params.rainy_probability) / 2.0


def encode(row: int, column: int, passenger: int, destination: int) -> int:
    """The number of a state."""
    return ((row * 5 + column) * 5 + passenger) * 4 + destination


def passenger(place: int) -> int:
    """Where the passenger is in a state: at stop 0 to 3, or in the taxi (4)."""
    return place // 4 % 5


def blocked(row: int, column: int, direction: int) -> bool:
    """Whether a wall or the border is in the way."""
    if direction == SOUTH:
        return row == 4
    if direction == NORTH:
        return row == 0
    if direction == WEST:
        column -= 1
    if row < 2:
        return column == 1 or column < 0 or column == 4
    return column < 0 or column == 4 or (row > 2 and (column == 0 or column == 2))


def driven(row: int, column: int, direction: int) -> tuple[int, int]:
    """One street further."""
    down, right = (direction == SOUTH) - (direction == NORTH), (direction == EAST) - (direction == WEST)
    return row + down, column + right


def stop_at(row: int, column: int) -> int:
    """The number of the stop at a place, or -1."""
    for stop in range(4):
        if STOP_ROWS[stop] == row and STOP_COLUMNS[stop] == column:
            return stop
    return -1


def move(place: int, action: int, turn: int) -> tuple[int, int, bool]:
    """The state after an action, its reward, and whether that is the end; `turn` skids to the left (1) or right (2)."""
    row, column, rider, destination = place // 100, place // 20 % 5, place // 4 % 5, place % 4
    if action < PICKUP:
        if not blocked(row, column, action):
            direction = TURNS[action][turn]
            if not blocked(row, column, direction):
                row, column = driven(row, column, direction)
        return encode(row, column, rider, destination), -1, False
    stop = stop_at(row, column)
    if action == PICKUP:
        if rider < IN_TAXI and stop == rider:
            return encode(row, column, IN_TAXI, destination), -1, False
        return place, -10, False
    if rider != IN_TAXI or stop < 0:
        return place, -10, False
    if stop == destination:
        return encode(row, column, stop, destination), 20, True
    return encode(row, column, stop, destination), -1, False


def observe(state: State, params: Params) -> int:
    """The number of taxi, passenger and destination."""
    return state.s


def inform(state: State, params: Params) -> Info:
    """How likely the step was, and which actions would change anything."""
    return Info(state.prob, MASKS[state.s])


def action_mask(place: int) -> NDArray[np.int8]:
    """1 for each action that changes the state."""
    row, column, rider = place // 100, place // 20 % 5, place // 4 % 5
    mask = np.zeros(6, dtype=np.int8)
    for direction in range(4):
        if not blocked(row, column, direction):
            mask[direction] = 1
    stop = stop_at(row, column)
    if rider < IN_TAXI and stop == rider:
        mask[4] = 1
    if rider == IN_TAXI and stop >= 0:
        mask[5] = 1
    return mask


MASKS = np.array([action_mask(place) for place in range(500)])
MASKS.flags.writeable = False


class Taxi(TabularEnv):
    """A town of 5 × 5 places. Drive south (0), north (1), east (2), west (3), pick up (4), drop off (5).

    A step costs 1, a wrong pickup or drop-off 10; bringing the passenger home gives 20 and ends the episode.

    >>> env = Taxi()
    >>> env.reset(seed=0)
    (314, {'prob': 1.0, 'action_mask': array([1, 1, 0, 0, 0, 0], dtype=int8)})
    >>> env.decode(314)
    (3, 0, 3, 2)
    """

    rules = Rules(State, Params, reset, step, observe, inform)
    metadata = TabularEnv.metadata | {
        "render_fps": 4,
        "action_names": ["south", "north", "east", "west", "pick up", "drop off"],
        "keys_to_action": {"down": 0, "up": 1, "right": 2, "left": 3, "p": 4, "d": 5},
    }
    first_prob = 1.0
    desc = Fixed(TOWN, instead=INSTEAD)
    locs = Fixed(tuple(zip(STOP_ROWS, STOP_COLUMNS, strict=True)), instead=INSTEAD)
    max_row, max_col = Fixed(4, instead=INSTEAD), Fixed(4, instead=INSTEAD)

    def __init__(
        self,
        render_mode: str | None = None,
        is_rainy: bool = False,
        fickle_passenger: bool = False,
        rainy_probability: float = 0.8,
        fickle_probability: float = 0.3,
    ) -> None:
        begins = np.array([float(passenger(place) not in (IN_TAXI, place % 4)) for place in range(500)])
        self.observation_space = Discrete(500)
        self.action_space = Discrete(6)
        super().__init__(
            render_mode=render_mode,
            is_rainy=is_rainy,
            fickle_passenger=fickle_passenger,
            rainy_probability=probability("Taxi rainy_probability", rainy_probability),
            fickle_probability=probability("Taxi fickle_probability", fickle_probability),
            distribution=begins / begins.sum(),
        )

    @property
    def fickle_step(self) -> bool:
        """Whether the passenger of this episode is still going to change their mind."""
        return self._state is not None and self._state[2]

    @fickle_step.setter
    def fickle_step(self, value: bool) -> None:
        if self._state is not None:
            self._state = self.state._replace(fickle=bool(value))

    @hook
    def encode(self, taxi_row: int, taxi_col: int, pass_loc: int, dest_idx: int) -> int:
        """The state of a taxi's row and column, the passenger's place (4 in the taxi) and the destination."""
        return encode(taxi_row, taxi_col, pass_loc, dest_idx)

    @hook
    def decode(self, i: int) -> tuple[int, int, int, int]:
        """Row and column of the taxi, the passenger's place and the destination of a state."""
        if not 0 <= i < 500:
            raise InvalidArgument(f"decode: expected a state from 0 to 499, got {shorten(i)}")
        return i // 100, i // 20 % 5, i // 4 % 5, i % 4

    @hook
    def action_mask(self, state: int) -> NDArray[np.int8]:
        """1 for each action that would change the state."""
        return action_mask(state)

    # --- the table, by Gymnasium's hooks ---

    @hook
    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """One outcome on dry streets, three in rain."""
        row, column, rider, destination = self.decode(state)
        if action >= PICKUP:
            ends = False
            if action == PICKUP:
                rider, reward = self._pickup((row, column), rider, -1)
            else:
                rider, reward, ends = self._dropoff((row, column), rider, destination, -1)
            return [(1.0, self.encode(row, column, rider, destination), reward, ends)]
        ways = TURNS[action] if self.params.is_rainy else TURNS[action][:1]
        places = [(row, column)] * len(ways)
        if not blocked(row, column, action):
            places = [
                driven(row, column, action),
                *(self._calc_new_position(row, column, WAYS[way]) for way in ways[1:]),
            ]
        skid = skid_rate(self.params)
        chances = (self.params.rainy_probability, skid, skid) if self.params.is_rainy else (1.0,)
        there = [self.encode(*place, rider, destination) for place in places]
        return [(chance, place, -1, False) for chance, place in zip(chances, there, strict=True)]

    @hook
    def _pickup(self, taxi_loc: tuple[int, int], pass_idx: int, reward: int) -> tuple[int, int]:
        """Where the passenger is after a pickup, and its reward."""
        there = pass_idx < IN_TAXI and taxi_loc == self.locs[pass_idx]
        return (IN_TAXI, reward) if there else (pass_idx, -10)

    @hook
    def _dropoff(
        self, taxi_loc: tuple[int, int], pass_idx: int, dest_idx: int, default_reward: int
    ) -> tuple[int, int, bool]:
        """Where the passenger is after a drop-off, its reward, and whether it ends the episode."""
        if pass_idx != IN_TAXI or taxi_loc not in self.locs:
            return pass_idx, -10, False
        home = taxi_loc == self.locs[dest_idx]
        return (dest_idx, 20, True) if home else (self.locs.index(taxi_loc), default_reward, False)

    @hook
    def _calc_new_position(self, row: int, col: int, movement: tuple[int, int]) -> tuple[int, int]:
        """Where the cab skids to."""
        direction = WAYS.index(movement)
        return (row, col) if blocked(row, col, direction) else driven(row, col, direction)

    @hook
    def _build_dry_transitions(self, row: int, col: int, pass_idx: int, dest_idx: int, action: int) -> None:
        """Enter what may follow an action into `P`."""
        state = self.encode(row, col, pass_idx, dest_idx)
        self.P[state][action].extend(self.outcomes(state, action))

    @hook
    def _build_rainy_transitions(self, row: int, col: int, pass_idx: int, dest_idx: int, action: int) -> None:
        """Enter what may follow an action in rain into `P`."""
        Taxi._build_dry_transitions(self, row, col, pass_idx, dest_idx, action)

    def _listing(self) -> Table:
        if {"_build_dry_transitions", "_build_rainy_transitions"}.isdisjoint(overridden(self)):
            return super()._listing()
        build = self._build_rainy_transitions if self.params.is_rainy else self._build_dry_transitions
        kept = self._table, self._listed
        self._table, self._listed = {place: {action: [] for action in range(6)} for place in range(500)}, None
        try:
            for place in range(500):
                for action in range(6):
                    build(*Taxi.decode(self, place), action)
            return self._table
        finally:
            self._table, self._listed = kept

    def _by_table(
        self, state: State, action: int, rng: np.random.Generator, params: Params
    ) -> tuple[State, float, bool]:
        prob, place, reward, terminated = self._drawn(state, action, rng)
        old_row, old_column, rider, destination = self.decode(state[0])
        row, column, now, _ = self.decode(place)
        fickle = state[2]
        if params.fickle_passenger and fickle and rider == IN_TAXI and (row, column) != (old_row, old_column):
            fickle = False
            others = [one for one in range(len(self.locs)) if one != destination]
            place = self.encode(row, column, now, rng.choice(others))
        heading = action if action < PICKUP else state[3]
        return State(int(place), prob, fickle, heading), reward, terminated

    def _hooked_functions(self, changed: list[str]) -> tuple[object, object, object] | None:
        functions = super()._hooked_functions(changed)
        return functions if functions is None else (*functions[:2], self._informed)

    def _informed(self, state: State, params: Params) -> Info:
        del params
        return Info(state[1], self.action_mask(state[0]))

    def draw(self) -> Canvas:
        """The town, the passenger, the flag at the destination, and the cab."""
        row, column, rider, destination = self.decode(self.state.s)
        inner = [(place // 4, place % 4) for place in range(20) if blocked(place // 4, place % 4, EAST)]
        return taxi_picture(
            (row, column),
            rider,
            destination,
            stops=self.locs,
            walls=inner,
            heading=self.state.heading,
            rain=self.params.is_rainy,
        )

    def board(self) -> str:
        """The map: the cab on yellow, or on green when full; the passenger blue, the destination magenta."""
        letters, locs = [list(row) for row in MAP], tuple[tuple[int, int], ...](self.locs)
        row, column, rider, destination = self.decode(self.state.s)
        cab = letters[1 + row][2 * column + 1]
        if rider == IN_TAXI:
            cab = "_" if cab == " " else cab
            letters[1 + row][2 * column + 1] = colored(cab, "green", highlight=True)
        else:
            letters[1 + row][2 * column + 1] = colored(cab, "yellow", highlight=True)
            down, right = locs[rider]
            letters[1 + down][2 * right + 1] = colored(letters[1 + down][2 * right + 1], "blue", bold=True)
        down, right = locs[destination]
        letters[1 + down][2 * right + 1] = colored(letters[1 + down][2 * right + 1], "magenta")
        names = ("South", "North", "East", "West", "Pickup", "Dropoff")
        action = "" if self.last_action is None else f"  ({names[self.last_action]})"
        return "\n".join(["".join(row) for row in letters] + [action]) + "\n"
