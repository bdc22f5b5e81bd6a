"""Validation: every violation with its path, and `contains` as its fast form, whatever it is given."""

import numpy as np
import pytest
from hypothesis import given, settings

from ludus.errors import InvalidAction, InvalidValue
from ludus.spaces import (
    Box,
    Dict,
    Discrete,
    Graph,
    GraphInstance,
    MultiBinary,
    MultiDiscrete,
    OneOf,
    Sequence,
    Text,
    Tuple,
    Violation,
)
from tests.core.wording import says
from tests.sampling import examples
from tests.spaces.cases import CASES
from tests.spaces.values import garbage, samples, space_of

GRAPH = Graph(Box(0, 1, (2,)), Discrete(3))
NODES, LINKS = np.zeros((2, 2), np.float32), np.array([[0, 1]])
TEXTS = {
    "box: not an array": (Box(0, 1, (2,)), "ab", ["x: expected Box(0.0, 1.0, (2,), float32), got 'ab'"]),
    "box: None": (Box(0, 1, (2,), np.int8), None, ["x: expected Box(0, 1, (2,), int8), got None"]),
    "box: ragged": (Box(0, 1, (2,)), [[1], [1, 2]], ["x: expected Box(0.0, 1.0, (2,), float32), got [[1], [1, 2]]"]),
    "box: shape": (Box(0, 1, (2,)), np.zeros(3, np.float32), ["x: expected shape (2,), got shape (3,)"]),
    "box: list of another shape": (Box(0, 1, (2,)), [0.5], ["x: expected shape (2,), got shape (1,)"]),
    "box: dtype": (
        Box(0, 1, (2,)),
        np.zeros(2),
        ["x: expected dtype float32 or one that casts to it safely, got dtype float64"],
    ),
    "box: elements": (
        Box(np.array([0.0, -1.0]), np.array([1.0, 2.5]), dtype=np.float64),
        np.array([1.5, -2.0]),
        ["x[0]: expected 0.0 to 1.0, got 1.5", "x[1]: expected -1.0 to 2.5, got -2.0"],
    ),
    "box: NaN": (Box(-np.inf, np.inf, (1,)), np.array([np.nan], np.float32), ["x[0]: expected -inf to inf, got nan"]),
    "box: two axes": (
        Box(0, 9, (2, 2), np.int8),
        np.array([[0, 1], [2, 10]], np.int8),
        ["x[1][1]: expected 0 to 9, got 10"],
    ),
    "box: no axis": (Box(0, 1, ()), np.float32(2), ["x: expected 0.0 to 1.0, got 2.0"]),
    "discrete": (Discrete(4), 7, ["x: expected Discrete(4), got 7"]),
    "discrete: NumPy's": (Discrete(4, start=2), np.int64(1), ["x: expected Discrete(4, start=2), got 1 (int64)"]),
    "discrete: a float": (Discrete(4), 1.0, ["x: expected Discrete(4), got 1.0"]),
    "discrete: too wide": (
        Discrete(4, dtype=np.int8),
        np.int64(1),
        ["x: expected Discrete(4, dtype=int8), got 1 (int64)"],
    ),
    "discrete: an array": (
        Discrete(4),
        np.array([1]),
        ["x: expected Discrete(4), got array of shape (1,), dtype int64"],
    ),
    "multi-discrete": (MultiDiscrete([4, 2]), np.array([3, 2]), ["x[1]: expected Discrete(2), got 2"]),
    "multi-discrete: two axes": (
        MultiDiscrete([[4, 2], [3, 3]], start=[[0, 0], [5, 0]]),
        [[-1, 0], [4, 2]],
        ["x[0][0]: expected Discrete(4), got -1", "x[1][0]: expected Discrete(3, start=5), got 4"],
    ),
    "multi-discrete: shape": (MultiDiscrete([4, 2]), [1], ["x: expected shape (2,), got shape (1,)"]),
    "multi-discrete: dtype": (
        MultiDiscrete([4, 2]),
        [1.0, 1.0],
        ["x: expected dtype int64 or one that casts to it safely, got dtype float64"],
    ),
    "multi-discrete: not an array": (MultiDiscrete([4, 2]), 3, ["x: expected MultiDiscrete([4 2]), got 3"]),
    "multi-binary": (MultiBinary(3), [0, 2, -1], ["x[1]: expected 0 or 1, got 2", "x[2]: expected 0 or 1, got -1"]),
    "multi-binary: shape": (MultiBinary([2, 2]), [0, 1], ["x: expected shape (2, 2), got shape (2,)"]),
    "multi-binary: no numbers": (MultiBinary(1), np.array(["a"]), ["x: expected numbers, got dtype <U1"]),
    "multi-binary: not an array": (MultiBinary(3), 3, ["x: expected MultiBinary(3), got 3"]),
    "text: not text": (Text(3, charset="ab"), 3, ["x: expected a string, Text(1, 3, charset=ab), got 3"]),
    "text: length": (Text(3, charset="ab"), "abab", ["x: expected 1 to 3 characters, got 4"]),
    "text: characters": (
        Text(3, charset="ba"),
        "acé",
        ["x[1]: expected one of 'ab', got 'c'", "x[2]: expected one of 'ab', got 'é'"],
    ),
    "text: both": (
        Text(2, charset="ab"),
        "abc",
        ["x: expected 1 to 2 characters, got 3", "x[2]: expected one of 'ab', got 'c'"],
    ),
    "text: half a surrogate pair": (
        Text(3, charset=None),
        "a\udc00é",
        ["x[1]: expected a Unicode character, got '\\udc00'"],
    ),
    "text: any character, length": (Text(3, charset=None), "é" * 4, ["x: expected 1 to 3 characters, got 4"]),
    "tuple: not a tuple": (Tuple((Discrete(2),)), 3, ["x: expected a tuple of 1, Tuple(Discrete(2)), got 3"]),
    "tuple: array of no axis": (
        Tuple((Discrete(2),)),
        np.array(3),
        ["x: expected Tuple(Discrete(2)), got array of shape (), dtype int64"],
    ),
    "tuple: length": (Tuple((Discrete(2),)), (1, 1), ["x: expected 1 elements, got 2"]),
    "tuple: elements": (
        Tuple((Discrete(2), Tuple((Discrete(3), Text(2, charset="ab"))))),
        (5, [1, "a!"]),
        [
            "x[0]: expected Discrete(2), got 5",
            "x[1][1][1]: expected one of 'ab', got '!'",
        ],
    ),
    "dict: not a dictionary": (Dict(a=Discrete(2)), [1], ["x: expected a dictionary with the keys ['a'], got [1]"]),
    "dict: keys": (
        Dict({"a": Discrete(2), "b": Dict(c=Discrete(3)), 1: Discrete(4)}),
        {"b": {"c": 3, "d": 1}, 1: 4, 2: 0},
        [
            'x["a"]: expected Discrete(2), got no such key',
            'x["b"]["c"]: expected Discrete(3), got 3',
            'x["b"]["d"]: expected only the keys [\'c\'], got this one',
            "x[1]: expected Discrete(4), got 4",
            "x[2]: expected only the keys ['a', 'b', 1], got this one",
        ],
    ),
    "sequence: not a tuple": (Sequence(Discrete(2)), [1], ["x: expected a tuple of Discrete(2), got [1]"]),
    "sequence: elements": (
        Sequence(Discrete(2)),
        (0, 2, 1, -1),
        ["x[1]: expected Discrete(2), got 2", "x[3]: expected Discrete(2), got -1"],
    ),
    "sequence: stacked": (
        Sequence(Box(0, 1, (1,)), stack=True),
        np.array([[0.5], [2.0]], np.float32),
        ["x[1][0]: expected 0.0 to 1.0, got 2.0"],
    ),
    "sequence: no stack": (
        Sequence(Box(0, 1, (1,)), stack=True),
        3,
        ["x: expected a stacked value of Box(0.0, 1.0, (1,), float32), got 3"],
    ),
    "graph: not one": (
        GRAPH,
        (NODES, None, None),
        [
            "x: expected a GraphInstance, Graph(Box(0.0, 1.0, (2,), float32), Discrete(3)), "
            "got (array([[0., 0.], [0., 0.]], dtype=float32), None, None)",
        ],
    ),
    "graph: nodes": (
        GRAPH,
        GraphInstance(3, None, None),
        ["x.nodes: expected a batch of Box(0.0, 1.0, (2,), float32), got 3"],
    ),
    "graph: a node": (
        GRAPH,
        GraphInstance(NODES + 2, None, None),
        [
            "x.nodes[0][0]: expected 0.0 to 1.0, got 2.0",
            "x.nodes[0][1]: expected 0.0 to 1.0, got 2.0",
            "x.nodes[1][0]: expected 0.0 to 1.0, got 2.0",
            "x.nodes[1][1]: expected 0.0 to 1.0, got 2.0",
        ],
    ),
    "graph: an edge": (
        GRAPH,
        GraphInstance(NODES, np.array([3]), LINKS),
        ["x.edges[0]: expected Discrete(3), got 3 (int64)"],
    ),
    "graph: edges": (GRAPH, GraphInstance(NODES, None, LINKS), ["x.edges: expected a batch of Discrete(3), got None"]),
    "graph: edges that are no batch": (
        GRAPH,
        GraphInstance(NODES, 4, LINKS),
        ["x.edges: expected a batch of Discrete(3), got 4"],
    ),
    "graph: no links": (
        GRAPH,
        GraphInstance(NODES, np.array([1]), None),
        ["x.edge_links: expected an integer array of shape (1, 2), got None"],
    ),
    "graph: links": (
        GRAPH,
        GraphInstance(NODES, np.array([1]), np.array([[2, -1]])),
        [
            "x.edge_links[0][0]: expected 0 to 1, got 2",
            "x.edge_links[0][1]: expected 0 to 1, got -1",
        ],
    ),
    "graph: nodes only": (
        Graph(Discrete(3), None),
        GraphInstance(np.array([1]), np.array([1]), LINKS),
        [
            "x.edges: expected None, since the space has no edges, got array([1])",
        ],
    ),
    "one-of: not a pair": (
        OneOf((Discrete(2), Discrete(3))),
        3,
        ["x: expected a pair (number, value), OneOf(Discrete(2), Discrete(3)), got 3"],
    ),
    "one-of: number": (OneOf((Discrete(2), Discrete(3))), (2, 0), ["x[0]: expected 0 to 1, got 2"]),
    "one-of: number of a wrong type": (OneOf((Discrete(2), Discrete(3))), ("0", 0), ["x[0]: expected 0 to 1, got '0'"]),
    "one-of: value": (
        OneOf((Discrete(2), Dict(a=Discrete(3)))),
        (1, {"a": 9}),
        ['x[1]["a"]: expected Discrete(3), got 9'],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_violation_is_told_with_its_path(name):
    space, value, texts = TEXTS[name]
    assert [str(one) for one in space.validate(value, "x")] == texts
    assert not space.contains(value)
    assert value not in space
    with says(InvalidValue, "; ".join(texts)):
        space.check(value, "x")


@pytest.mark.parametrize("name", CASES)
def test_samples_have_no_violations(name):
    space, values = samples(name)
    for value in values:
        assert space.validate(value) == []
        assert value in space
        space.check(value)


def test_the_path_starts_with_the_name_given_else_value():
    assert Discrete(2).validate(3) == [Violation("value", "Discrete(2)", "3")]
    with says(InvalidAction, 'action["move"]: expected Discrete(2), got 3'):
        Dict(move=Discrete(2)).check({"move": 3}, "action", InvalidAction)


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (Box(0, 1, (150,)), np.full(150, 2.0, np.float32)),
        (MultiDiscrete([2] * 150), np.full(150, 3)),
        (MultiBinary(150), np.full(150, 2)),
    ],
    ids=["box", "multi-discrete", "multi-binary"],
)
def test_a_hundred_wrong_elements_are_named_and_the_rest_counted(space, value):
    found = space.validate(value, "x")
    assert len(found) == 101
    assert found[99].path == "x[99]"
    assert str(found[100]) == f"x: expected {space!r}, got 50 more elements out of range"


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=examples(20))
@given(value=garbage)
def test_contains_is_no_violations_and_never_crashes_on_garbage(name, value):
    space = space_of(name)
    assert space.contains(value) == (not space.validate(value))


def test_check_has_words_even_for_a_space_that_contradicts_itself():
    class Fickle(Discrete):
        def contains(self, x):
            return False

        def validate(self, x, path="value"):
            return []

    with says(InvalidValue, "x: expected Discrete(2), got 1"):
        Fickle(2).check(1, "x")
