"""A subclass of a built-in environment: what it overrides is called, what it sets is used, as in Gymnasium 1.4."""

import copy
import pickle

import gymnasium.envs.classic_control as their_classic
import gymnasium.envs.toy_text as their_toys
import numpy as np
import pytest

from ludus.envs import classic, toy_text
from ludus.errors import InvalidArgument, InvalidType
from ludus.spaces import Box
from tests.envs.derived import (
    called_observation,
    changed_table,
    class_attributes,
    costly_cliff,
    counted_hands,
    doubled_observation,
    generous_taxi,
    mixed_in_attributes,
    nudged_in_place,
    other_parameters,
    other_starts,
    other_starts_in_place,
    own_angles,
    own_derivative,
    own_end,
    own_observation,
    own_reset,
    rebuilt_taxi,
    rewarded_step,
    set_hands,
    shorter_border,
    sixth_number,
    stacked_deck,
    step_by_table,
    whole_step,
)
from tests.envs.lockstep import play
from tests.envs.policies import along_the_cliff, balance, helpful_driver, on_ice, pull, swing, uniform

THEIRS = {
    "CartPole": their_classic.CartPoleEnv,
    "MountainCar": their_classic.MountainCarEnv,
    "MountainCarContinuous": their_classic.Continuous_MountainCarEnv,
    "Pendulum": their_classic.PendulumEnv,
    "Acrobot": their_classic.AcrobotEnv,
    "Blackjack": their_toys.BlackjackEnv,
    "FrozenLake": their_toys.FrozenLakeEnv,
    "CliffWalking": their_toys.CliffWalkingEnv,
    "Taxi": their_toys.TaxiEnv,
}
POLICIES = {
    "CartPole": balance,
    "MountainCar": swing(3),
    "MountainCarContinuous": pull(1.0),
    "Pendulum": pull(2.0),
    "Acrobot": swing(3),
    "Blackjack": uniform(2),
    "FrozenLake": on_ice,
    "CliffWalking": along_the_cliff,
    "Taxi": helpful_driver,
}


def ours_of(name):
    return getattr(classic, name, None) or getattr(toy_text, name)


def bases(name):
    return THEIRS[name], ours_of(name)


CLASSIC = ("CartPole", "MountainCar", "MountainCarContinuous", "Pendulum", "Acrobot")
TOYS = ("FrozenLake", "CliffWalking", "Taxi")
CASES = [
    *((name, rewarded_step) for name in CLASSIC),
    *((name, nudged_in_place) for name in CLASSIC if name != "MountainCar"),  # whose state is a tuple there
    ("CartPole", own_reset),
    ("MountainCar", own_reset),
    ("CartPole", other_parameters),
    ("CartPole", whole_step),
    ("CartPole", sixth_number),
    ("Pendulum", own_observation),
    ("Pendulum", called_observation),
    ("Pendulum", doubled_observation),
    ("Acrobot", class_attributes),
    ("Acrobot", mixed_in_attributes),
    ("Acrobot", own_end),
    ("Acrobot", own_angles),
    ("Acrobot", own_derivative),
    ("Blackjack", counted_hands),
    ("Blackjack", stacked_deck),
    ("Blackjack", set_hands),
    *((name, changed_table) for name in TOYS),
    *((name, other_starts) for name in ("FrozenLake", "CliffWalking")),
    *((name, other_starts_in_place) for name in TOYS),
    *((name, step_by_table) for name in TOYS),
    ("CliffWalking", shorter_border),
    ("CliffWalking", costly_cliff),
    ("Taxi", generous_taxi),
    ("Taxi", rebuilt_taxi),
]


@pytest.mark.one_of(2)
@pytest.mark.parametrize(("name", "derive"), CASES, ids=[f"{name}-{derive.__name__}" for name, derive in CASES])
def test_a_subclass_does_what_it_does_in_gymnasium(name, derive):
    theirs, ours = (derive(base)() for base in bases(name))
    play(theirs, ours, POLICIES[name], seeds=range(5), steps=120)
    assert _history(derive(ours_of(name))()) != _history(ours_of(name)())


def _history(env):
    found = []
    env.action_space.seed(3)
    env.reset(seed=3)
    for _ in range(400):
        observation, reward, terminated, _, _ = env.step(env.action_space.sample())
        found.append((np.asarray(observation).tolist(), float(reward), bool(terminated)))
        if terminated:
            env.reset()
    return found


# --- on the object ---


@pytest.mark.parametrize("name", TOYS)
def test_a_table_that_is_changed_in_place_is_what_steps_follow(name):
    theirs, ours = (base() for base in bases(name))
    for env in (theirs, ours):
        env.reset(seed=0)
        env.P[env.s][0] = [(1.0, 7, 5.0, True)]
        row = env.P[7]
        row[1] = [(1.0, 9, 2.5, False)]
        env.P[9][2].append((0.0, 3, 0, False))
    assert tuple(ours.step(0))[:3] == theirs.step(0)[:3] == (7, 5.0, True)
    for env in (theirs, ours):
        env.s = 7
    assert tuple(ours.step(1))[:3] == theirs.step(1)[:3] == (9, 2.5, False)


def test_a_table_can_be_set_as_a_whole():
    table = {
        state: {action: [(1.0, (state + action) % 16, action, False)] for action in range(4)} for state in range(16)
    }
    for base in bases("FrozenLake"):
        env = base()
        env.P = table
        env.reset(seed=0)
        assert [env.step(action)[0] for action in (1, 2, 3)] == [1, 3, 6]


