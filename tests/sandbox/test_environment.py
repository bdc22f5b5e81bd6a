"""An environment in a sandbox is an `Env` here: the same histories, spaces, attributes and errors."""

import gc
import pickle
import re
import weakref
from copy import deepcopy

import numpy as np
import pytest

import ludus
from ludus import Env, Step
from ludus.errors import (
    ClosedEnvironment,
    EnvError,
    InvalidAction,
    InvalidArgument,
    InvalidSeed,
    InvalidType,
    NameNotFound,
    ResetNeeded,
    SnapshotError,
)
from ludus.sandbox import Deadlines, Limits, Sandbox
from ludus.sandbox.environment import SandboxedEnv, isolate, sandbox_for
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.spaces import Box, Dict, Discrete, Record
from ludus.testing import check_env
from ludus.testing.history import first_difference, play
from ludus.wrappers import TimeLimit
from tests.engines import engines_in_full, in_small, starts_programs
from tests.sandbox.neighbours import DWELLER, FOLDER, neighbour
from tests.spaces.values import same

SPECS = {
    spec.id: in_small(spec) for spec in ludus.list_envs(extras=[], isolation="none") if not starts_programs(spec.id)
}
"""Not those with sandboxes of their own."""


@pytest.fixture(scope="module")
def dweller():
    with isolate(DWELLER, {"deed": "raise"}, "process", paths=[FOLDER], modules=["odd_dwellers"]) as env:
        yield env


# --- histories ---


def history(env, steps=60):
    """What it gives; a flag is a bool, whichever, and a record is its fields, whoever made its class."""
    events, space = play(env, seed=3, steps=steps), env.observation_space
    seen = space.to_fields if isinstance(space, Record) else lambda observation: observation
    return [
        one._replace(observation=seen(one.observation), terminated=bool(one.terminated), truncated=bool(one.truncated))
        for one in events
    ]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("name", SPECS)
def test_the_history_is_that_of_the_environment_itself(name):
    with neighbour(lambda: ludus.make(SPECS[name])) as env, ludus.make(SPECS[name]) as bare:
        assert env.observation_space == bare.observation_space
        assert env.action_space == bare.action_space
        assert first_difference(history(bare), history(env)) is None


@pytest.mark.parametrize("name", engines_in_full(one for one in ludus.registry.registry if one.startswith("task/")))
def test_the_history_of_a_task_is_that_of_the_task_itself(name):
    with neighbour(lambda: ludus.make(name)) as env, ludus.make(name) as bare:
        assert first_difference(history(bare, steps=8), history(env, steps=8)) is None


@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "Pendulum-v1"])
def test_the_history_is_that_of_the_environment_itself_in_a_process_of_its_own(name):
    with isolate(name, sandbox="process") as env, ludus.make(name) as bare:
        assert first_difference(history(bare), history(env)) is None


def test_it_keeps_the_contract():
    report = check_env(lambda: neighbour(lambda: ludus.make("CartPole-v1")), steps=30)
    assert report.findings == ()
    # The generator stays in its process: nobody draws from outside.
    assert "in its own process only" in report.not_checked["reset-continues-the-stream"]


def test_a_spec_its_json_and_an_id_make_the_same():
    spec = ludus.spec("GridWorld-v0").replace(kwargs={"size": 3}, max_episode_steps=7)
    for target in (spec, spec.to_json()):
        with isolate(target, sandbox="process") as env:
            assert env.reset(seed=0)[1]["goal"].tolist() == [2, 1]
            steps = [env.step(0).truncated for _ in range(7)]
            assert steps == [False] * 6 + [True]
            assert env.spec == (spec if target is spec else None)


# --- the API ---


def test_it_says_what_it_is(dweller):
    assert isinstance(dweller, SandboxedEnv)
    assert dweller.unwrapped is dweller
    assert dweller.batch_shape == ()
    assert dweller.metadata == {"render_modes": ["rgb_array", "ansi"], "owner": "tests", "at": (1, 2)}
    assert dweller.render_mode is None
    assert (dweller.guarantees.backend, dweller.guarantees.boundary) == ("process", False)
    assert dweller.usage().wall > 0
    assert repr(dweller) == "<SandboxedEnv(process)<Dweller>>"


