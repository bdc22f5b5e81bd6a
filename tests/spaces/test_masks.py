"""Masks and probabilities: what restricts a sample, and what is refused in words."""

import numpy as np
import pytest

from ludus.errors import InvalidArgument, InvalidMask
from ludus.spaces import Box, Dict, Discrete, Graph, MultiBinary, MultiDiscrete, OneOf, Sequence, Text, Tuple
from tests.core.wording import says

ONES, HALVES = np.ones(3, np.int8), np.array([0.5, 0.5, 0.0])
WRONG_CHOICE = [
    ("mask", [1, 0, 1], "mask: expected an array of dtype int8 and shape (3,), got [1, 0, 1]"),
    ("mask", np.ones(3), "mask: expected dtype int8, got float64"),
    ("mask", np.ones(2, np.int8), "mask: expected shape (3,), got (2,)"),
    ("mask", np.array([0, 1, 2], np.int8), "mask: expected values from 0 to 1, got array([0, 1, 2], dtype=int8)"),
    ("probability", [0.5, 0.5, 0], "probability: expected an array of dtype float64 and shape (3,), got [0.5, 0.5, 0]"),
    ("probability", ONES, "probability: expected dtype float64, got int8"),
    ("probability", np.ones(2) / 2, "probability: expected shape (3,), got (2,)"),
    ("probability", np.array([0.5, 1.5, -1]), "probability: expected values from 0 to 1, got array([ 0.5, 1.5, -1. ])"),
    ("probability", np.array([0.5, 0.5, 0.5]), "probability: expected a sum of 1, got 1.5"),
    (
        "probability",
        np.array([np.nan, 0.5, 0.5]),
        "probability: expected values from 0 to 1, got array([nan, 0.5, 0.5])",
    ),
]


@pytest.mark.parametrize(("kind", "given", "text"), WRONG_CHOICE, ids=[text for _, _, text in WRONG_CHOICE])
def test_a_wrong_mask_over_choices_is_refused_in_words(kind, given, text):
    with says(InvalidMask, text):
        Discrete(3).sample(**{kind: given})
    with says(InvalidMask, text):
        MultiDiscrete([3]).sample(**{kind: (given,)})
    with says(InvalidMask, text):
        Text(4, charset="abc").sample(**{kind: (None, given)})


BOTH = (
    "sample: expected at most one of mask and probability, "
    "got mask=array([1, 1, 1], dtype=int8) and probability=array([0.5, 0.5, 0. ])"
)


@pytest.mark.parametrize(
    "space",
    [
        Box(0, 1, (3,)),
        Discrete(3),
        MultiDiscrete([3]),
        MultiBinary(3),
        Text(3),
        Tuple((Discrete(3),)),
        Dict(a=Discrete(3)),
        Sequence(Discrete(3)),
        Graph(Discrete(3), None),
        OneOf((Discrete(3),)),
    ],
    ids=lambda space: type(space).__name__,
)
def test_mask_and_probability_exclude_each_other(space):
    with says(InvalidMask, BOTH):
        space.sample(ONES, HALVES)


