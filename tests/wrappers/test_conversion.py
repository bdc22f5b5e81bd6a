"""Arrays of other libraries, in both directions, shared wherever memory can be."""

import contextlib
import json
from collections import OrderedDict
from importlib.util import find_spec
from typing import NamedTuple

import array_api_strict as xp
import numpy as np
import pytest

import ludus
from ludus.core import Env, EnvSpec, Step
from ludus.errors import InvalidArgument, MissingExtra
from ludus.spaces import Box, Dict
from ludus.testing import data_equal
from ludus.wrappers.conversion import (
    ArrayConversion,
    JaxToNumpy,
    JaxToTorch,
    NumpyToTorch,
    array_conversion,
    module_namespace,
)

Strict = type(xp.asarray(0))
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


class Pair(NamedTuple):
    left: object
    right: object


def numpy_of(value):
    return array_conversion(value, np)


# --- values ---


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_arrays_of_every_kind_go_there_and_back(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    there = array_conversion(array, xp)
    assert isinstance(there, Strict)
    assert data_equal(numpy_of(there), array)


def test_memory_is_shared_where_it_can_be():
    array = np.zeros(3)
    there = array_conversion(array, xp)
    array[0] = 7
    assert float(there[0]) == 7.0
    assert array_conversion(there, xp) is there
    assert array_conversion(array, np) is array


def test_memory_that_cannot_be_shared_is_copied():
    backwards, swapped = np.arange(3.0)[::-1], np.arange(3, dtype=">f4")
    for array in (backwards, swapped):
        there = array_conversion(array, xp)
        assert numpy_of(there).tolist() == array.tolist()
        assert not np.shares_memory(numpy_of(there), array)


def test_memory_that_may_not_be_written_is_not_written_through_another_library():
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    there = array_conversion(fixed, xp)
    with contextlib.suppress(ValueError):
        there[0] = 9.0
    assert fixed.tolist() == [0.0, 1.0, 2.0]


def test_structure_is_kept_and_what_is_no_array_too():
    thing = object()
    value = {
        "deep": [(np.ones(2), 3), OrderedDict(x=2.5)],
        "pair": Pair(np.zeros(1), None),
        "text": "go",
        "words": np.array(["a", "b"]),
        "thing": thing,
        "flag": np.bool_(True),
    }
    there = array_conversion(value, xp)
    assert isinstance(there["deep"][0][0], Strict)
    assert isinstance(there["deep"][0][1], Strict)
    assert isinstance(there["deep"][1]["x"], Strict)
    assert isinstance(there["pair"], Pair)
    assert isinstance(there["pair"].left, Strict)
    assert there["pair"].right is None
    assert there["text"] == "go"
    assert there["words"] is value["words"]
    assert there["thing"] is thing
    assert bool(there["flag"])


def test_numbers_stay_numbers_where_told():
    assert array_conversion({"low": 0.5, "mask": np.ones(1)}, xp, numbers=False)["low"] == 0.5


def test_columns_of_objects_are_converted_one_by_one():
    column = np.array([None, None], dtype=object)
    column[1] = np.ones(2)
    there = array_conversion(column, xp)
    assert there[0] is None
    assert isinstance(there[1], Strict)
    assert isinstance(column[1], np.ndarray)


def test_a_library_is_named_or_given():
    assert module_namespace("numpy") is np
    assert module_namespace(xp) is xp
    with pytest.raises(InvalidArgument, match="array library: expected a module with asarray and from_dlpack"):
        module_namespace(json)
    with pytest.raises(InvalidArgument, match=r"expected one of numpy, .* by name, got 'json'; pass another"):
        module_namespace("json")
    with pytest.raises(MissingExtra) as error:
        module_namespace("cupy")
    assert str(error.value) == ("array library: expected the package cupy, got none; pip install cupy")


@pytest.mark.skipif(find_spec("torch") is not None or find_spec("jax") is not None, reason="nothing is missing")
@pytest.mark.parametrize(("kind", "extra"), [(JaxToNumpy, "jax"), (JaxToTorch, "jax"), (NumpyToTorch, "torch")])
def test_a_missing_library_names_the_extra(kind, extra):
    with pytest.raises(MissingExtra) as error:
        kind(ludus.make("GridWorld-v0"))
    assert str(error.value) == (
        f'array library: expected the package {extra}, got none; pip install "ludus-rl[{extra}]"'
    )


# --- environments ---


class Strictly(Env):
    """An environment of another library's arrays: it adds up the actions."""

    observation_space = Dict(total=Box(-9, 9, (2,), np.float32))
    action_space = Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        start = xp.zeros(2, dtype=xp.float32) if options is None else options["start"]
        self.total = xp.asarray(start, copy=True)
        return {"total": self.total}, {"count": xp.asarray(0)}

    def step(self, action):
        self.total = self.total + action  # raises unless the action is of this library
        return {"total": self.total}, xp.sum(self.total), xp.asarray(False), False, {"count": 1}


def test_an_environment_of_other_arrays_is_one_of_numpys():
    env = ArrayConversion(Strictly(), xp, np)
    observation, info = env.reset(seed=0)
    assert data_equal(observation, {"total": np.zeros(2, np.float32)})
    assert data_equal(info, {"count": np.array(0)})
    observation, reward, terminated, truncated, info = env.step(np.array([0.5, 0.25], np.float32))
    assert data_equal(observation, {"total": np.array([0.5, 0.25], np.float32)})
    assert (reward, terminated, truncated) == (0.75, False, False)
    assert type(reward) is float
    assert type(terminated) is bool
    start, _ = env.reset(options={"start": np.ones(2, np.float32)})
    assert data_equal(start, {"total": np.ones(2, np.float32)})


def test_an_environment_of_numpys_is_one_of_other_arrays():
    env, plain = ArrayConversion(ludus.make("CartPole-v1"), np, xp), ludus.make("CartPole-v1")
    shown, seen = env.reset(seed=3)[0], plain.reset(seed=3)[0]
    assert isinstance(shown, Strict)
    assert data_equal(numpy_of(shown), seen)
    for action in (0, 1, 1):
        step, expected = env.step(xp.asarray(action)), plain.step(action)
        assert isinstance(step, Step)
        assert data_equal(numpy_of(step.observation), expected.observation)
        assert step[1:4] == expected[1:4]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_batch_is_converted_whole(mode):
    envs = ArrayConversion(ludus.make_vec("CartPole-v1", 3, autoreset_mode=mode), "numpy", "array_api_strict")
    plain = ludus.make_vec("CartPole-v1", 3, autoreset_mode=mode)
    assert envs.batch_shape == (3,)
    assert data_equal(numpy_of(envs.reset(seed=1)[0]), plain.reset(seed=1)[0])
    last = 0
    for _ in range(40):
        actions = plain.action_space.sample()
        step, expected = envs.step(xp.asarray(actions)), plain.step(actions)
        assert all(isinstance(part, Strict) for part in step[:4])
        assert data_equal(numpy_of(tuple(step)), tuple(expected))
        last += "final_obs" in step.info
    assert (last > 0) == (mode == "SameStep")


def test_a_partial_reset_takes_a_mask_of_either_library():
    envs = ArrayConversion(ludus.make_vec("CartPole-v1", 2, autoreset_mode="Disabled"), np, xp)
    envs.reset(seed=0)
    before = numpy_of(envs.step(xp.asarray([0, 1])).observation)
    after = numpy_of(envs.reset(seed=9, options={"reset_mask": xp.asarray([True, False])})[0])
    assert (before[1] == after[1]).all()
    assert (before[0] != after[0]).any()


def test_pictures_stay_numpys():
    env = ArrayConversion(ludus.make("CartPole-v1", render_mode="rgb_array"), np, xp)
    env.reset(seed=0)
    assert isinstance(env.render(), np.ndarray)


def test_named_libraries_can_be_written_down_and_restored():
    env = ArrayConversion(ludus.make("CartPole-v1"), "numpy", "array_api_strict")
    again = EnvSpec.from_json(env.spec.to_json()).make()
    assert repr(again) == repr(env)
    again.reset(seed=0)
    before = again.snapshot()
    first = again.step(xp.asarray(1)).observation
    again.restore(before)
    assert data_equal(numpy_of(again.step(xp.asarray(1)).observation), numpy_of(first))


def test_gymnasiums_names_and_arguments():
    assert NumpyToTorch.using("cpu").kwargs == {"device": "cpu"}
    assert JaxToTorch.using(device="cpu").kwargs == {"device": "cpu"}
    assert JaxToNumpy.using().kwargs == {}
    given = ArrayConversion.using("numpy", "torch", env_device=None, target_device="cpu").kwargs
    assert given == {"env_xp": "numpy", "target_xp": "torch", "env_device": None, "target_device": "cpu"}


@needs_torch
def test_torch_shares_memory_with_numpy():
    import torch

    env = NumpyToTorch(ludus.make("CartPole-v1"), device="cpu")
    observation, _ = env.reset(seed=1)
    assert isinstance(observation, torch.Tensor)
    step = env.step(torch.tensor(1))
    assert isinstance(step.observation, torch.Tensor)
    array = np.zeros(2)
    array_conversion(array, torch)[0] = 5
    assert array[0] == 5
    assert array_conversion(np.arange(3.0)[::-1], torch).tolist() == [2.0, 1.0, 0.0]
    assert numpy_of(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]