def test_options_and_infos_travel_as_they_are(dweller):
    options = {"a": (1, 2.5), "b": {"c": [None, "x"]}, 3: np.arange(2), "set": {1, 2}}
    found = dweller.reset(seed=1, options=options)[1]["options"]
    assert found.keys() == options.keys()
    assert (found["a"], found["b"], found["set"]) == ((1, 2.5), {"c": [None, "x"]}, {1, 2})
    assert found[3].tolist() == [0, 1]


def test_what_cannot_travel_is_named_before_anything_is_sent(dweller):
    with pytest.raises(InvalidArgument, match=r"options\['hook'\]"):
        dweller.reset(options={"hook": print})
    with pytest.raises(InvalidAction, match="action: expected numbers"):
        dweller.step(print)
    with pytest.raises(InvalidArgument, match=r"arguments\['deed'\]"):
        isolate(DWELLER, {"deed": print}, "process")
    with pytest.raises(InvalidSeed):
        dweller.reset(seed=-1)
    dweller.reset(seed=2)
    assert dweller.step(0).info == {"count": 1}


@pytest.mark.parametrize("seed", [0, 2**64, 10**40, np.int64(5)])
def test_seeds_of_any_size_are_honoured(dweller, seed):
    dweller.reset(seed=seed)
    assert dweller.np_random_seed == seed
    first = dweller.step(0).observation
    dweller.reset(seed=seed)
    assert np.array_equal(dweller.step(0).observation, first)


def test_streams_are_those_of_the_environment_itself(dweller):
    bare = ludus.make("CartPole-v1")
    for env in (dweller, bare):
        env.reset(seed=11)
    assert dweller.stream("noise").random() == bare.stream("noise").random()
    assert dweller.stream("noise") is dweller.stream("noise")
    with pytest.raises(EnvError, match="in another process"):
        _ = dweller.np_random
    with pytest.raises(EnvError, match="cannot travel"):
        dweller.np_random = np.random.default_rng(0)


def test_attributes_are_read_and_set_where_they_are_data(dweller):
    assert dweller.has_wrapper_attr("size")
    assert not dweller.has_wrapper_attr("weight")
    assert dweller.get_wrapper_attr("size") == 4
    assert dweller.get_wrapper_attr("table")["a"].tolist() == [0, 1, 2]
    assert dweller.get_wrapper_attr("render_mode") is None
    assert dweller.set_wrapper_attr("size", 9)
    assert dweller.get_wrapper_attr("size") == 9
    assert not dweller.set_wrapper_attr("weight", 1, force=False)
    assert not hasattr(dweller, "size")
    observation, _ = dweller.reset(seed=0)
    assert dweller.get_wrapper_attr("observe")().shape == observation.shape
    with pytest.raises(InvalidArgument, match="observe argument 0"):
        dweller.get_wrapper_attr("observe")(print)
    with pytest.raises(AttributeError, match="weight"):
        dweller.get_wrapper_attr("weight")


def test_a_wrapper_around_it_is_one_around_any_environment(dweller):
    env = TimeLimit(dweller, 3)
    env.reset(seed=0)
    assert [env.step(0).truncated for _ in range(3)] == [False, False, True]


# --- errors ---


def test_an_error_of_ludus_comes_out_as_the_same_class_with_its_traceback():
    with neighbour(lambda: ludus.make("CartPole-v1")) as env:
        with pytest.raises(ResetNeeded) as found:
            env.step(0)
        assert "Raised in the sandboxed process, in CartPole:\nTraceback" in found.value.__notes__[0]
        env.reset(seed=0)
        with pytest.raises(InvalidAction, match=r"action: expected Discrete\(2\), got 7"):
            env.step(7)
        assert env.step(1).reward == 1.0


def test_any_other_error_is_an_env_error_that_names_it(dweller):
    dweller.reset(seed=0)
    with pytest.raises(EnvError, match=r"Dweller: ValueError: an odd .\[31m value") as found:
        dweller.step(2)
    assert type(found.value) is EnvError
    assert "do_raise" in found.value.__notes__[0]
    assert "\x1b" not in str(found.value) + found.value.__notes__[0]
    assert dweller.step(0).info == {"count": 2}  # it goes on


