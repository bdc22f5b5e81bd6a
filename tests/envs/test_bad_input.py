"""What cannot be used is refused, in words that say what to do, and the environment goes on as if nothing came."""

# Messages are compared whole, each on one line.
# ruff: noqa: E501

import numpy as np
import pytest

import ludus
from ludus.envs.algorithmic import Copy, DuplicatedInput, RepeatCopy, Reverse, ReversedAddition
from ludus.envs.classic import Acrobot, CartPole, MountainCar, MountainCarContinuous, Pendulum
from ludus.envs.teaching import Bandit, GridWorld
from ludus.envs.toy_text import Blackjack, CliffWalking, FrozenLake, Taxi, generate_random_map
from ludus.errors import (
    InvalidAction,
    InvalidArgument,
    InvalidSeed,
    InvalidSpace,
    InvalidType,
    RenderError,
    ResetNeeded,
)
from ludus.testing import data_equal
from tests.core.wording import says

RULED = [
    Acrobot, CartPole, MountainCar, MountainCarContinuous, Pendulum, Blackjack, CliffWalking, FrozenLake, Taxi,
    Copy, DuplicatedInput, RepeatCopy, Reverse, ReversedAddition,
]  # fmt: skip

ACTIONS = [
    (CartPole, 2, "action: expected Discrete(2), got 2"),
    (CartPole, -1, "action: expected Discrete(2), got -1"),
    (CartPole, np.int64(7), "action: expected Discrete(2), got 7 (int64)"),
    (CartPole, 1.0, "action: expected Discrete(2), got 1.0"),
    (CartPole, float("nan"), "action: expected Discrete(2), got nan"),
    (CartPole, "left", "action: expected Discrete(2), got 'left'"),
    (CartPole, None, "action: expected Discrete(2), got None"),
    (CartPole, np.array([1]), "action: expected Discrete(2), got array of shape (1,), dtype int64"),
    (MountainCar, 3, "action: expected Discrete(3), got 3"),
    (Acrobot, [0], "action: expected Discrete(3), got [0]"),
    (Blackjack, 2, "action: expected Discrete(2), got 2"),
    (FrozenLake, 4, "action: expected Discrete(4), got 4"),
    (CliffWalking, -1, "action: expected Discrete(4), got -1"),
    (Taxi, 6, "action: expected Discrete(6), got 6"),
    (Pendulum, 0.5, "action: expected shape (1,), got shape ()"),
    (Pendulum, np.zeros(2, np.float32), "action: expected shape (1,), got shape (2,)"),
    (Pendulum, [[1.0]], "action: expected shape (1,), got shape (1, 1)"),
    (Pendulum, np.array([np.nan], np.float32), "action[0]: expected a finite number, got nan"),
    (Pendulum, [float("inf")], "action[0]: expected a finite number, got inf"),
    (Pendulum, "up", "action: expected Box(-2.0, 2.0, (1,), float32), got 'up'"),
    (Pendulum, None, "action: expected Box(-2.0, 2.0, (1,), float32), got None"),
    (Pendulum, [True], "action: expected Box(-2.0, 2.0, (1,), float32), got [True]"),
    (Pendulum, [1, [2]], "action: expected Box(-2.0, 2.0, (1,), float32), got [1, [2]]"),
    (MountainCarContinuous, np.array([np.nan]), "action[0]: expected a finite number, got nan"),
    (Copy, (2, 0, 0), "action[0]: expected Discrete(2), got 2"),
    (Copy, (0, 0, 5), "action[2]: expected Discrete(5), got 5"),
    (Copy, 0, "action: expected a tuple of 3, Tuple(Discrete(2), Discrete(2), Discrete(5)), got 0"),
    (ReversedAddition, (0, 1), "action: expected 3 elements, got 2"),
]


@pytest.mark.parametrize(("make", "action", "text"), ACTIONS, ids=[text for _, _, text in ACTIONS])
def test_a_wrong_action_is_refused_and_changes_nothing(make, action, text):
    env, other = make(), make()
    env.reset(seed=3)
    other.reset(seed=3)
    with says(InvalidAction, text):
        env.step(action)
    good = other.action_space.sample()
    assert data_equal(tuple(env.step(good)), tuple(other.step(good)))