def test_a_table_that_was_only_read_changes_no_history():
    read, plain = toy_text.Taxi(is_rainy=True), toy_text.Taxi(is_rainy=True)
    assert read.P
    assert read.own_rules() == []
    assert _history(read) == _history(plain)


def test_a_changed_table_outlives_new_parameters_and_an_unchanged_one_follows_them():
    env = toy_text.CliffWalking()
    table = env.P
    table[0][0] = [(1.0, 5, 9.0, False)]
    env.is_slippery = True
    assert env.P is table
    assert env.P[0][0] == [(1.0, 5, 9.0, False)]
    other = toy_text.CliffWalking()
    table = other.P
    other.is_slippery = True
    assert len(other.P[0][0]) == 3
    assert other.P is table


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_changes_are_copied_with_the_environment(copied):
    env = toy_text.FrozenLake()
    env.P[0][0] = [(1.0, 5, 9.0, True)]
    env.initial_state_distrib = np.eye(16)[0]
    twin = copied(env)
    env.P[0][0] = [(1.0, 6, 1.0, True)]
    twin.reset(seed=0)
    assert twin.step(0)[:2] == (5, 9.0)


def test_a_snapshot_brings_a_changed_table_back_into_the_one_that_was_given_out():
    env = toy_text.FrozenLake()
    env.reset(seed=0)
    before = env.snapshot()
    table = env.P
    table[0][0] = [(1.0, 5, 9.0, True)]
    changed = env.snapshot()
    env.restore(before)
    assert env.step(0).reward == 0
    assert env.own_rules() == []
    env.restore(changed)
    assert env.step(0).reward == 9.0
    env.restore(changed)
    table[0][0] = [(1.0, 6, 2.0, True)]
    assert env.step(0).reward == 2.0


@pytest.mark.parametrize("name", CLASSIC)
def test_a_state_is_the_array_that_programs_take_it_for(name):
    env = ours_of(name)()
    env.reset(seed=1)
    state = env.state
    assert state.copy().tolist() == list(state)
    assert (state + 1 >= state).all()
    assert state.shape == (len(env.rules.state._fields),)
    state[:] = 0.0
    assert env.state is state
    assert env.snapshot()
    env.step(env.action_space.sample())
    assert env.state is not state
    assert not env.state.all() or np.abs(env.state).max() < 1.0


@pytest.mark.parametrize("name", CLASSIC)
def test_a_state_that_was_written_into_is_in_snapshots_and_copies(name):
    env = ours_of(name)()
    env.reset(seed=1)
    env.state[:] = 0.015625
    action, before = env.action_space.sample(), env.snapshot()
    twin = pickle.loads(pickle.dumps(env))
    first = env.step(action)[0].tolist()
    assert twin.step(action)[0].tolist() == first
    env.restore(before)
    assert env.step(action)[0].tolist() == first


def test_a_hook_can_be_put_on_one_object():
    env, other = classic.Pendulum(), classic.Pendulum()
    env._get_obs = lambda: np.zeros(3, np.float32)
    assert env.reset(seed=0)[0].tolist() == [0, 0, 0]
    assert env.step(np.zeros(1, np.float32))[0].tolist() == [0, 0, 0]
    assert env.own_rules() == ["_get_obs"]
    assert other.reset(seed=0)[0].any()


def test_a_class_can_be_changed_after_it_was_made():
    class Arm(classic.Acrobot):
        pass

    Arm.LINK_LENGTH_1 = 3.0
    assert Arm().params.LINK_LENGTH_1 == 3.0
    arm = Arm()
    arm.LINK_LENGTH_1 = 2.0
    assert (arm.params.LINK_LENGTH_1, Arm.LINK_LENGTH_1, classic.Acrobot.LINK_LENGTH_1) == (2.0, 3.0, 1.0)


def test_what_a_class_sets_reaches_spaces_and_what_follows_from_it():
    class Wide(classic.CartPole):
        x_threshold = 5.0
        masspole = 0.5

    env = Wide()
    assert env.observation_space.high[0] == 10.0
    assert (env.total_mass, env.polemass_length) == (1.5, 0.25)
    assert isinstance(env.observation_space, Box)


# --- what cannot be followed is refused ---


def test_a_class_attribute_that_a_constructor_would_overwrite_is_refused():
    with pytest.raises(InvalidArgument, match=r"Slow\.g: expected no class attribute.*super\(\).__init__\(g=5.0\)"):
        type("Slow", (classic.Pendulum,), {"g": 5.0})


def test_a_parameter_that_is_computed_is_refused():
    with pytest.raises(InvalidType, match=r"Odd\.LINK_MOI: expected a value.*set self\.LINK_MOI"):
        type("Odd", (classic.Acrobot,), {"LINK_MOI": property(lambda self: 2.0)})


@pytest.mark.parametrize("name", ["observe", "inform", "renew"])
def test_a_method_that_rules_would_never_call_is_refused(name):
    with pytest.raises(InvalidArgument, match=rf"Blind\.{name}: expected a function of the rules.*_replace\({name}="):
        type("Blind", (classic.CartPole,), {name: lambda self: None})


def test_probabilities_for_other_states_are_refused():
    with pytest.raises(InvalidArgument, match="expected 16 probabilities"):
        toy_text.FrozenLake().initial_state_distrib = [1.0]


def test_cards_that_do_not_exist_are_refused():
    env = toy_text.Blackjack()
    env.reset(seed=0)
    env.player.append(11)
    with pytest.raises(InvalidArgument, match="expected at most 30 cards from 1 to 10"):
        env.step(1)
