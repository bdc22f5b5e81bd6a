"""Making batches: lanes are what `make` makes."""

from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus import AutoresetMode, make, make_vec
from ludus.core import EnvSpec
from ludus.envs.teaching.grid_world import GridWorld
from ludus.errors import InvalidArgument, InvalidType
from ludus.kernels import RuleEnv, Rules
from ludus.registry import registry
from ludus.spaces import Discrete
from ludus.vector import Process
from ludus.wrappers import TimeLimit


def test_a_lane_is_the_single_environment_with_its_seed():
    envs = make_vec("GridWorld-v0", num_envs=3, size=4)
    observations, infos = envs.reset(seed=5)
    for lane in range(3):
        observation, info = make("GridWorld-v0", size=4).reset(seed=5 + lane)
        np.testing.assert_array_equal(observations[lane], observation)
        np.testing.assert_array_equal(infos["goal"][lane], info["goal"])


def test_a_batch_has_the_spec_of_its_lanes():
    envs = make_vec("GridWorld", num_envs=2, size=3, max_episode_steps=5)
    assert envs.spec == make("GridWorld-v0", size=3, max_episode_steps=5).spec
    assert repr(envs) == "SerialVectorEnv(GridWorld-v0, num_envs=2)"


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, "SameStep"])
def test_the_autoreset_mode_is_passed_on(mode):
    assert make_vec("GridWorld-v0", autoreset_mode=mode).autoreset_mode is AutoresetMode.SAME_STEP


@pytest.mark.parametrize("wrap", [lambda env: TimeLimit(env, 2), TimeLimit.using(2)])
def test_each_lane_is_wrapped(wrap):
    envs = make_vec(GridWorld, 2, wrappers=[wrap])
    envs.reset(seed=0)
    envs.step([0, 0])
    assert envs.step([0, 0]).truncated.tolist() == [True, True]
    assert envs.spec.max_episode_steps == 2


def test_an_old_version_warns_once_for_all_lanes(shared):
    for version in (0, 1):
        shared.register(f"tests/Old-v{version}", GridWorld)
    with pytest.warns(DeprecationWarning, match="newest") as caught:
        make_vec("tests/Old-v0", num_envs=3)
    assert [(str(one.message).split(";")[1], one.filename) for one in caught] == [
        (" use 'tests/Old-v1' unless you repeat old results", __file__)
    ]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"num_envs": 0}, InvalidArgument, "num_envs: expected a positive integer, got 0"),
        ({"num_envs": 2.0}, InvalidArgument, "num_envs: expected a positive integer, got 2.0"),
        ({"num_envs": True}, InvalidArgument, "num_envs: expected a positive integer, got True"),
        (
            {"executor": "threads"},
            InvalidArgument,
            "executor: expected one of serial, thread, process, kernel, or a value as Process(workers=4), "
            "got 'threads'; did you mean 'thread'?",
        ),
        ({"wrappers": TimeLimit}, InvalidType, "wrappers: expected a sequence of wrappers, got"),
        ({"wrappers": [3]}, InvalidType, "wrapper: expected X.using(…), a Wrapper class or a function of an"),
        ({"wrappers": [lambda env: None]}, InvalidType, "wrappers: expected <function"),
        ({"autoreset_mode": "never"}, InvalidArgument, "autoreset_mode: expected one of NextStep, SameStep, Disabled"),
        (
            {"siz": 3},
            InvalidArgument,
            "GridWorld-v0: unknown argument 'siz'; did you mean 'size'? GridWorld takes size",
        ),
    ],
)
def test_wrong_arguments_are_answered_with_what_was_expected(arguments, kind, message):
    with pytest.raises(kind) as caught:
        make_vec("GridWorld-v0", **arguments)
    assert str(caught.value).startswith(message)


def test_numpy_integers_count_lanes():
    assert make_vec("GridWorld-v0", np.int64(2)).num_envs == 2


def test_a_spec_and_a_class_make_batches_too():
    assert isinstance(make_vec(EnvSpec("Grid-v0", GridWorld), 2), ludus.VectorEnv)


# --- which executor, and lanes that differ ---


