"""Making batches: lanes are what `make` makes."""

import numpy as np
import pytest

import ludus
from ludus import AutoresetMode, make, make_vec
from ludus.core import EnvSpec
from ludus.envs.teaching.grid_world import GridWorld
from ludus.errors import InvalidArgument, InvalidType
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
        ({"executor": "threads"}, InvalidArgument, "executor: expected one of serial, kernel, got 'threads'"),
        ({"executor": None}, InvalidArgument, "executor: expected one of serial, kernel, got None"),
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
