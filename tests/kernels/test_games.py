"""Games: where they start, what is legal, whose memory a state is, and what a step tells."""

import pickle
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.core import AutoresetMode, Episode, Outcome
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, KernelError, ResetNeeded
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from tests.kernels.strange_games import START, Bag, FourInARow, Life, Rover, StrictFour
from tests.kernels.test_shapes import pair, same

LANES = 3


def played(batch, steps, seed=1):
    """A batch after some steps of random actions, and the last step."""
    batch.reset(seed=seed)
    batch.action_space.seed(0)
    for _ in range(steps):
        last = batch.step(batch.action_space.sample())
    return last


# --- where lanes start ---


def test_options_set_a_start_in_one_environment_and_in_every_lane():
    options = {"x": 2, "doors": [1, 0, 1, 1]}
    compiled, serial = pair(Rover, AutoresetMode.NEXT_STEP)
    same(*(one.reset(seed=3, options=options) for one in (compiled, serial)))
    assert compiled.get_attr("state")[1].pose.x == 2.0
    some = np.array([False, True, False])
    same(*(one.reset(options={"x": 5.0, "reset_mask": some}) for one in (compiled, serial)))
    assert [state.pose.x for state in compiled.get_attr("state")] == [2.0, 5.0, 2.0]
    same(*(one.reset() for one in (compiled, serial)))
    assert compiled.get_attr("state")[0].pose.x == 0.0


def test_each_lane_may_start_elsewhere():
    compiled, _ = pair(Rover, AutoresetMode.NEXT_STEP)
    seen, _ = compiled.reset(seed=3, options={"each": {"x": [1.0, 2.0, 3.0]}})
    assert seen["pose"][:, 0].tolist() == [1.0, 2.0, 3.0]
    for lane, place in enumerate((1.0, 2.0, 3.0)):
        alone = Rover()
        assert data_equal(alone.reset(seed=3 + lane, options={"x": place})[0]["pose"], seen["pose"][lane])


@pytest.mark.parametrize(
    "options", [{"y": 1}, {"x": "far"}, {"each": {"x": [1.0]}}, {"each": 3}, {"x": 1, "each": {"x": [1, 2, 3]}}]
)
def test_options_that_are_none_are_refused(options):
    compiled, _ = pair(Rover, AutoresetMode.NEXT_STEP)
    compiled.reset(seed=0)
    with pytest.raises((InvalidArgument, InvalidType), match="options"):
        compiled.reset(options=options)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_planned_episodes_begin_where_the_plan_says(mode):
    def plan(lane, number):
        return Episode(10 * lane + number if number % 2 else None, {"x": float(number)} if lane else None)

    batches = (
        KernelVectorEnv(Rover, LANES, autoreset_mode=mode, episodes=plan),
        SerialVectorEnv([Rover] * LANES, autoreset_mode=mode, episodes=plan),
    )
    same(*(one.reset(seed=2) for one in batches))
    batches[0].action_space.seed(1)
    for _ in range(40):
        action = batches[0].action_space.sample()
        same(*(one.step(action) for one in batches))


# --- what is legal ---


def test_masks_are_what_the_action_spaces_sample_by():
    batch, alone = KernelVectorEnv(StrictFour, LANES), StrictFour()
    seen, info = batch.reset(seed=0)
    _, told = alone.reset(seed=0)
    assert info["action_mask"].dtype == np.int8
    assert np.array_equal(info["action_mask"][0], told["action_mask"])
    for _ in range(60):
        seen, _, _, _, info = batch.step(batch.action_space.sample(mask=tuple(info["action_mask"])))
        step = alone.step(alone.action_space.sample(mask=told["action_mask"]))
        told = alone.reset()[1] if step.done else step.info
    assert seen.shape == (LANES, 6, 7)


def test_an_illegal_action_is_the_rules_own_business_unless_they_say_refuse():
    column = FourInARow.rules.state(np.ones((6, 7), np.int8), np.array([6, 0, 0, 0, 0, 0, 0]), 6)
    for kind in (FourInARow, StrictFour):
        alone, batch = kind(), KernelVectorEnv(kind, LANES)
        alone.reset(seed=0)
        batch.reset(seed=0)
        alone.state = column
        batch.set_attr("state", [column, column, column])
        if kind is FourInARow:
            assert alone.step(0)[1:3] == (-1.0, True)
            assert batch.step(np.zeros(LANES, int)).info["outcome"].tolist() == [5, 5, 5]
            continue
        with pytest.raises(
            InvalidAction, match=r"action: expected one of the legal actions \[1, 2, 3, 4, 5, 6\], got 0"
        ):
            alone.step(0)
        before = batch.get_attr("state")
        with pytest.raises(InvalidAction, match=r"action\[1\]: expected one of the legal actions \[1, 2"):
            batch.step(np.array([1, 0, 2]))
        assert all(data_equal(tuple(a), tuple(b)) for a, b in zip(before, batch.get_attr("state"), strict=True))
        batch.step_masked(np.array([1, 0, 2]), np.array([True, False, True]))


