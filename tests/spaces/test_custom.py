"""A custom space is one class: batches, flat forms, buffers, shared memory and the wire then work for it."""

from copy import deepcopy

import numpy as np
import pytest

from ludus.core import Env, Step
from ludus.errors import InvalidSpace, InvalidType, InvalidValue
from ludus.spaces import (
    ArraySpace,
    Box,
    Dict,
    Sequence,
    Space,
    Tuple,
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    dumps,
    flatten,
    flatten_space,
    is_space_dtype_shape_equiv,
    iterate,
    loads,
    unflatten,
)
from ludus.vector import SerialVectorEnv
from tests.core.wording import says
from tests.spaces.models import Even, Simplex


def test_a_batch_of_objects_is_a_tuple_of_independent_spaces():
    space = Even(20, seed=1)
    batch = batch_space(space, 3)
    assert batch == Tuple((Even(20), Even(20), Even(20)))
    value = batch.sample()
    assert value in batch
    assert list(iterate(batch, value)) == list(value)
    assert concatenate(space, value, create_empty_array(space, 3)) == value
    assert len({batch_space(Even(10**6, seed=1), 5).sample() for _ in range(3)}) == 1
    assert len(set(batch_space(Even(10**6, seed=1), 5).sample())) == 5


def test_a_batch_of_arrays_joins_and_splits():
    space = Simplex(3, seed=1)
    values = [space.sample() for _ in range(4)]
    joined = concatenate(space, values, create_empty_array(space, 4))
    assert joined.shape == (4, 3)
    assert joined.dtype == np.float32
    batch = batch_space(space, 4)
    assert tuple(values) in batch
    assert [np.array_equal(a, b) for a, b in zip(iterate(batch, joined), values, strict=True)] == [True] * 4


def test_objects_are_flat_as_they_are():
    space = Even(20)
    assert flatten(space, 4) == unflatten(space, 4) == 4
    assert flatten_space(space) is space
    assert not space.is_np_flattenable
    message = "flatdim: expected a space that flattens to an array, got Even(top=20), whose values vary in size"
    with says(InvalidSpace, message):
        space.flatdim  # noqa: B018
    with says(InvalidSpace, "flat_dtype: expected a space that flattens to an array, got Even(top=20)"):
        space.flat_dtype  # noqa: B018


def test_arrays_flatten_into_a_box():
    space = Simplex(3, seed=0)
    value = space.sample()
    assert flatten_space(space) == Box(-np.inf, np.inf, (3,), np.float32)
    assert flatten(space, value) in flatten_space(space)
    assert np.array_equal(unflatten(space, flatten(space, value)), value)
    assert Dict(a=space, b=Box(0, 1)).flatdim == 4


def test_arrays_of_integers_flatten_into_a_box_of_their_dtype():
    class Small(ArraySpace):
        def __init__(self, seed=None):
            super().__init__((2, 2), np.int8, seed)

        def sample(self, mask=None, probability=None):
            return self.np_random.integers(0, 3, (2, 2), np.int8)

        def contains(self, x):
            return True

    space = Small(seed=0)
    assert flatten_space(space) == Box(-128, 127, (4,), np.int8)
    assert flatten(space, space.sample()) in flatten_space(space)
    assert space.json_schema()["items"]["items"] == {"type": "integer"}
    assert (space.shape, space.flat_dtype) == ((2, 2), np.int8)


@pytest.mark.parametrize("space", [Even(20), Simplex(3)], ids=["objects", "arrays"])
def test_inside_other_spaces_it_is_like_any_other(space):
    outer = Dict(pair=Tuple((space, Box(0, 1))), many=Sequence(space))
    outer.seed(0)
    value = outer.sample()
    assert value in outer
    again = loads(outer, dumps(outer, value))
    assert outer.encode(again) == outer.encode(value)
    assert outer == deepcopy(outer)


def test_layouts_are_compared_by_class_shape_and_dtype():
    assert is_space_dtype_shape_equiv(Even(2), Even(4))
    assert is_space_dtype_shape_equiv(Simplex(2), Simplex(2))
    assert not is_space_dtype_shape_equiv(Simplex(2), Simplex(3))
    assert not is_space_dtype_shape_equiv(Even(2), Simplex(3))


def test_differing_spaces_of_one_class_make_a_tuple():
    assert batch_differing_spaces([Even(4), Even(8)]) == Tuple((Even(4), Even(8)))


def test_equality_repr_and_violations_come_from_the_arguments():
    assert Even(4) == Even(4) != Even(6)
    assert repr(Even(4)) == "Even(top=4)"
    assert [str(one) for one in Even(4).validate(3, "x")] == ["x: expected Even(top=4), got 3"]
    with says(InvalidValue, "x: expected Even(top=4), got 3"):
        Even(4).check(3, "x")


def test_arguments_may_hold_arrays():
    class Table(Even):
        def __init__(self, rows, seed=None):
            self.rows = rows
            super().__init__(seed=seed)

    assert Table(np.arange(3)) == Table(np.arange(3))
    assert Table([np.arange(3)]) != Table([np.arange(2)])
    assert Table({"a": np.arange(3)}) == Table({"a": np.arange(3)})
    assert Table({"a": 1}) != Table({"b": 1})


def test_a_space_may_say_validate_instead_of_contains():
    class Positive(Space):
        def validate(self, x, path="value"):
            return [] if x > 0 else [self._violation(x, path, "more than 0")]

    assert 3 in Positive()
    assert -3 not in Positive()
    with says(InvalidValue, "value: expected more than 0, got -3"):
        Positive().check(-3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda space: space.sample(), "Nothing defines no sample(mask=None, probability=None)"),
        (lambda space: space.contains(3), "Nothing defines neither contains(x) nor validate(x, path)"),
        (lambda space: space.default(), "Nothing defines no default()"),
    ],
)
def test_what_a_custom_space_leaves_out_is_named(call, text):
    class Nothing(Space):
        pass

    with says(NotImplementedError, text):
        call(Nothing())


def test_a_single_value_is_no_batch():
    message = "iterate: expected a batched space (Box, MultiDiscrete, MultiBinary, Tuple, Dict), got Even(top=4)"
    with says(InvalidType, message):
        iterate(Even(4), 2)


def test_an_environment_of_custom_spaces_runs_in_a_batch():
    class Evens(Env):
        def __init__(self):
            self.observation_space, self.action_space = Even(100), Simplex(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return 0, {}

        def step(self, action):
            return Step.transition(2 * int(self.np_random.integers(50)), float(action[0]))

    envs = SerialVectorEnv([Evens, Evens])
    assert envs.reset(seed=0)[0] == (0, 0)
    step = envs.step(envs.action_space.sample())
    assert step.observation in envs.observation_space
