"""Snapshots: exact, taken once and restored any number of times, and clear where state cannot be copied."""

import math
import threading
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.core import Env, Step
from ludus.envs.teaching import GridWorld
from ludus.errors import SnapshotError
from ludus.spaces import Dict, Discrete, Tuple
from ludus.vector import SerialVectorEnv
from ludus.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from tests.core.subjects import Counted, Mirrored, Negated, Walk
from tests.core.wording import says
from tests.sampling import examples

actions = st.lists(st.integers(-1, 1), max_size=12)


def stack():
    return TimeLimit(OrderEnforcing(Counted(Negated(Mirrored(Walk())), 0.5)), 7)


def future(env, plan):
    """What the environment, its spaces and its streams give from here on."""
    seen = []
    for action in plan:
        step = env.step(action)
        seen.append((step.observation.tolist(), step.reward, step.terminated, step.truncated, step.info))
        if step.terminated or step.truncated:
            seen.append(env.reset()[0].tolist())
    drawn = env.np_random.random(), env.stream("counted").random()
    return seen, drawn, [int(env.action_space.sample()) for _ in range(8)]


@settings(max_examples=examples(60))
@given(st.integers(0, 9), actions, actions, actions)
def test_whatever_happens_in_between_the_future_is_the_same(seed, before, between, after):
    env = stack()
    env.reset(seed=seed)
    env.action_space.seed(seed)
    future(env, before)
    snapshot = env.snapshot()
    expected = future(env, after)
    future(env, between)
    env.restore(snapshot)
    assert future(env, after) == expected
    env.reset(seed=seed + 1)
    env.restore(snapshot)
    assert future(env, after) == expected
    fresh = stack()
    fresh.restore(snapshot)
    assert future(fresh, after) == expected


def test_wrappers_states_are_part_of_it():
    env = stack()
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    snapshot = env.snapshot()
    env.reset(seed=1)
    env.restore(snapshot)
    assert (env._elapsed_steps, env.env.env.steps, len(env.unwrapped.seen)) == (3, 3, 4)


def test_a_snapshot_before_the_first_reset_takes_the_reset_back():
    env = OrderEnforcing(Walk())
    snapshot = env.snapshot()
    env.reset(seed=0)
    env.restore(snapshot)
    assert not env.has_reset
    assert env.unwrapped._np_random is None


def test_a_snapshot_does_not_change_with_the_environment():
    env = Walk()
    env.reset(seed=0)
    snapshot = env.snapshot()
    first = list(env.seen)
    env.step(1)
    env.restore(snapshot)
    assert env.seen == first
    env.seen.append("changed after the restore")
    env.restore(snapshot)
    assert env.seen == first


def test_two_names_of_one_object_stay_two_names_of_one():
    class Shared(Counted):
        pass

    env = Shared(Walk())
    env.unwrapped.board = env.board = {"cells": [0, 0]}
    env.unwrapped.row = env.board["cells"]
    snapshot = env.snapshot()
    env.board = "other"
    env.restore(snapshot)
    assert env.board is env.unwrapped.board
    assert env.unwrapped.row is env.board["cells"]


def test_methods_and_references_to_layers_point_at_the_restored_environment():
    env = Counted(Walk())
    env.unwrapped.owner = env
    env.unwrapped.me = {"self": env.unwrapped}
    env.unwrapped.advance = env.unwrapped.step
    env.unwrapped.forward = partial(env.unwrapped.step, 1)
    other = Counted(Walk())
    other.restore(env.snapshot())
    assert other.unwrapped.owner is other
    assert other.unwrapped.me["self"] is other.unwrapped
    assert other.unwrapped.advance.__self__ is other.unwrapped
    other.reset(seed=0)
    assert other.unwrapped.forward.func.__self__ is other.unwrapped


def test_spaces_stay_the_objects_they_are_and_their_generators_come_back():
    env = Walk()
    env.action_space = Tuple((Discrete(9), Dict(a=Discrete(9))), seed=4)
    held = env.action_space
    snapshot = env.snapshot()
    expected = [held.sample() for _ in range(5)]
    env.restore(snapshot)
    assert env.action_space is held
    assert [held.sample() for _ in range(5)] == expected


def test_a_space_that_was_replaced_comes_back_as_it_was():
    env = Walk()
    snapshot = env.snapshot()
    env.action_space = Discrete(7)
    env.restore(snapshot)
    assert env.action_space == Discrete(3, start=-1)


def test_the_generators_of_spaces_that_the_class_holds_are_part_of_it():
    class Coin(Env):
        observation_space = action_space = Discrete(10**6)

        def step(self, action):
            return Step.transition(0)

    env = Coin()
    env.action_space.seed(1)
    snapshot = env.snapshot()
    expected = [env.action_space.sample() for _ in range(3)]
    env.restore(snapshot)
    assert [env.action_space.sample() for _ in range(3)] == expected
    assert vars(env) == {}


def test_attributes_come_and_go_with_the_snapshot():
    env = Walk()
    env.wind = 3
    snapshot = env.snapshot()
    del env.wind
    env.rain = 1
    env.restore(snapshot)
    assert env.wind == 3
    assert not hasattr(env, "rain")