# --- whose memory a state is ---


@pytest.mark.in_turns("kind")
@pytest.mark.parametrize("kind", [FourInARow, Life, Rover, Bag])
def test_the_state_of_each_lane_can_be_read_and_set(kind):
    compiled, serial = pair(kind, AutoresetMode.NEXT_STEP)
    played(compiled, 5)
    serial.reset(seed=9)
    states = compiled.get_attr("state")
    assert all(isinstance(state, kind.rules.state) for state in states)
    serial.set_attr("state", list(states))
    assert all(data_equal(tuple(a), tuple(b)) for a, b in zip(states, serial.get_attr("state"), strict=True))
    for lane, rng in enumerate(compiled.np_random):
        serial.envs[lane].unwrapped.np_random = rng
    for _ in range(4):
        action = compiled.action_space.sample()
        assert data_equal(compiled.step(action).observation, serial.step(action).observation)
    held = compiled.get_attr("state")
    compiled.set_attr("state", list(states))
    assert all(data_equal(tuple(a), tuple(b)) for a, b in zip(states, compiled.get_attr("state"), strict=True))
    assert not all(data_equal(tuple(a), tuple(b)) for a, b in zip(states, held, strict=True))


def test_states_that_are_none_are_refused():
    batch = KernelVectorEnv(FourInARow, 2)
    assert batch.get_attr("state") == (None, None)
    good = FourInARow.rules.state(np.zeros((6, 7), np.int8), np.zeros(7, np.int64), 0)
    with pytest.raises(ResetNeeded, match=r"set_attr state: expected reset\(\) first"):
        batch.set_attr("state", [good, good])
    batch.reset(seed=0)
    wrong = [good], [good, 3], [good, good._replace(moves=0.5)], [good, good._replace(heights=np.zeros(3))]
    for values in wrong:
        with pytest.raises(InvalidArgument, match=r"state|moves|heights"):
            batch.set_attr("state", values)
    assert not batch.get_attr("state")[0].board.any()


@pytest.mark.parametrize("kind", [FourInARow, Life, Rover, Bag])
def test_nobodys_arrays_change_behind_his_back(kind):
    alone = kind()
    first, _ = alone.reset(seed=0)
    alone.action_space.seed(0)
    state, snapshot = alone.state, alone.snapshot()
    kept = [np.array(one) for one in _arrays(state)]
    actions = [alone.action_space.sample() for _ in range(5)]
    history = [alone.step(action) for action in actions]
    assert all(np.array_equal(a, b) for a, b in zip(kept, _arrays(state), strict=True))
    alone.restore(snapshot)
    assert all(data_equal(alone.step(action), step) for action, step in zip(actions, history, strict=True))
    assert data_equal(first, kind().reset(seed=0)[0])
    assert START.tolist() == [[0, 1, 2], [3, 4, 5]]


def _arrays(value):
    if isinstance(value, tuple):
        return [found for one in value for found in _arrays(one)]
    return [value] if isinstance(value, np.ndarray) else []


def test_a_fork_and_a_snapshot_of_a_game_go_their_own_ways():
    batch = KernelVectorEnv(Rover, LANES)
    played(batch, 3)
    twin, before = batch.fork([2, 0]), batch.snapshot()
    action = batch.action_space.sample()
    step = batch.step(action)
    theirs = twin.step({name: one[[2, 0]] for name, one in action.items()})
    assert np.array_equal(step.observation["log"][[2, 0]], theirs.observation["log"])
    batch.restore(before)
    assert data_equal(batch.step(action).observation, step.observation)


def test_a_masked_step_leaves_the_other_lanes_of_a_game_alone():
    batches = pair(Rover, AutoresetMode.NEXT_STEP)
    same(*(one.reset(seed=1) for one in batches))
    batches[0].action_space.seed(3)
    for number in range(12):
        mask = np.array([number % 2 == 0, True, number % 3 == 0])
        action = batches[0].action_space.sample()
        same(*(one.step_masked(action, mask) for one in batches))


@dataclass
class Boxed:
    place: int


class Nothing(NamedTuple):
    pass


def test_a_state_that_is_no_namedtuple_is_refused_with_what_to_write():
    with pytest.raises(
        KernelError, match=r"Odd state: expected a NamedTuple class, got a dataclass; write `class Boxed"
    ):

        class Odd(RuleEnv):
            rules = Rules(Boxed, Nothing, lambda rng, params: Boxed(0), lambda *_: None, lambda *_: 0)
            observation_space = action_space = Discrete(2)