@pytest.mark.parametrize("make", RULED)
def test_step_needs_a_reset_first(make):
    env = make()
    action = env.action_space.sample()
    with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
        env.step(action)
    env.reset(seed=0)
    env.step(action)


@pytest.mark.parametrize("make", [one for one in RULED if one is not Pendulum])
def test_step_after_the_end_needs_a_reset(make):
    env = make()
    env.reset(seed=0)
    env._needs = "an episode that has ended"
    with says(ResetNeeded, "step: expected reset() first, got an episode that has ended"):
        env.step(env.action_space.sample())
    env.reset()
    env.step(env.action_space.sample())


def test_an_episode_that_really_ends_needs_a_reset():
    env = ludus.make("CartPole-v1")
    env.reset(seed=0)
    while not env.step(1).terminated:
        pass
    with says(ResetNeeded, "step: expected reset() first, got an episode that has ended"):
        env.step(1)
    env.reset()
    assert env.step(1).reward == 1.0


def test_an_episode_that_is_cut_needs_a_reset():
    env = ludus.make("Pendulum-v1", max_episode_steps=2)
    env.reset(seed=0)
    env.step([0.0])
    assert env.step([0.0]).truncated
    with says(ResetNeeded, "step: expected reset() first, got an episode cut by its time limit"):
        env.step([0.0])


@pytest.mark.parametrize("make", RULED)
def test_render_without_a_mode_says_which_there_are(make):
    env = make()
    env.reset(seed=0)
    modes = ", ".join(env.metadata["render_modes"])
    with says(
        RenderError,
        f"render: expected a render_mode, got None; make the environment with make(…, render_mode=…), one of {modes}",
    ):
        env.render()
    env.step(env.action_space.sample())


@pytest.mark.parametrize("make", RULED)
@pytest.mark.parametrize("mode", ["rgb_array", "ansi", "svg"])
def test_render_needs_a_reset_first(make, mode):
    env = make(render_mode=mode)
    with says(ResetNeeded, "render: expected reset() first, got an environment that has not begun"):
        env.render()
    env.reset(seed=0)
    assert env.render() is not None


@pytest.mark.parametrize("make", RULED)
def test_an_unknown_render_mode_is_refused(make):
    with says(
        InvalidArgument,
        f"{make.__name__} render_mode: expected one of {make.metadata['render_modes']} or None, got 'tv'",
    ):
        make(render_mode="tv")


OPTIONS = [
    (CartPole, {"lo": 1}, "options: expected 'low' and 'high' at most, got ['lo']"),
    (CartPole, {"low": "a"}, "options: expected numbers for low and high, got ('a', 0.05)"),
    (CartPole, {"low": 1, "high": 0}, "options: expected finite numbers with low <= high, got low=1.0, high=0.0"),
    (MountainCar, {"low": np.nan}, "options: expected finite numbers with low <= high, got low=nan, high=-0.4"),
    (
        MountainCarContinuous,
        {"high": np.inf},
        "options: expected finite numbers with low <= high, got low=-0.6, high=inf",
    ),
    (Acrobot, {"low": None}, "options: expected numbers for low and high, got (None, 0.1)"),
    (Pendulum, {"x": 1}, "options: expected 'x_init' and 'y_init' at most, got ['x']"),
    (Pendulum, {"x_init": None}, "options: expected numbers for x_init and y_init, got (None, 1.0)"),
    (
        Pendulum,
        {"x_init": 2, "y_init": -1},
        "options: expected finite numbers from 0 for x_init and y_init, got x_init=2.0, y_init=-1.0",
    ),
    (Blackjack, {"a": 1}, "options: expected none, since Blackjack has no reset options, got {'a': 1}"),
    (FrozenLake, {"a": 1}, "options: expected none, since FrozenLake has no reset options, got {'a': 1}"),
    (Taxi, {"a": 1}, "options: expected none, since Taxi has no reset options, got {'a': 1}"),
    (Copy, {"length": 3}, "options: expected none, since Copy has no reset options, got {'length': 3}"),
]


@pytest.mark.parametrize(("make", "options", "text"), OPTIONS, ids=[text for _, _, text in OPTIONS])
def test_an_unknown_or_wrong_option_is_refused_and_changes_nothing(make, options, text):
    env, other = make(), make()
    env.reset(seed=5)
    other.reset(seed=5)
    with says(InvalidArgument, text):
        env.reset(options=options)
    assert data_equal(env.reset(), other.reset())


