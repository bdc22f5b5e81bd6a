"""Tasks on tapes: what is asked, what it pays, when it ends, and how it grows."""

import numpy as np
import pytest

import ludus
from ludus.envs.algorithmic import Copy, DuplicatedInput, RepeatCopy, Reverse, ReversedAddition
from ludus.envs.algorithmic.tape import HARDEST, MAX_TAPE_LENGTH
from ludus.rendering import KeyMap

TASKS = [Copy, DuplicatedInput, RepeatCopy, Reverse, ReversedAddition, lambda: ReversedAddition(rows=3)]
LEFT, RIGHT, UP, DOWN = range(4)


def write_all(env):
    """Write the whole target at once, without looking."""
    return [env.step((RIGHT, 1, symbol)) for symbol in env.target]


@pytest.mark.parametrize("make", TASKS)
def test_inputs_are_drawn_from_the_alphabet_and_start_short(make):
    env, lengths = make(), set()
    for seed in range(60):
        observation, info = env.reset(seed=seed)
        assert info == {}
        assert type(observation) is int
        flat = np.ravel(env.input_data).tolist()
        assert set(flat) <= set(range(env.params.base))
        assert observation == flat[0]
        lengths.add(len(env.input_data))
    least = env.params.starting_min_length
    assert lengths == ({2, 4} if isinstance(env, DuplicatedInput) else {least, least + 1, least + 2})


def test_the_targets_are_what_the_tasks_say():
    for seed in range(30):
        for make, expected in [
            (Copy, lambda data: data),
            (DuplicatedInput, lambda data: data[::2]),
            (RepeatCopy, lambda data: data + data[::-1] + data),
            (Reverse, lambda data: data[::-1]),
        ]:
            env = make()
            env.reset(seed=seed)
            assert env.target == expected(env.input_data)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_sums_are_right_lowest_digit_first(rows):
    env = ReversedAddition(rows=rows, base=3)
    for seed in range(60):
        env.reset(seed=seed)
        columns = np.array(env.input_data).reshape(-1, rows)
        numbers = [sum(int(digit) * 3**place for place, digit in enumerate(row)) for row in columns.T]
        assert sum(digit * 3**place for place, digit in enumerate(env.target)) == sum(numbers)
        assert env.target[-1] != 0 or len(env.target) == len(columns)


def test_duplicates_stand_side_by_side():
    env = DuplicatedInput(duplication=3)
    env.reset(seed=1)
    assert env.input_data == [symbol for symbol in env.target for _ in range(3)]
    env = DuplicatedInput(duplication=20)
    env.reset(seed=1)
    assert len(env.input_data) == 20
    assert len(env.target) == 1


@pytest.mark.parametrize("make", TASKS)
def test_a_right_symbol_gives_one_and_the_last_one_ends_the_episode(make):
    env = make()
    env.reset(seed=2)
    steps = write_all(env)
    assert [step.reward for step in steps] == [1.0] * len(steps)
    assert [step.terminated for step in steps] == [False] * (len(steps) - 1) + [True]
    assert env.episode_total_reward == len(env.target)


def test_a_wrong_symbol_costs_half_and_ends_the_episode():
    env = Copy()
    env.reset(seed=2)
    step = env.step((RIGHT, 1, (env.target[0] + 1) % 5))
    assert (step.reward, step.terminated) == (-0.5, True)


@pytest.mark.parametrize("make", TASKS)
def test_time_runs_out_with_minus_one(make):
    env = make()
    env.reset(seed=2)
    length = len(env.input_data)
    adding = isinstance(env, ReversedAddition)
    assert env.time_limit == (2 * length + 4 if adding else length + len(env.target) + 4)
    steps = [env.step((LEFT, 0, 0)) for _ in range(env.time_limit + 1)]
    assert [step.reward for step in steps] == [0.0] * env.time_limit + [-1.0]
    assert [step.terminated for step in steps] == [False] * env.time_limit + [True]


def test_time_counts_more_than_a_right_symbol():
    env = Copy()
    env.reset(seed=2)
    for _ in range(env.time_limit):
        env.step((LEFT, 0, 0))
    assert env.step((LEFT, 1, env.target[0])).reward == -1.0


def test_the_reading_head_moves_and_sees_blanks_beside_the_tape():
    env = Copy()
    env.reset(seed=0)
    seen = [env.step((move, 0, 0)).observation for move in (RIGHT, LEFT, LEFT, RIGHT)]
    data = env.input_data
    assert seen == [data[1], data[0], 5, data[0]]


def test_a_grid_is_read_in_four_directions():
    env = ReversedAddition()
    env.reset(seed=5)
    (a, c), (b, d) = env.input_data[:2]
    seen = [env.step((move, 0, 0)).observation for move in (RIGHT, DOWN, LEFT, UP, UP, DOWN, LEFT)]
    assert seen == [b, d, c, a, 3, a, 3]


def solve(env, episodes):
    for _ in range(episodes):
        write_all(env)
        env.reset()


@pytest.mark.parametrize(("make", "window"), [(Copy, 10), (ReversedAddition, 10), (Reverse, 50), (RepeatCopy, 50)])
def test_inputs_become_longer_after_enough_solved_episodes(make, window):
    env = make()
    env.reset(seed=0)
    first = env.min_length
    solve(env, window - 1)
    assert env.min_length == first
    solve(env, 1)
    assert env.min_length == first + 1
    solve(env, 2 * window)
    assert env.min_length == first + 3