class Count(NamedTuple):
    place: int


class Result(IntEnum):
    UNDER_WAY = 0
    SUCCESS = 1


class Fact(NamedTuple):
    outcome: int
    drawn: float


def count_step(state, action, rng, params):
    place = state.place + action
    outcome = Result.SUCCESS if place > 3 else Result.UNDER_WAY
    return Count(place), 0.0, place > 3, False, Fact(outcome, rng.random())


class Counting(RuleEnv):
    rules = Rules(Count, Nothing, lambda rng, params: Count(0), count_step, lambda state, params: state.place)
    observation_space, action_space = Discrete(9), Discrete(2)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_facts_of_a_step_are_told_of_the_lanes_that_took_one(mode):
    batches = pair(Counting, mode)
    same(*(one.reset(seed=0) for one in batches))
    for number in range(9):
        action = np.array([1, number % 2, 0])
        step, expected = (one.step(action) for one in batches)
        same(step, expected)
        if mode is AutoresetMode.DISABLED and step.done.any():
            same(*(one.reset(options={"reset_mask": step.done}) for one in batches))
    alone = Counting()
    alone.reset(seed=0)
    assert [alone.step(1).info.get("outcome") for _ in range(4)] == [None, None, None, Outcome.SUCCESS]


def told_as_dict(state, params) -> Any:
    return {"place": state.place, "half": state.place * 0.5}


class Telling(RuleEnv):
    rules = Counting.rules._replace(inform=told_as_dict)
    observation_space, action_space = Discrete(9), Discrete(2)


def test_inform_may_write_a_dictionary():
    batches = pair(Telling, AutoresetMode.SAME_STEP)
    same(*(one.reset(seed=0) for one in batches))
    for _ in range(9):
        same(*(one.step(np.ones(LANES, int)) for one in batches))


@pytest.mark.parametrize("kind", [FourInARow, StrictFour, Life, Rover, Bag])
def test_a_snapshot_of_a_game_travels(kind):
    env = kind()
    env.reset(seed=0)
    env.action_space.seed(0)
    snapshot = pickle.loads(pickle.dumps(env.snapshot()))
    action = env.action_space.sample()
    step = env.step(action)
    env.restore(snapshot)
    assert data_equal(env.step(action), step)


# --- small integers ---


class Pebbles(NamedTuple):
    board: Any
    turn: int


class NoParams(NamedTuple):
    pass


def pebble_step(state, action, rng, params):
    board = state.board
    row, column = action // 3, action % 3
    board[row, column] += 1
    board[0, 0] = 1 - board[0, 0]
    board[1, 1] = -board[1, 1]
    board[2, 2] = board[2, 1] + board[row, column]
    return Pebbles(board, -state.turn), float(board[row, column] > 2), board[row, column] + 1 > 100


class PebbleGame(RuleEnv):
    rules = Rules(
        Pebbles,
        NoParams,
        lambda rng, params: Pebbles(np.zeros((3, 3), np.int8), 1),
        pebble_step,
        lambda state, params: state.board,
    )
    observation_space, action_space = Box(-128, 127, (3, 3), np.int8), Discrete(9)


def test_small_integers_of_a_board_may_be_counted_and_compared():
    one, batch = PebbleGame(), KernelVectorEnv(PebbleGame, 2)
    one.reset(seed=0)
    batch.reset(seed=0)
    for action in range(60):
        alone, both = one.step(action % 9), batch.step(np.array([action % 9] * 2))
        assert (alone.observation == both.observation[1]).all()
        assert alone.reward == both.reward[1]


def doubled(state, action, rng, params):
    board = state.board
    board[0, 0] = 1 if board[0, 0] == 0 else board[0, 0] + board[0, 0]
    return Pebbles(board, state.turn), 0.0, False


def test_a_small_integer_that_would_wrap_around_is_an_error_with_lane_and_line():
    class Doubling(PebbleGame):
        rules = PebbleGame.rules._replace(step=doubled)

    batch = KernelVectorEnv(Doubling, 2)
    batch.reset(seed=0)
    for _ in range(7):
        batch.step(np.array([5, 0]))
    with pytest.raises(
        OverflowError, match=r"^lane 0, step 8: an integer beyond int8 at .*test_games\.py:\d+ \(board\[0"
    ):
        batch.step(np.array([5, 0]))


def sum_is_kept(state, action, rng, params):
    total = state.board[0, 0] + 1
    return state, total * 2.5, False


def test_what_is_made_of_a_small_integer_says_its_type_before_it_goes_on():
    class Kept(PebbleGame):
        rules = PebbleGame.rules._replace(step=sum_is_kept)

    with pytest.raises(KernelError, match=r"got \+ of int8 and int64, which Python's numbers and NumPy's promote"):
        KernelVectorEnv(Kept, 2)