def test_options_that_are_no_dictionary_are_refused():
    with says(InvalidType, "options: expected a dictionary or None, got 5"):
        CartPole().reset(options=5)


def test_a_wrong_seed_is_refused_and_changes_nothing():
    env, other = CartPole(), CartPole()
    env.reset(seed=5)
    other.reset(seed=5)
    with says(InvalidSeed, "seed: expected an integer of at least 0, got -1; None takes one from the system"):
        env.reset(seed=-1)
    assert data_equal(tuple(env.step(1)), tuple(other.step(1)))


MAP_EXAMPLE = '["SFFF", "FHFH", "FFFH", "HFFG"]'
CONSTRUCTORS = [
    (CartPole, {"sutton_barto_reward": "yes"}, InvalidType, "CartPole sutton_barto_reward: expected True or False, got 'yes'"),
    (MountainCar, {"goal_velocity": None}, InvalidType, "MountainCar goal_velocity: expected a number, got None"),
    (MountainCarContinuous, {"goal_velocity": True}, InvalidType, "MountainCarContinuous goal_velocity: expected a number, got True"),
    (Pendulum, {"g": "heavy"}, InvalidType, "Pendulum g: expected a number, got 'heavy'"),
    (Pendulum, {"g": np.nan}, InvalidType, "Pendulum g: expected a number, got nan"),
    (Blackjack, {"natural": None}, InvalidType, "Blackjack natural: expected True or False, got None"),
    (Blackjack, {"sab": 1}, InvalidType, "Blackjack sab: expected True or False, got 1"),
    (FrozenLake, {"map_name": "5x5"}, InvalidArgument, "FrozenLake map_name: expected '4x4', '8x8' or None, got '5x5'; pass your own map as desc"),
    (FrozenLake, {"desc": ["SF", "G"]}, InvalidArgument, "FrozenLake desc: expected rows of one length, got ['SF', 'G']"),
    (FrozenLake, {"desc": []}, InvalidArgument, "FrozenLake desc: expected rows of one length, got []"),
    (FrozenLake, {"desc": ["SX", "FG"]}, InvalidArgument, "FrozenLake desc: expected tiles S (start), F (frozen), H (hole) and G (goal), got 'X'"),
    (FrozenLake, {"desc": ["FF", "FG"]}, InvalidArgument, "FrozenLake desc: expected at least one S to start from, got none in ['FF', 'FG']"),
    (FrozenLake, {"desc": 5}, InvalidType, f"FrozenLake desc: expected a list of rows like {MAP_EXAMPLE}, got 5"),
    (FrozenLake, {"desc": "SFFG"}, InvalidType, f"FrozenLake desc: expected a list of rows like {MAP_EXAMPLE}, got 'SFFG'"),
    (FrozenLake, {"success_rate": 1.5}, InvalidArgument, "FrozenLake success_rate: expected a probability from 0 to 1, got 1.5"),
    (FrozenLake, {"reward_schedule": (1, 2)}, InvalidArgument, "FrozenLake reward_schedule: expected three numbers, for goal, hole and frozen, got (1, 2)"),
    (FrozenLake, {"reward_schedule": "abc"}, InvalidArgument, "FrozenLake reward_schedule: expected three numbers, for goal, hole and frozen, got 'abc'"),
    (FrozenLake, {"is_slippery": "no"}, InvalidType, "FrozenLake is_slippery: expected True or False, got 'no'"),
    (CliffWalking, {"is_slippery": 2}, InvalidType, "CliffWalking is_slippery: expected True or False, got 2"),
    (Taxi, {"rainy_probability": 2}, InvalidArgument, "Taxi rainy_probability: expected a probability from 0 to 1, got 2"),
    (Taxi, {"fickle_probability": "often"}, InvalidArgument, "Taxi fickle_probability: expected a probability from 0 to 1, got 'often'"),
    (Taxi, {"is_rainy": 3}, InvalidType, "Taxi is_rainy: expected True or False, got 3"),
    (Copy, {"base": 27}, InvalidArgument, "Copy base: expected an integer from 1 to 26, got 27"),
    (Copy, {"base": 11, "chars": False}, InvalidArgument, "Copy base: expected an integer from 1 to 10, got 11"),
    (Reverse, {"starting_min_length": 31}, InvalidArgument, "Reverse starting_min_length: expected an integer from 1 to 30, got 31"),
    (DuplicatedInput, {"duplication": 0}, InvalidArgument, "DuplicatedInput duplication: expected an integer from 1 to 32, got 0"),
    (ReversedAddition, {"rows": 4}, InvalidArgument, "ReversedAddition rows: expected an integer from 1 to base=3, got 4; with more, what is carried need not be a digit"),
    (GridWorld, {"size": 1}, InvalidArgument, "GridWorld size: expected an integer from 2, got 1"),
    (Bandit, {"arms": 0}, InvalidSpace, "Discrete n: expected at least 1, got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "arguments", "error", "text"), CONSTRUCTORS, ids=[row[3] for row in CONSTRUCTORS])
def test_a_wrong_constructor_argument_is_refused(make, arguments, error, text):
    with says(error, text):
        make(**arguments)


@pytest.mark.parametrize(
    ("make", "attribute", "value", "error", "text"),
    [
        (CartPole, "length", "long", InvalidType, "CartPole length: expected a number, got 'long'"),
        (
            CartPole,
            "state",
            (1, 2),
            InvalidArgument,
            "state: expected the fields x, x_dot, theta, theta_dot, got (1, 2)",
        ),
        (CartPole, "state", (1, 2, 3, "x"), InvalidType, "CartPole theta_dot: expected a number, got 'x'"),
        (
            CartPole,
            "kinematics_integrator",
            "rk4",
            InvalidArgument,
            "kinematics_integrator: expected 'euler' or 'semi-implicit', got 'rk4'",
        ),
        (Acrobot, "book_or_nips", "paper", InvalidArgument, "book_or_nips: expected 'book' or 'nips', got 'paper'"),
        (Acrobot, "AVAIL_TORQUE", 3, InvalidType, "Acrobot AVAIL_TORQUE: expected a tuple, got 3"),
        (FrozenLake, "s", 16, InvalidArgument, "s: expected a state from 0 to 15, got 16"),
        (Taxi, "s", 0.5, InvalidArgument, "s: expected a state from 0 to 499, got 0.5"),
    ],
)
def test_a_wrong_value_of_an_attribute_is_refused_and_changes_nothing(make, attribute, value, error, text):
    env = make()
    env.reset(seed=0)
    before = getattr(env, attribute)
    with says(error, text):
        setattr(env, attribute, value)
    assert np.array_equal(getattr(env, attribute), before)
    env.step(env.action_space.sample())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"size": 1}, "generate_random_map size: expected an integer from 2, got 1"),
        ({"size": "a"}, "generate_random_map size: expected an integer from 2, got 'a'"),
        ({"p": 0}, "generate_random_map p: expected a probability above 0, got 0"),
        (
            {"size": 9, "p": 0.05, "seed": 0},
            "generate_random_map: expected a map with a way to the goal, got none in 20000 tries with size=9, p=0.05; raise p",
        ),
    ],
)
def test_a_random_map_that_cannot_be_is_refused(arguments, text):
    with says(InvalidArgument, text):
        generate_random_map(**arguments)


def test_a_taxis_state_beyond_the_last_is_refused():
    with says(InvalidArgument, "decode: expected a state from 0 to 499, got 500"):
        Taxi().decode(500)


@pytest.mark.parametrize("action", [[0.5], np.array([0.5]), np.array([0.5], np.float16), np.array([0.5], np.float32)])
def test_numbers_of_any_precision_are_an_action_of_a_clipping_environment(action):
    env, other = Pendulum(), Pendulum()
    env.reset(seed=0)
    other.reset(seed=0)
    assert data_equal(tuple(env.step(action)), tuple(other.step(np.array([0.5], np.float32))))


@pytest.mark.parametrize("action", [1, np.int8(1), np.uint8(1), np.array(1), True])
def test_whole_numbers_of_any_kind_are_a_discrete_action(action):
    env, other = MountainCar(), MountainCar()
    env.reset(seed=0)
    other.reset(seed=0)
    assert data_equal(tuple(env.step(action)), tuple(other.step(1)))
    assert type(env.last_action) is int