def test_what_cannot_be_made_says_why():
    with pytest.raises(NameNotFound, match="CartPoel"):
        isolate("CartPoel-v1", sandbox="process")
    with pytest.raises(InvalidArgument, match="unknown argument 'mass'"):
        isolate("CartPole-v1", {"mass": 3}, "process")
    with pytest.raises(ludus.errors.EntryPointError, match="nowhere_to_be_found"):
        isolate("CartPole-v1", sandbox="process", modules=["nowhere_to_be_found"])
    with pytest.raises(InvalidType, match="expected its entry_point to return a ludus Env"):
        isolate("odd_dwellers:broken", sandbox="process", paths=[FOLDER])


@pytest.mark.parametrize("wrong", [5, print, None])
def test_a_target_is_a_name_or_a_spec(wrong):
    with pytest.raises(InvalidType, match="an id, 'module:Class', a spec or its JSON"):
        isolate(wrong, sandbox="process")


def test_isolation_is_a_word_or_a_sandbox():
    box = Sandbox("process", limits=Limits())
    assert sandbox_for(box) is box
    assert sandbox_for(Sandbox("process")).policy.limits.wall is None  # no limits were given: it lives while it is used
    assert sandbox_for("process").policy.limits.wall is None
    with pytest.raises(InvalidArgument, match="isolation: expected one of process, sandbox, container"):
        sandbox_for("paper")
    with pytest.raises(InvalidType, match="a word or a Sandbox"):
        sandbox_for(5)
    with pytest.raises(InvalidArgument, match="paths: expected folders"):
        isolate(DWELLER, sandbox="process", paths=["/nowhere/at/all"])


@pytest.mark.parametrize("wrong", [{"step": 0}, {"reset": -1.0}, {"close": True}, {"start": "5"}])
def test_deadlines_are_seconds(wrong):
    with pytest.raises(InvalidArgument, match="expected seconds above 0, or None"):
        Deadlines(**wrong)
    assert Deadlines.of(5) == Deadlines(step=5)
    assert Deadlines.of(None) == Deadlines()


def test_modules_that_the_interpreter_has_to_see_are_known_from_the_target():
    spec = ludus.spec("GridWorld-v0").with_wrapper(TimeLimit.using(5))
    assert Blueprint.of(spec, None).needed == ("ludus.envs.teaching.grid_world", "ludus.wrappers.time_limit")
    assert Blueprint.of("a.b:C", None, ["d"]).needed == ("a.b", "d")


# --- pictures ---


def test_pictures_come_as_arrays_and_text():
    with isolate("CartPole-v1", {"render_mode": "rgb_array"}, "process") as env:
        bare = ludus.make("CartPole-v1", render_mode="rgb_array")
        for one in (env, bare):
            one.reset(seed=0)
        assert np.array_equal(env.render(), bare.render())
        assert env.render_mode == "rgb_array"
    with neighbour(lambda: ludus.make("CartPole-v1", render_mode="ansi")) as env:
        env.reset(seed=0)
        assert isinstance(env.render(), str)
    with neighbour(lambda: ludus.make("CartPole-v1", render_mode="rgb_array_list")) as env:
        env.reset(seed=0)
        env.step(0)
        assert len(env.render()) == 2


# --- snapshots ---


def test_a_snapshot_is_restored_any_number_of_times(dweller):
    dweller.reset(seed=0)
    dweller.action_space.seed(4)
    snapshot = dweller.snapshot()
    first = [dweller.step(0) for _ in range(3)], [dweller.action_space.sample() for _ in range(5)]
    for _ in range(2):
        dweller.restore(snapshot)
        again = [dweller.step(0) for _ in range(3)], [dweller.action_space.sample() for _ in range(5)]
        assert [one.observation.tolist() for one in again[0]] == [one.observation.tolist() for one in first[0]]
        assert again[1] == first[1]


def test_a_snapshot_says_why_it_cannot_be_pickled(dweller):
    dweller.reset(seed=0)
    with pytest.raises(SnapshotError) as caught:
        pickle.dumps(dweller.snapshot())
    assert re.sub(r"\d+", "N", str(caught.value)) == (
        "pickle of a snapshot: expected the state of an environment of this process, got number N of those that "
        "Dweller keeps where it is; seed and actions lead there again"
    )


