"""Spaces pass to Gymnasium and back: equal, of its own classes, and sampling on where they were."""

from dataclasses import dataclass
from typing import Annotated, Literal

import gymnasium
import numpy as np
import pytest

from ludus import spaces
from ludus.errors import InvalidSpace
from ludus.interop.gymnasium_spaces import AnyText, ForeignSpace, space_from_gymnasium, space_to_gymnasium
from ludus.interop.gymnasium_values import passage
from ludus.spaces import Box, Dict, Discrete, Graph, GraphInstance, OneOf, Record, Sequence, Space, Text, Tuple
from ludus.testing import data_equal
from tests.spaces.cases import CASES

theirs = gymnasium.spaces
cases = pytest.mark.parametrize("name", CASES)


def same(ours, other):
    """Equal to the last bit; only the class of a graph may differ."""
    if isinstance(other, theirs.GraphInstance):
        return all(same(a, b) for a, b in zip(ours, other, strict=True))
    if isinstance(other, dict):
        return list(ours) == list(other) and all(same(ours[key], other[key]) for key in other)
    if isinstance(other, tuple):
        return len(ours) == len(other) and all(same(a, b) for a, b in zip(ours, other, strict=True))
    return data_equal(ours, other)


@cases
def test_a_space_becomes_the_equal_one_of_gymnasium_and_back(name):
    ours = CASES[name](spaces)
    there = space_to_gymnasium(ours)
    back = space_from_gymnasium(there)
    assert type(there).__module__.startswith("gymnasium.")
    assert there == CASES[name](theirs)
    assert repr(there) == repr(ours) == repr(back)
    assert back == ours
    assert type(back) is type(ours)


@cases
def test_sampling_goes_on_where_it_was_on_either_side(name):
    ours = CASES[name](spaces)
    ours.seed(3)
    ours.sample()
    there = space_to_gymnasium(ours)
    back = space_from_gymnasium(there)
    for _ in range(5):
        expected = ours.sample()
        assert same(expected, there.sample())
        assert data_equal(expected, back.sample())


@cases
def test_the_copies_share_no_generator(name):
    ours = CASES[name](spaces)
    ours.seed(3)
    there = space_to_gymnasium(ours)
    first = there.sample()
    there.seed(100)
    ours.seed(3)
    assert same(ours.sample(), first)


@cases
def test_values_pass_both_ways_unchanged(name):
    ours = CASES[name](spaces)
    ours.seed(1)
    there = space_to_gymnasium(ours)
    way = passage(ours, there)
    value = ours.sample()
    left = way.leave(value)
    assert left in there
    assert data_equal(way.enter(left), value)


def test_one_box_in_two_places_stays_one():
    box = Box(0, 1)
    there = space_to_gymnasium(Tuple((box, box)))
    assert there.spaces[0] is there.spaces[1]


def test_int64_bounds_are_not_rounded():
    ours = Box(np.array([-np.inf, 0]), np.array([2.0**60, np.inf]), dtype=np.int64)
    ours.low[1] = 2**53 + 1
    there = space_to_gymnasium(ours)
    assert int(there.low[1]) == 2**53 + 1
    assert there.bounded_below.tolist() == [False, True]
    assert there.bounded_above.tolist() == [True, False]


@dataclass
class Move:
    direction: Literal["left", "right"]
    steps: Annotated[int, Discrete(4, start=1)]


def test_a_record_is_the_dict_of_its_fields():
    ours = Record(Move, seed=1)
    there = space_to_gymnasium(ours)
    assert there == theirs.Dict([("direction", theirs.Discrete(2)), ("steps", theirs.Discrete(4, start=1))])
    way = passage(ours, there)
    assert way.leave(Move("right", 3)) == {"direction": 1, "steps": 3}
    assert way.enter({"direction": np.int64(0), "steps": np.int64(2)}) == Move("left", 2)


DEEP = {
    "tuple": Tuple((Record(Move), Discrete(2))),
    "dict": Dict(a=Record(Move)),
    "sequence": Sequence(Record(Move)),
    "sequence-stack": Sequence(Dict(a=Graph(Discrete(2), None)), stack=True),
    "one-of": OneOf((Discrete(2), Record(Move))),
    "graph": Graph(Dict(a=Discrete(3)), Tuple((Record(Move),))),
    "batch": Tuple((Graph(Discrete(3), None),)).batch(3),
}


@pytest.mark.parametrize("name", DEEP)
def test_records_and_graphs_pass_however_deep_they_are(name):
    ours = DEEP[name]
    ours.seed(5)
    there = space_to_gymnasium(ours)
    way = passage(ours, there)
    for _ in range(5):
        value = ours.sample()
        left = way.leave(value)
        assert left in there
        assert data_equal(way.enter(left), value)


def test_a_graph_has_gymnasiums_class_there_and_ours_here():
    ours = Graph(Discrete(2), Discrete(3), seed=0)
    there = space_to_gymnasium(ours)
    way = passage(ours, there)
    left = way.leave(ours.sample())
    assert type(left) is theirs.GraphInstance
    assert type(way.enter(left)) is GraphInstance


def test_text_over_all_characters_stays_so():
    ours = Text(8, min_length=0, charset=None)
    there = space_to_gymnasium(ours)
    assert isinstance(there, theirs.Text)
    assert "☃ é" in there
    assert "123456789" not in there
    assert there == AnyText(8, min_length=0)
    assert space_from_gymnasium(there) == ours


class Even(Space[int]):
    def sample(self, mask=None, probability=None):
        return 2

    def contains(self, x):
        return x == 2


def test_a_space_that_only_ludus_knows_is_refused_wherever_it_is():
    with pytest.raises(InvalidSpace) as error:
        space_to_gymnasium(Dict(a=Even()))
    assert str(error.value) == (
        "to_gymnasium: expected a Record or one of Box, Discrete, MultiDiscrete, MultiBinary, Text, Tuple, Dict, "
        "Sequence, Graph, OneOf, got Even(shape=None, dtype=None), which only Ludus knows; "
        "show it as one of these first, as with wrappers.TransformObservation"
    )


class Mission(theirs.Space):
    """A space of Gymnasium's that no other library knows, as some packages have them."""

    def __init__(self, words, seed=None):
        self.words = words
        super().__init__((), str, seed)

    def sample(self, mask=None, probability=None):
        return f"go to the {self.words[self.np_random.integers(len(self.words))]}"

    def contains(self, x):
        return isinstance(x, str)

    def __eq__(self, other):
        return isinstance(other, Mission) and self.words == other.words


def test_a_space_that_only_gymnasium_knows_is_asked_itself():
    there = Mission(["ball", "door", "key"], seed=4)
    ours = space_from_gymnasium(theirs.Dict(mission=there))
    inner = ours["mission"]
    assert isinstance(inner, ForeignSpace)
    assert repr(inner) == f"ForeignSpace({there!r})"
    assert "text" in inner
    assert 3 not in inner
    assert inner == space_from_gymnasium(Mission(["ball", "door", "key"]))
    batch = inner.batch(3)
    assert len(batch.sample()) == 3
    ours.seed(1)
    before = ours.sample()
    ours.seed(1)
    assert ours.sample() == before
    assert space_to_gymnasium(ours)["mission"] is there


def test_what_is_no_space_is_refused():
    with pytest.raises(InvalidSpace, match="from_gymnasium: expected a gymnasium Space, got Discrete"):
        space_from_gymnasium(Discrete(2))