@pytest.mark.parametrize(
    ("arguments", "executor", "why"),
    [
        (("CartPole-v1",), "kernel", "since it is made of rules"),
        (("GridWorld-v0",), "serial", "since it is not made of rules"),
        (("CartPole-v1", 2, "serial"), "serial", "as asked"),
        (("CartPole-v1", 2, "kernel"), "kernel", "as asked"),
        (("CartPole-v1", 2, None, "SameStep", [TimeLimit.using(max_episode_steps=3)]), "serial", "since wrappers are"),
    ],
)
def test_rules_are_compiled_unless_something_stands_in_the_way(capsys, arguments, executor, why):
    envs = make_vec(*arguments, verbose=True)
    assert envs.executor == executor
    said = capsys.readouterr().out
    assert f"executor {executor!r}, {why}" in said
    assert said.count("\n") == 1
    assert make_vec("CartPole-v1", render_mode="rgb_array").executor == "serial"
    assert capsys.readouterr().out == ""


def test_functions_classes_specs_and_lists_of_them_are_lanes():
    grid = GridWorld
    targets = ("GridWorld-v0", registry["GridWorld-v0"], grid, lambda size: grid(size))
    made = [make_vec(one, 2, size=3) for one in targets]
    firsts = [envs.reset(seed=5)[1]["goal"] for envs in made]
    assert all(np.array_equal(first, firsts[0]) for first in firsts)
    assert make_vec([grid, "GridWorld-v0"]).num_envs == 2
    with pytest.raises(InvalidArgument, match="num_envs: expected 2, one for each environment given, got 3"):
        make_vec([grid, grid], 3)
    with pytest.raises(InvalidArgument, match="num_envs: expected a positive integer, got 0"):
        make_vec([])


@pytest.mark.parametrize(
    ("each", "text"),
    [
        ({"size": [3, 4, 5]}, r"each\['size'\]: expected 2 values, one for each lane"),
        ({"size": 3}, r"each\['size'\]: expected 2 values"),
        ({"colour": [1, 2]}, r"each\['colour'\]: expected an argument of GridWorld-v0, or a parameter of its rules"),
    ],
)
def test_values_for_each_lane_are_checked(each, text):
    with pytest.raises(InvalidArgument, match=text):
        make_vec("GridWorld-v0", 2, each=each)


class Place(NamedTuple):
    place: int


class Nothing(NamedTuple):
    pass


class Clumsy(RuleEnv):
    observation_space = action_space = Discrete(5)
    rules = Rules(
        Place,
        Nothing,
        lambda rng, params: Place(0),
        lambda state, action, rng, params: (Place(len(dir(state)) * 0), 0.0, False),
        lambda state, params: state.place,
    )


def test_rules_that_cannot_be_compiled_run_serially_and_say_so():
    with pytest.warns(UserWarning, match="running serially"):
        envs = make_vec(Clumsy, 2)
    assert envs.executor == "serial"
    envs.reset(seed=0)
    assert envs.step([0, 1]).observation.tolist() == [0, 0]


# --- in a sandbox ---


@pytest.mark.parametrize("workers", [1, 2])
def test_lanes_in_isolation_have_the_same_history(workers):
    with make_vec(
        "FrozenLake-v1", 3, executor=Process(workers=workers), isolation="process", max_episode_steps=6
    ) as isolated:
        open_ones = make_vec("FrozenLake-v1", 3, "serial", max_episode_steps=6)
        assert isolated.executor == "sandbox"
        assert isolated.spec.isolation_record.isolation == "process"
        assert np.array_equal(isolated.reset(seed=4)[0], open_ones.reset(seed=4)[0])
        open_ones.action_space.seed(4)
        for _ in range(30):
            actions = open_ones.action_space.sample()
            ours, theirs = isolated.step(actions), open_ones.step(actions)
            assert np.array_equal(ours.observation, theirs.observation)
            assert np.array_equal(ours.reward, theirs.reward)
            assert np.array_equal(ours.done, theirs.done)


def test_wrapped_lanes_and_lanes_that_differ_have_sandboxes_of_their_own():
    limit = TimeLimit.using(max_episode_steps=2)
    with make_vec("GridWorld-v0", 2, isolation="process", wrappers=[limit], each={"size": [3, 3]}) as envs:
        assert envs.executor == "serial"
        envs.reset(seed=0)
        envs.step([0, 0])
        assert envs.step([0, 0]).truncated.all()


def test_rules_are_not_compiled_in_isolation():
    with pytest.raises(InvalidArgument, match="expected lanes in this process, got some in a sandbox"):
        make_vec("CartPole-v1", 2, "kernel", isolation="process")
    with pytest.raises(InvalidArgument, match=r"Process\.batch_size: expected only workers in a sandbox"):
        make_vec("CartPole-v1", 2, Process(batch_size=1), isolation="process")