def test_snapshots_that_nobody_holds_are_forgotten_in_isolation():
    made = []

    def make():
        made.append(ludus.make("CartPole-v1"))
        return made[0]

    with neighbour(make) as env:
        env.reset(seed=0)
        for _ in range(50):
            env.snapshot()
        gc.collect()
        kept = env.snapshot()
        assert env._link._dropped == []
        assert kept.states[0].handle.number == 51
        del kept
        gc.collect()
        assert env._link._dropped == [51]


def test_a_snapshot_fits_another_process_as_long_as_its_own_is_there():
    with neighbour(lambda: ludus.make("CartPole-v1")) as env, neighbour(lambda: ludus.make("CartPole-v1")) as other:
        for seed, one in enumerate((env, other)):
            one.reset(seed=seed)
        env.step(1)
        kept = env.snapshot()
        other.restore(kept)
        assert all(same(a, b) for a, b in zip(moves(env), moves(other), strict=True))
        env._link.abandon()
        with pytest.raises(SnapshotError, match="stays with its process"):
            other.restore(kept)
        env.reset(seed=0)
        number = env.snapshot().states[0]
        lost = deepcopy(number.handle.number) + 100
        number.handle.number = lost
        with pytest.raises(SnapshotError, match=f"number {lost}"):
            number.handle.restore(env._link)


def moves(env):
    return [env.step(action) for action in (0, 1, 1, 0)]


def test_snapshots_reach_through_wrappers_on_both_sides():
    env = TimeLimit(neighbour(lambda: ludus.make("CartPole-v1")), 5)
    env.reset(seed=0)
    snapshot = env.snapshot()
    for _ in range(2):
        env.restore(snapshot)
        assert [env.step(0).truncated for _ in range(5)] == [False] * 4 + [True]
    env.close()


# --- closing ---


def test_closed_is_closed():
    env = neighbour(lambda: ludus.make("CartPole-v1"))
    env.reset(seed=0)
    env.close()
    env.close()
    for call in (env.reset, lambda: env.step(0), env.render, env.snapshot, lambda: env.np_random_seed):
        with pytest.raises(ClosedEnvironment, match="expected an open environment, got a closed one"):
            call()
    assert env.guarantees.backend == "thread"
    assert env.usage().wall == 0


def test_a_process_goes_with_its_environment():
    env = isolate("CartPole-v1", sandbox="process")
    process = weakref.ref(env._link.env_process.process)
    process = process()
    del env
    gc.collect()
    assert process.wait(0) is not None


class Typed(Env):
    """Gives NumPy numbers where others give Python's."""

    observation_space = Dict(a=Discrete(3), b=Box(0, 1, (2,)), c=Box(0, 1, (), np.float64))
    action_space = Dict(move=Box(-1, 1, (2,), np.float64), kind=Discrete(2))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"a": 1, "b": np.zeros(2, np.float32), "c": np.asarray(0.5)}, {}

    def step(self, action):
        observation = {"a": np.int64(2), "b": np.ones(2, np.float16), "c": np.asarray(0.25)}
        return Step(observation, np.float32(0.5), np.False_, np.True_, {"got": action})


def test_types_and_dtypes_survive_the_way():
    with neighbour(Typed) as env:
        first, _ = env.reset(seed=0)
        assert type(first["a"]) is int
        action = {"move": np.zeros(2, np.float32), "kind": np.int8(1)}
        step = env.step(action)
        assert type(step.observation["a"]) is np.int64
        assert step.observation["b"].dtype == np.float16
        assert type(step.reward) is np.float32
        assert (step.terminated, step.truncated) == (False, True)
        assert step.info["got"]["move"].dtype == np.float32
        assert type(step.info["got"]["kind"]) is np.int8


def test_a_reward_of_an_array_without_axes_is_a_number():
    with isolate(DWELLER, {"deed": "reward_array"}, "process", paths=[FOLDER]) as env:
        env.reset(seed=0)
        assert env.step(2).reward == 2.5
        env.set_wrapper_attr("deed", "flag_numpy")
        assert env.step(2).terminated is True