def test_one_failure_starts_the_count_again():
    env = Copy()
    env.reset(seed=0)
    solve(env, 9)
    env.step((RIGHT, 1, (env.target[0] + 1) % 5))
    env.reset()
    solve(env, 9)
    assert env.min_length == 2
    solve(env, 1)
    assert env.min_length == 3


def test_a_copy_may_miss_one_point_and_a_reverse_none():
    for make, good in ((Copy, True), (Reverse, False)):
        env = make()
        env.reset(seed=0)
        for _ in range(env.params.last):
            for symbol in env.target[:-1]:
                env.step((RIGHT, 1, symbol))
            env.reset()
        assert (env.min_length > env.params.starting_min_length) is good


def test_the_difficulty_ends_at_its_limit():
    env = Copy(starting_min_length=HARDEST)
    env.reset(seed=0)
    solve(env, 25)
    assert env.min_length == HARDEST
    assert len(env.input_data) <= MAX_TAPE_LENGTH


def test_a_seed_starts_the_difficulty_anew():
    env, other = Copy(), Copy()
    env.reset(seed=0)
    solve(env, 30)
    assert env.min_length == 5
    assert env.reset(seed=9) == other.reset(seed=9)
    assert env.min_length == 2
    assert env.input_data == other.input_data


def test_two_environments_do_not_share_their_difficulty():
    env, other = Copy(), Copy()
    env.reset(seed=0)
    other.reset(seed=0)
    solve(env, 30)
    assert other.min_length == 2


def test_a_snapshot_holds_the_difficulty_too():
    env = ludus.make("Copy-v0")
    env.reset(seed=0)
    solve(env.unwrapped, 9)
    before = env.snapshot()
    solve(env.unwrapped, 1)
    assert env.unwrapped.min_length == 3
    env.restore(before)
    assert env.unwrapped.min_length == 2
    solve(env.unwrapped, 1)
    assert env.unwrapped.min_length == 3


@pytest.mark.parametrize(
    ("name", "kwargs", "threshold"),
    [
        ("Copy-v0", {}, 25.0),
        ("DuplicatedInput-v0", {}, 9.0),
        ("RepeatCopy-v0", {}, 75.0),
        ("Reverse-v0", {}, 25.0),
        ("ReversedAddition-v0", {"rows": 2}, 25.0),
        ("ReversedAddition3-v0", {"rows": 3}, 25.0),
    ],
)
def test_the_registered_ids_are_those_of_the_original(name, kwargs, threshold):
    spec = ludus.spec(name)
    assert (spec.kwargs, spec.reward_threshold, spec.max_episode_steps) == (kwargs, threshold, 200)
    env = ludus.make(name)
    moves = 4 if kwargs else 2
    base = 3 if kwargs else 2 if name == "Reverse-v0" else 5
    assert repr(env.action_space) == f"Tuple(Discrete({moves}), Discrete(2), Discrete({base}))"
    assert repr(env.observation_space) == f"Discrete({base + 1})"


def test_the_text_shows_tapes_heads_and_the_last_action():
    env = Copy(render_mode="ansi")
    env.reset(seed=3)
    assert env.render() == (
        "input of length 4, step 0 of at most 12\n"
        "input  :  \x1b[42mA\x1b[0mABA  \n"
        "output :  \n"
        "target :  AABA\n"
        "return :  0\n"
    )
    env.step((RIGHT, 1, 0))
    env.step((RIGHT, 1, 2))
    assert env.render() == (
        "input of length 4, step 2 of at most 12\n"
        "input  :  AA\x1b[42mB\x1b[0mA  \n"
        "output :  A\x1b[41mC\x1b[0m\n"
        "target :  AABA\n"
        "return :  0.5\n"
        "action :  right, write C\n"
    )


def test_a_grid_is_shown_row_by_row_in_digits():
    env = ReversedAddition(render_mode="ansi")
    env.reset(seed=5)
    env.step((DOWN, 0, 0))
    assert "input  :  2210  \n       :  \x1b[42m0\x1b[0m112  \n" in env.render()
    assert env.read_head_position == (0, 1)


def test_before_the_first_reset_there_is_nothing_to_see():
    env = Copy()
    assert (env.input_data, env.target, env.min_length, env.read_head_position) == ([], [], 2, 0)
    assert (env.write_head_position, env.time_limit, env.episode_total_reward) == (0, 0, None)


def test_a_person_can_play_with_arrows_and_symbols():
    keys = KeyMap.of(ludus.make("Reverse-v0"))
    assert keys.choose({"right"}) == (RIGHT, 0, 0)
    assert keys.choose({"b"}) == (RIGHT, 1, 1)
    assert keys.choose({"left", "b"}) == (LEFT, 1, 1)
    assert KeyMap.of(ludus.make("ReversedAddition-v0")).choose({"down", "2"}) == (DOWN, 1, 2)


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "MountainCar-v0", "Pendulum-v1", "Acrobot-v1", "Blackjack-v1", "Taxi-v4"]
)
def test_every_environment_has_keys_that_are_actions(name):
    env = ludus.make(name)
    keys = KeyMap.of(env)
    assert keys.legend()
    assert keys.choose({"right"}) in env.action_space or name == "Blackjack-v1"
