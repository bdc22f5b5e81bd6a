"""Bit for bit what Gymnasium 1.4 gives: 100 seeds × 1,000 steps of every id (a full run), every argument and option."""

import math
import random
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import generate_random_map as their_random_map

import ludus
from ludus.envs.toy_text import generate_random_map
from tests.envs.lockstep import play
from tests.envs.policies import along_the_cliff, balance, helpful_driver, on_ice, pull, swing, uniform
from tests.sampling import SEED

POLICIES = {
    "CartPole-v0": balance,
    "CartPole-v1": balance,
    "MountainCar-v0": swing(3),
    "MountainCarContinuous-v0": pull(1.0),
    "Pendulum-v1": pull(2.0),
    "Acrobot-v1": swing(3),
    "Blackjack-v1": uniform(2),
    "FrozenLake-v1": on_ice,
    "FrozenLake8x8-v1": on_ice,
    "CliffWalking-v1": along_the_cliff,
    "CliffWalkingSlippery-v1": along_the_cliff,
    "Taxi-v4": helpful_driver,
}
NEVER_TERMINATED = {"Pendulum-v1"}
NEVER_TRUNCATED = {"Blackjack-v1", "CliffWalking-v1", "CliffWalkingSlippery-v1"}


def pair(name, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CartPole-v0 is an old version, as both say
        return gymnasium.make(name, disable_env_checker=True, **kwargs), ludus.make(name, **kwargs)


ALL_SEEDS = range(100)
# Policies play otherwise on odd seeds than on even ones: some of each.
SOME_SEEDS = [seed + 2 * number for seed in (0, 1) for number in random.Random(SEED).sample(range(50), 4)]


@pytest.mark.no_cover  # what they run is measured by shorter tests
@pytest.mark.parametrize(
    "seeds", [pytest.param(SOME_SEEDS, id="some"), pytest.param(ALL_SEEDS, id="all", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("name", POLICIES)
def test_a_thousand_steps_from_a_hundred_seeds_are_gymnasiums_bit_for_bit(name, seeds):
    both, expected = pair(name), (name not in NEVER_TERMINATED, name not in NEVER_TRUNCATED)
    ends = np.array(play(*both, POLICIES[name], seeds=seeds, steps=1000))
    for seed in set(ALL_SEEDS) - set(seeds):  # until the rarer end has been met, too
        if tuple(ends > 0) == expected:
            break
        ends += play(*both, POLICIES[name], seeds=[seed], steps=1000)
    assert tuple(ends > 0) == expected


MAP = ["SFSF", "FHFS", "SFSF", "SFFG"]
VARIANTS = [
    ("CartPole-v1", {"sutton_barto_reward": True}),
    ("MountainCar-v0", {"goal_velocity": 0.02}),
    ("MountainCarContinuous-v0", {"goal_velocity": 0.03}),
    ("Pendulum-v1", {"g": 9.81}),
    ("Blackjack-v1", {"sab": False, "natural": True}),
    ("Blackjack-v1", {"sab": False, "natural": False}),
    ("FrozenLake-v1", {"is_slippery": False, "reward_schedule": (2, -0.5, 0.1)}),
    ("FrozenLake-v1", {"desc": MAP, "success_rate": 0.7}),
    ("FrozenLake-v1", {"desc": np.asarray(MAP, dtype="c"), "map_name": None, "success_rate": 1.0}),
    ("FrozenLake-v1", {"map_name": "8x8", "success_rate": 0.0}),
    ("FrozenLake8x8-v1", {"desc": ["SSS", "SSH", "SSG"]}),
    ("CliffWalking-v1", {"is_slippery": True}),
    ("Taxi-v4", {"is_rainy": True}),
    ("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 0.9}),
    ("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.45, "fickle_passenger": True}),
]


@pytest.mark.parametrize(("name", "kwargs"), VARIANTS, ids=[f"{name}-{sorted(kwargs)}" for name, kwargs in VARIANTS])
def test_every_argument_does_what_gymnasiums_does(name, kwargs):
    theirs, ours = pair(name, **kwargs)
    assert play(theirs, ours, POLICIES[name], seeds=range(8), steps=400)
    if hasattr(theirs.unwrapped, "P"):
        assert ours.unwrapped.P == theirs.unwrapped.P
        assert np.array_equal(ours.unwrapped.initial_state_distrib, theirs.unwrapped.initial_state_distrib)


OPTIONS = [
    ("CartPole-v1", {"low": -0.1, "high": 0.2}),
    ("MountainCar-v0", {"low": -1.1}),
    ("MountainCarContinuous-v0", {"low": 0.3, "high": 0.6}),
    ("MountainCarContinuous-v0", {"low": -1.2, "high": -1.1}),
    ("Acrobot-v1", {"low": -3.5, "high": 3.5}),
    ("Acrobot-v1", {"high": "0.3"}),
    ("Pendulum-v1", {"x_init": math.pi / 2, "y_init": 5}),
    ("Pendulum-v1", {"y_init": 0.0}),
    ("FrozenLake-v1", {}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=[f"{name}-{sorted(options)}" for name, options in OPTIONS])
def test_every_reset_option_does_what_gymnasiums_does(name, options):
    assert play(*pair(name), POLICIES[name], seeds=range(20), steps=60, options=options)


CHANGES = [
    ("CartPole-v1", {"length": 0.8, "gravity": 3.7, "masspole": 0.3, "tau": 0.01, "force_mag": 7.0}),
    ("CartPole-v1", {"kinematics_integrator": "semi-implicit", "x_threshold": 1.0, "theta_threshold_radians": 0.4}),
    ("MountainCar-v0", {"force": 0.002, "gravity": 0.003, "max_speed": 0.05, "goal_position": 0.4}),
    ("MountainCarContinuous-v0", {"power": 0.0021, "max_speed": 0.05, "min_position": -1.1, "goal_position": 0.3}),
    ("Pendulum-v1", {"m": 1.3, "l": 0.7, "dt": 0.03, "max_torque": 1.1, "max_speed": 6.5}),
    ("Acrobot-v1", {"book_or_nips": "nips", "LINK_MASS_2": 1.7, "LINK_LENGTH_1": 0.8, "LINK_COM_POS_1": 0.3}),
    ("Acrobot-v1", {"torque_noise_max": 0.5, "dt": 0.05, "LINK_MOI": 0.7, "AVAIL_TORQUE": [-2.0, 0.5, 2.0]}),
]


@pytest.mark.parametrize(("name", "changes"), CHANGES, ids=[f"{name}-{sorted(new)}" for name, new in CHANGES])
def test_parameters_are_attributes_to_set_as_in_gymnasium(name, changes):
    theirs, ours = pair(name)
    for key, value in changes.items():
        setattr(theirs.unwrapped, key, value)
        setattr(ours.unwrapped, key, value)
        assert np.array_equal(getattr(ours.unwrapped, key), value)
    assert play(theirs, ours, POLICIES[name], seeds=range(12), steps=300)


ATTRIBUTES = {
    "CartPole-v1": "gravity masscart masspole total_mass length polemass_length force_mag tau kinematics_integrator "
    "theta_threshold_radians x_threshold",
    "MountainCar-v0": "min_position max_position max_speed goal_position goal_velocity force gravity low high",
    "MountainCarContinuous-v0": "min_action max_action min_position max_position max_speed goal_position goal_velocity "
    "power low_state high_state",
    "Pendulum-v1": "max_speed max_torque dt g m l",
    "Acrobot-v1": "dt LINK_LENGTH_1 LINK_LENGTH_2 LINK_MASS_1 LINK_MASS_2 LINK_COM_POS_1 LINK_COM_POS_2 LINK_MOI "
    "MAX_VEL_1 MAX_VEL_2 AVAIL_TORQUE torque_noise_max book_or_nips state",
    "Blackjack-v1": "natural sab",
    "FrozenLake-v1": "desc nrow ncol reward_range initial_state_distrib P",
    "FrozenLake8x8-v1": "desc nrow ncol reward_range initial_state_distrib P",
    "CliffWalking-v1": "shape start_state_index nS nA is_slippery initial_state_distrib P",
    "CliffWalkingSlippery-v1": "is_slippery initial_state_distrib P",
    "Taxi-v4": "desc locs rainy_probability fickle_probability fickle_passenger fickle_step lastaction "
    "initial_state_distrib P",
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_that_people_read_are_there_and_equal(name):
    theirs, ours = (env.unwrapped for env in pair(name))
    for attribute in ATTRIBUTES[name].split():
        expected, found = getattr(theirs, attribute), getattr(ours, attribute)
        assert np.array_equal(found, expected) if not isinstance(expected, dict) else found == expected, attribute


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_spaces_and_specs_are_gymnasiums(name):
    theirs, ours = pair(name)
    assert repr(ours.observation_space) == repr(theirs.observation_space)
    assert repr(ours.action_space) == repr(theirs.action_space)
    assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]
    assert set(theirs.metadata["render_modes"]) <= set(ours.metadata["render_modes"])
    for field in ("id", "max_episode_steps", "reward_threshold", "nondeterministic", "kwargs"):
        assert getattr(ludus.spec(name), field) == getattr(gymnasium.spec(name), field), field


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1"]
)
def test_a_state_that_is_set_goes_on_as_gymnasiums_does(name):
    theirs, ours = pair(name)
    for seed in range(5):
        theirs.reset(seed=seed)
        ours.reset(seed=seed)
        state = np.random.default_rng(seed).uniform(-0.2, 0.2, len(ours.unwrapped.state))
        theirs.unwrapped.state, ours.unwrapped.state = state.copy(), state
        for step in range(30):
            action = ours.action_space.sample()
            expected, found = theirs.step(action), ours.step(action)
            assert expected[0].tobytes() == found[0].tobytes(), step
            if found.terminated:
                break


def test_taxis_and_walkers_can_be_put_anywhere_by_their_number():
    for name in ("Taxi-v4", "FrozenLake-v1", "CliffWalking-v1"):
        theirs, ours = pair(name)
        theirs.reset(seed=0)
        ours.reset(seed=0)
        for state in range(0, int(ours.observation_space.n), 7):
            theirs.unwrapped.s = ours.unwrapped.s = state
            expected, found = theirs.step(1), ours.step(1)
            assert found[:3] == expected[:3]
            theirs.reset()
            ours.reset()


def test_a_taxis_state_is_encoded_decoded_and_masked_alike():
    theirs, ours = (env.unwrapped for env in pair("Taxi-v4"))
    for state in range(500):
        assert ours.decode(state) == theirs.decode(state)
        assert ours.encode(*ours.decode(state)) == state
        assert np.array_equal(ours.action_mask(state), theirs.action_mask(state))


def test_random_maps_are_gymnasiums():
    for seed in range(60):
        for size, p in ((2, 0.5), (4, 0.8), (8, 0.7), (13, 0.9), (5, 1.0), (5, 3.0)):
            assert generate_random_map(size, p, seed) == their_random_map(size, p, seed)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4"])
def test_the_text_board_is_gymnasiums(name):
    theirs, ours = pair(name, render_mode="ansi")
    for seed in range(10):
        theirs.reset(seed=seed)
        ours.reset(seed=seed)
        assert ours.render() == theirs.render()
        rng, info = np.random.default_rng(seed), {"action_mask": np.ones(6)}
        for _ in range(40):
            action = POLICIES[name](rng, seed, 0, info)
            *_, terminated, truncated, info = theirs.step(action)
            ours.step(action)
            assert ours.render() == theirs.render()
            if terminated or truncated:
                break
