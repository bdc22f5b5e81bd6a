"""Equality of data is exact, looks everywhere, and says where two values part."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ludus.core import Step
from ludus.spaces import Discrete, GraphInstance
from ludus.testing import data_equal
from ludus.testing.equality import arrays, difference


@dataclass
class Point:
    x: Any
    y: int = 0


class Struct(msgspec.Struct):
    x: Any
    y: int = 0


class Model(pydantic.BaseModel):
    x: float
    y: int = 0


class Plain:
    def __init__(self, x):
        self.x = x


NaN = float("nan")
Pair = namedtuple("Pair", "a b")

EQUAL = [
    (None, None),
    (1, 1),
    (NaN, NaN),
    ("text", "text"),
    (b"x", b"x"),
    ({1, 2}, {2, 1}),
    (complex(1, NaN), complex(1, NaN)),
    (np.float32(NaN), np.float32(NaN)),
    (np.float32(1), np.array(1, np.float32)),
    (np.array([1, NaN]), np.array([1, NaN])),
    (np.array(["a", "b"]), np.array(["a", "b"])),
    (np.array([None, {"a": np.zeros(1)}], dtype=object), np.array([None, {"a": np.zeros(1)}], dtype=object)),
    (np.array(["NaT"], "datetime64[s]"), np.array(["NaT"], "datetime64[s]")),
    (np.zeros((0, 3)), np.zeros((0, 3))),
    ({"a": 1, "b": [NaN]}, {"b": [NaN], "a": 1}),
    ((1, (2, [3])), (1, (2, [3]))),
    (Point(np.zeros(2)), Point(np.zeros(2))),
    (Struct(np.zeros(2)), Struct(np.zeros(2))),
    (Model(x=NaN), Model(x=NaN)),
    (Plain(np.zeros(2)), Plain(np.zeros(2))),
    (Point, Point),
    (GraphInstance(np.zeros((2, 1)), None, None), GraphInstance(np.zeros((2, 1)), None, None)),
    (Discrete(3), Discrete(3, seed=4)),
]

DIFFERENT = [
    (1, 1.0, "value: 1 (int) and 1.0 (float)"),
    (1, True, "value: 1 (int) and True (bool)"),
    (1, np.int64(1), "value: 1 (int) and np.int64(1) (int64)"),
    (0.0, NaN, "value: 0.0 and nan"),
    (np.int64(1), np.int64(2), "value: 1 and 2"),
    (np.int64(1), np.float64(1), "value: dtype int64 and dtype float64"),
    (np.zeros(2), np.zeros(3), "value: shape (2,) and shape (3,)"),
    (np.zeros(2), np.zeros(2, np.float32), "value: dtype float64 and dtype float32"),
    (np.zeros((2, 2)), np.eye(2), "value[0][0]: 0.0 and 1.0"),
    (np.zeros(2), [0.0, 0.0], "value: an array of shape (2,), dtype float64 and [0.0, 0.0] (list)"),
    ("a", "b", "value: 'a' and 'b'"),
    ((1, 2), [1, 2], "value: (1, 2) (tuple) and [1, 2] (list)"),
    ((1, 2), (1,), "value: parts ['[0]', '[1]'] and parts ['[0]']"),
    ({"a": 1}, {"b": 1}, """value: parts ['["a"]'] and parts ['["b"]']"""),
    ({"a": {1: [5]}}, {"a": {1: [6]}}, 'value["a"][1][0]: 5 and 6'),
    ({}, OrderedDict(), "value: {} (dict) and OrderedDict() (OrderedDict)"),
    (Pair(1, 2), Pair(1, 3), "value.b: 2 and 3"),
    (Pair(1, 2), (1, 2), "value: Pair(a=1, b=2) (Pair) and (1, 2) (tuple)"),
    (Point(1), Point(2), "value.x: 1 and 2"),
    (Struct(1), Struct(1, 1), "value.y: 0 and 1"),
    (Model(x=1), Model(x=2), "value.x: 1.0 and 2.0"),
    (Plain(1), Plain(2), "value.x: 1 and 2"),
    (np.array([None, 1], dtype=object), np.array([None, 2], dtype=object), "value[1]: 1 and 2"),
    (Step.transition(np.zeros(1)), Step.termination(np.zeros(1)), "value.terminated: False and True"),
    (Discrete(3), Discrete(4), "value: Discrete(3) and Discrete(4)"),
]


@pytest.mark.parametrize(("a", "b"), EQUAL, ids=[str(type(a).__name__) for a, _ in EQUAL])
def test_the_same_data_is_equal(a, b):
    assert data_equal(a, b)


@pytest.mark.parametrize(("a", "b", "where"), DIFFERENT, ids=[where for _, _, where in DIFFERENT])
def test_a_difference_says_where_it_is_and_what_is_there(a, b, where):
    assert str(difference(a, b)) == where
    assert not data_equal(a, b)


LOOSE = [
    (1, np.int64(1)),
    (np.float32(0.5), 0.5),
    ([1, 2], np.array([1, 2])),
    ((1, [2]), [1, (2,)]),
    (True, np.bool_(True)),
]


@pytest.mark.parametrize(("a", "b"), LOOSE)
def test_without_exactness_numbers_compare_by_value_and_sequences_by_elements(a, b):
    assert difference(a, b, exact=False) is None
    assert not data_equal(a, b)


def test_without_exactness_other_values_still_differ():
    assert str(difference((1, 2), np.array([1, 3]), exact=False)) == "value[1]: 2 and 3"
    assert difference("1", 1, exact=False) is not None


@given(hnp.arrays(st.sampled_from([np.float32, np.int8, np.bool_]), hnp.array_shapes(max_dims=3)))
def test_a_copy_is_equal_and_a_changed_copy_is_not(array):
    assert data_equal({"x": (array,)}, {"x": (array.copy(),)})
    changed = array.copy()
    changed.flat[0] = 0 if changed.flat[0] == 1 else 1
    assert not data_equal({"x": (array,)}, {"x": (changed,)})


def test_arrays_are_found_wherever_they_are():
    value = {"a": np.zeros(1), "b": [Point(np.ones(2)), Struct((np.zeros(3),))], "c": "no"}
    assert [path for path, _ in arrays(value, "info")] == ['info["a"]', 'info["b"][0].x', 'info["b"][1].x[0]']


def test_objects_that_look_alike_are_told_apart_in_the_message():
    class Odd:
        def __eq__(self, other):
            return False

        def __hash__(self):
            return 0

        def __repr__(self):
            return "Odd()"

    assert " at 0x" in str(difference(Odd(), Odd()))
