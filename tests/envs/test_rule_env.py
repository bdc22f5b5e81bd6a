"""Parameters, states and tables of environments made of rules."""

import pickle

import numpy as np
import pytest

from ludus.envs.classic import Acrobot, CartPole, MountainCarContinuous, Pendulum
from ludus.envs.toy_text import Blackjack, CliffWalking, FrozenLake, TabularEnv, Taxi
from ludus.kernels import RuleEnv
from ludus.testing import data_equal


def test_parameters_are_attributes_and_fit_their_type():
    env = CartPole()
    env.gravity = 5
    assert (env.gravity, type(env.gravity), env.params.gravity) == (5.0, float, 5.0)
    env.sutton_barto_reward = np.True_
    assert env.sutton_barto_reward is True
    assert CartPole().gravity == 9.8


def test_a_state_is_an_array_that_can_be_set_from_any_sequence():
    env = CartPole()
    assert env.state is None
    for given in (np.array([0.1, 0.2, 0.05, 0.4]), (0.1, 0.2, 0.05, 0.4), [0.1, 0.2, 0.05, 0.4]):
        env.state = given
        assert env.state.tolist() == [0.1, 0.2, 0.05, 0.4]
    assert env.state_data(private=True)["theta"] == 0.05
    env.step(1)
    assert (type(env.state), env.state.dtype, env.state.shape) == (np.ndarray, np.float64, (4,))


def test_a_state_of_a_game_is_a_named_tuple():
    env = Blackjack()
    assert env.state is None
    env.reset(seed=0)
    assert type(env.state).__name__ == "State"
    assert env.state.player_total == sum(env.player)


def test_setting_a_state_begins_an_episode():
    env = CartPole()
    env.state = [0.0, 0.0, 0.0, 0.0]
    assert not env.step(0).terminated
    env.state = [5.0, 0.0, 0.0, 0.0]
    assert env.step(0).terminated
    env.state = [0.0, 0.0, 0.0, 0.0]
    assert not env.step(0).terminated


def test_the_last_action_is_kept_until_a_reset():
    env = FrozenLake()
    env.reset(seed=0)
    assert env.lastaction is None
    env.step(np.int64(1))
    assert (env.last_action, type(env.lastaction)) == (1, int)
    env.reset()
    assert env.last_action is None


def test_what_step_returns_is_the_callers():
    env = MountainCarContinuous()
    first, _ = env.reset(seed=0)
    first[:] = 7
    step = env.step(np.array([0.5], np.float32))
    step.observation[:] = 7
    assert max(map(abs, env.state)) < 1.5


def test_a_table_follows_the_parameters():
    env = CliffWalking()
    assert len(env.P[36][0]) == 1
    assert env.P is env.P
    env.is_slippery = True
    assert len(env.P[36][0]) == 3


@pytest.mark.parametrize(
    ("make", "kwargs"),
    [
        (FrozenLake, {}),
        (FrozenLake, {"is_slippery": False}),
        (CliffWalking, {"is_slippery": True}),
        (Taxi, {"is_rainy": True}),
    ],
)
def test_the_rules_do_what_the_table_says(make, kwargs):
    env = make(**kwargs)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(2_000):
        state, action = int(rng.integers(env.observation_space.n)), int(rng.integers(env.action_space.n))
        env.s = state
        step = env.step(action)
        assert (step.info["prob"], step.observation, step.reward, step.terminated) in env.P[state][action]


@pytest.mark.parametrize(
    "env", [FrozenLake(map_name="8x8", success_rate=0.5), CliffWalking(is_slippery=True), Taxi(is_rainy=True)]
)
def test_probabilities_of_a_table_add_up_to_one(env):
    for actions in env.P.values():
        for outcomes in actions.values():
            assert abs(sum(chance for chance, *_ in outcomes) - 1.0) < 1e-12


def test_without_a_map_each_lake_is_a_new_one():
    lakes = {FrozenLake(map_name=None).desc.tobytes() for _ in range(5)}
    assert len(lakes) > 1
    assert FrozenLake(map_name=None).desc.shape == (8, 8)


def test_a_fickle_passenger_changes_the_destination_once():
    env, changes = Taxi(fickle_passenger=True, fickle_probability=1.0), 0
    for seed in range(40):
        env.reset(seed=seed)
        env.s = env.encode(2, 2, 4, seed % 4)
        wanted = env.decode(env.s)[3]
        assert env.fickle_step
        env.step(0)
        assert not env.fickle_step
        assert env.decode(env.s)[3] != wanted
        changed = env.decode(env.s)[3]
        env.step(1)
        assert env.decode(env.s)[3] == changed
        changes += 1
    assert changes == 40


def test_hands_show_their_cards():
    env = Blackjack()
    assert (env.player, env.dealer, env.dealer_top_card_suit, env.dealer_top_card_value_str) == ([], [], None, None)
    looks = set()
    for seed in range(60):
        (total, shown, ace), _ = env.reset(seed=seed)
        assert total == sum(env.player) + 10 * ace
        assert env.dealer[0] == shown
        assert env.dealer_top_card_suit in "CDHS"
        looks.add(env.dealer_top_card_value_str)
    assert looks == set("A23456789JQK")


def test_a_natural_pays_as_the_house_rules_say():
    hands = {"natural": 1.5, "plain": 1.0, "sab": 1.0}
    for rule, expected in hands.items():
        env = Blackjack(natural=rule == "natural", sab=rule == "sab")
        for seed in range(300):
            env.reset(seed=seed)
            if sorted(env.player) == [1, 10] and sorted(env.dealer) != [1, 10]:
                assert env.step(0).reward in ((expected,) if rule == "sab" else (expected, 0.0))
                break
        else:
            pytest.fail("no natural in 300 hands")


@pytest.mark.parametrize("make", [CartPole, Pendulum, Acrobot, Taxi, FrozenLake])
def test_environments_can_be_pickled_in_the_middle_of_an_episode(make):
    env = make()
    env.reset(seed=3)
    env.step(env.action_space.sample())
    other = pickle.loads(pickle.dumps(env))
    action = env.action_space.sample()
    assert data_equal(tuple(env.step(action)), tuple(other.step(action)))


def test_the_families_are_made_of_rules():
    assert issubclass(TabularEnv, RuleEnv)
    assert all(issubclass(one, TabularEnv) for one in (FrozenLake, CliffWalking, Taxi))