def test_slots_are_state_too():
    class Slotted(Walk):
        __slots__ = ("momentum", "unset")

    class Single(Slotted):
        __slots__ = "spin"

    env = Single()
    env.momentum, env.spin = [1], 2
    snapshot = env.snapshot()
    env.momentum.append(2)
    env.spin, env.unset = 3, 4
    env.restore(snapshot)
    assert (env.momentum, env.spin) == ([1], 2)
    assert not hasattr(env, "unset")


def test_modules_and_functions_are_no_state():
    env = Walk()
    env.library, env.rule = math, max
    snapshot = env.snapshot()
    env.restore(snapshot)
    assert (env.library, env.rule) == (math, max)


def test_what_is_shared_is_left_alone():
    class Windowed(Walk):
        snapshot_shared = ("window",)

    env = Windowed()
    env.window = window = threading.Lock()
    snapshot = env.snapshot()
    env.restore(snapshot)
    assert env.window is window
    env.window = other = threading.Lock()
    env.restore(snapshot)
    assert env.window is other


class Holder:
    def __init__(self):
        self.table = {"rows": [1, {"guard": threading.Lock()}]}


ADVICE = "name it in `snapshot_shared` if it is no state, or override `_capture` and `_reinstate`"


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (lambda env: setattr(env, "guard", threading.Lock()), "Walk.guard"),
        (lambda env: setattr(env, "tools", (0, threading.Lock())), "Walk.tools[1]"),
        (lambda env: setattr(env, "helper", Holder()), "Walk.helper.table['rows'][1]['guard']"),
    ],
)
def test_what_cannot_be_copied_is_named_by_its_exact_path(place, path):
    env = Counted(Walk())
    place(env.unwrapped)
    with pytest.raises(SnapshotError) as caught:
        env.snapshot()
    text = str(caught.value)
    assert text.startswith(f"snapshot: expected attributes that can be copied, got {path} = <unlocked _thread.lock")
    assert text.endswith(f"(cannot pickle '_thread.lock' object); {ADVICE}")


def test_an_object_that_refuses_to_be_copied_is_named_with_its_reason():
    class Stubborn:
        def __deepcopy__(self, memo):
            raise ValueError("no copies")

        def __repr__(self):
            return "Stubborn()"

    env = Walk()
    env.part = Stubborn()
    with says(
        SnapshotError,
        f"snapshot: expected attributes that can be copied, got Walk.part = Stubborn() (no copies); {ADVICE}",
    ):
        env.snapshot()


def test_an_object_that_fails_only_once_is_blamed_on_the_layer():
    class Moody:
        failed = False

        def __deepcopy__(self, memo):
            if not Moody.failed:
                Moody.failed = True
                raise ValueError("not now")
            return self

    env = Walk()
    env.part = Moody()
    with pytest.raises(SnapshotError, match=r"got Walk = <.*Walk object at .*> \(not now\)"):
        env.snapshot()


def test_a_snapshot_of_another_stack_does_not_fit():
    message = (
        "restore: expected a snapshot of tests.core.subjects.Counted of tests.core.subjects.Walk, "
        "got one of tests.core.subjects.Walk; make the environment with the same wrappers"
    )
    with says(SnapshotError, message):
        Counted(Walk()).restore(Walk().snapshot())


def test_only_a_snapshot_can_be_restored():
    with says(SnapshotError, "restore: expected what snapshot() returned, got {'place': 1}"):
        Walk().restore({"place": 1})


def test_a_snapshot_shows_what_it_is_of():
    assert repr(stack().snapshot()) == (
        "Snapshot(TimeLimit of OrderEnforcing of Counted of Negated of Mirrored of Walk)"
    )


@pytest.mark.parametrize("make", [GridWorld, lambda: PassiveEnvChecker(GridWorld())])
def test_the_teaching_environments_restore_exactly(make):
    env = make()
    env.reset(seed=2)
    env.action_space.seed(2)
    snapshot = env.snapshot()
    expected = [_plain(env.step(env.action_space.sample())) for _ in range(20)]
    for _ in range(2):
        env.restore(snapshot)
        assert [_plain(env.step(env.action_space.sample())) for _ in range(20)] == expected


def _plain(step):
    goal = step.info.get("goal")
    return np.asarray(step.observation).tolist(), step.reward, step.terminated, None if goal is None else goal.tolist()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_batch_restores_lane_by_lane_with_its_spaces(mode):
    make = lambda: SerialVectorEnv([lambda: TimeLimit(Walk(), 3)] * 2, autoreset_mode=mode)  # noqa: E731
    envs = make()
    envs.reset(seed=0)
    envs.action_space.seed(0)
    envs.step([0, 1])
    envs.step([0, 1])
    snapshot = envs.snapshot()

    def play(batch):
        return [[np.asarray(part).tolist() for part in batch.step(batch.action_space.sample())[:4]] for _ in range(10)]

    expected = play(envs)
    envs.restore(snapshot)
    assert play(envs) == expected
    other = make()
    other.restore(snapshot)
    assert play(other) == expected


def test_a_batch_that_fails_names_the_attribute_of_its_lane():
    envs = SerialVectorEnv([Walk, Walk])
    envs.envs[1].guard = threading.Lock()
    with pytest.raises(SnapshotError, match=r"got Walk\.guard = "):
        envs.snapshot()