REFUSED = [
    (Box(0, 1, (3,)), "mask", ONES, "sample: Box(0.0, 1.0, (3,), float32) takes no mask; pass None for it"),
    (
        Box(0, 1, (3,)),
        "probability",
        ONES,
        "sample: Box(0.0, 1.0, (3,), float32) takes no probability; pass None for it",
    ),
    (
        MultiDiscrete([3, 2]),
        "mask",
        [ONES, ONES],
        "mask: expected a tuple of 2 masks, one for each part (None for no mask), "
        "got [array([1, 1, 1], dtype=int8), array([1, 1, 1], dtype=int8)]",
    ),
    (
        MultiDiscrete([3, 2]),
        "probability",
        (HALVES,),
        "probability: expected a tuple of 2 masks, one for each part (None for no mask), got (array([0.5, 0.5, 0. ]),)",
    ),
    (
        MultiBinary(3),
        "mask",
        np.full(3, 3, np.int8),
        "mask: expected values from 0 to 2, got array([3, 3, 3], dtype=int8)",
    ),
    (MultiBinary(3), "probability", ONES, "probability: expected dtype float64, got int8"),
    (MultiBinary([2, 2]), "mask", ONES, "mask: expected shape (2, 2), got (3,)"),
    (
        Text(3),
        "mask",
        ONES,
        "mask: expected a pair (length or None, array over the characters or None), got array([1, 1, 1], dtype=int8)",
    ),
    (Text(3), "mask", (4, None), "mask length: expected 1 to 3, got 4"),
    (Text(3), "probability", ("2", None), "probability length: expected 1 to 3, got '2'"),
    (
        Text(3, charset="abc"),
        "mask",
        (None, np.zeros(3, np.int8)),
        "mask: expected at least one character, since Text(1, 3, charset=abc) has no empty string, got all zero",
    ),
    (
        Tuple((Discrete(3),)),
        "mask",
        ONES,
        "mask: expected a tuple of 1 masks, one for each part (None for no mask), got array([1, 1, 1], dtype=int8)",
    ),
    (
        Dict(a=Discrete(3)),
        "mask",
        (ONES,),
        "mask: expected a dictionary with the keys ['a'], got (array([1, 1, 1], dtype=int8),)",
    ),
    (
        Dict(a=Discrete(3)),
        "probability",
        {"b": HALVES},
        "probability: expected a dictionary with the keys ['a'], got {'b': array([0.5, 0.5, 0. ])}",
    ),
    (Dict(a=Discrete(3)), "mask", {"a": 3}, "mask: expected an array of dtype int8 and shape (3,), got 3"),
    (
        Sequence(Discrete(3)),
        "mask",
        ONES,
        "mask: expected a pair (length or None, element mask or None), got array([1, 1, 1], dtype=int8)",
    ),
    (
        Sequence(Discrete(3)),
        "mask",
        (-1, None),
        "mask length: expected None, an integer of at least 0 or a row of them, got -1",
    ),
    (
        Sequence(Discrete(3)),
        "probability",
        (np.array([0.5]), None),
        "probability length: expected None, an integer of at least 0 or a row of them, got array([0.5])",
    ),
    (Sequence(Discrete(3)), "mask", (2, 3), "mask: expected an array of dtype int8 and shape (3,), got 3"),
    (
        Graph(Discrete(3), None),
        "mask",
        ONES,
        "mask: expected a pair (nodes or None, edges or None), got array([1, 1, 1], dtype=int8)",
    ),
    (
        OneOf((Discrete(3), Discrete(2))),
        "mask",
        (ONES,),
        "mask: expected a tuple of 2 masks, one for each part (None for no mask), got (array([1, 1, 1], dtype=int8),)",
    ),
]


@pytest.mark.parametrize(("space", "kind", "given", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_a_wrong_mask_is_refused_in_words(space, kind, given, text):
    with says(InvalidMask, text):
        space.sample(**{kind: given})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"num_nodes": 0}, "sample: expected num_nodes >= 1 and num_edges >= 0, got 0 and None"),
        ({"num_edges": -1}, "sample: expected num_nodes >= 1 and num_edges >= 0, got 10 and -1"),
        (
            {"num_edges": 2},
            "sample: expected num_edges=None for Graph(Discrete(3), None), which has no edges, got 2",
        ),
    ],
)
def test_a_graph_of_impossible_size_is_refused(arguments, text):
    with says(InvalidArgument, text):
        Graph(Discrete(3), None).sample(**arguments)


def test_a_refused_mask_is_a_value_error_to_those_who_know_no_better():
    with pytest.raises(ValueError, match="mask: expected"):
        Discrete(3).sample(mask=3)


def test_masks_hold_for_every_sample():
    assert {int(Discrete(5).sample(mask=np.array([0, 1, 0, 1, 0], np.int8))) for _ in range(50)} == {1, 3}
    assert {int(Discrete(3, start=5).sample(probability=np.array([0, 1.0, 0]))) for _ in range(20)} == {6}
    assert int(Discrete(3, start=5).sample(mask=np.zeros(3, np.int8))) == 5
    fixed = MultiBinary(3).sample(mask=np.array([0, 1, 1], np.int8))
    assert fixed.tolist() == [0, 1, 1]
    assert Text(3, min_length=0, charset="ab").sample(mask=(None, np.zeros(2, np.int8))) == ""
    assert Text(5, charset="ab").sample(mask=(4, np.array([0, 1], np.int8))) == "bbbb"
    assert Sequence(Discrete(3)).sample(mask=(0, None)) == ()
    assert len(Sequence(Discrete(3)).sample(mask=(np.array([4, 4]), None))) == 4
    assert Sequence(Box(0, 1, (2,)), stack=True).sample(mask=(0, None)).shape == (0, 2)
    assert {
        Tuple((Discrete(3), Discrete(3))).sample(mask=(np.array([0, 0, 1], np.int8), None))[0].item() for _ in range(9)
    } == {2}


def test_a_graph_takes_masks_for_nodes_and_edges():
    graph = Graph(Discrete(3), Discrete(4), seed=0)
    mask = (
        tuple(np.array([0, 1, 0], np.int8) for _ in range(2)),
        tuple(np.array([0, 0, 0, 1], np.int8) for _ in range(3)),
    )
    drawn = graph.sample(mask=mask, num_nodes=2, num_edges=3)
    assert drawn.nodes.tolist() == [1, 1]
    assert drawn.edges.tolist() == [3, 3, 3]
    alone = graph.sample(num_nodes=1)
    assert (alone.edges, alone.edge_links) == (None, None)
