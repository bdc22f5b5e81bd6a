"""Seeds of spaces: parts seeded one by one, copies that go on alike, and generators that can be adopted."""

from copy import deepcopy

import numpy as np
import pytest

from ludus.errors import InvalidSeed
from ludus.spaces import Box, Dict, Discrete, Graph, OneOf, Record, Sequence, Text, Tuple
from tests.core.wording import says
from tests.spaces.models import EVERY, Flat, any_space

every_space = pytest.mark.parametrize("name", EVERY)


def drawn(space, n=5):
    return [space.encode(space.sample()) for _ in range(n)]


@every_space
def test_the_same_seed_draws_the_same_samples(name):
    assert drawn(any_space(name, seed=5)) == drawn(any_space(name, seed=np.int64(5)))
    space = any_space(name, seed=5)
    first = drawn(space)
    space.seed(5)
    assert drawn(space) == first


@every_space
def test_a_copy_goes_on_alike_and_on_its_own(name):
    space = any_space(name, seed=5)
    drawn(space)
    other = deepcopy(space)
    assert other == space
    expected = drawn(deepcopy(space))
    assert drawn(other) == expected
    assert drawn(space) == expected


@every_space
def test_adopting_continues_where_the_other_is(name):
    space, other = any_space(name, seed=5), any_space(name, seed=6)
    drawn(space)
    other.copy_rng_from(space)
    expected = drawn(deepcopy(space))
    assert drawn(other) == expected
    assert drawn(space) == expected  # it shares nothing with whom it adopted from


@every_space
def test_a_batch_draws_on_its_own(name):
    space = any_space(name, seed=5)
    before = deepcopy(space)
    space.batch(2).sample()
    assert drawn(space) == drawn(before)


@every_space
def test_an_unseeded_space_seeds_itself(name):
    space = any_space(name)
    space._np_random = None
    assert space.sample() in space
    assert isinstance(space.np_random, np.random.Generator)


def test_an_unseeded_space_can_be_adopted():
    space, other = Tuple((Discrete(9),)), Tuple((Discrete(9),), seed=1)
    other.copy_rng_from(space)
    assert other._np_random is None
    assert other.sample() in other


@pytest.mark.parametrize("make", [Discrete, lambda n, seed: Box(0, 1, (n,), seed=seed), Text])
def test_a_generator_can_be_given_as_the_seed(make):
    rng = np.random.default_rng(3)
    space = make(9, seed=rng)
    assert space.np_random is rng
    assert drawn(space) == drawn(make(9, seed=3))


def test_seeds_can_be_given_part_by_part():
    pair = Tuple((Discrete(99), Discrete(99)))
    assert pair.seed((3, 4)) == (3, 4)
    assert pair.sample() == (Discrete(99, seed=3).sample(), Discrete(99, seed=4).sample())
    named = Dict(a=Discrete(99), b=Discrete(99))
    assert named.seed({"a": 3, "b": 4}) == {"a": 3, "b": 4}
    assert list(named.sample().values()) == [Discrete(99, seed=3).sample(), Discrete(99, seed=4).sample()]
    assert Sequence(Discrete(9)).seed((3, 4)) == (3, 4)
    assert OneOf((Discrete(9),)).seed((3, 4)) == (3, 4)
    assert Graph(Discrete(9), Discrete(9)).seed((3, 4, 5)) == (3, 4, 5)
    assert Graph(Discrete(9), None).seed([3, 4]) == (3, 4)
    record = Record(Flat)
    assert record.seed({"a": 1, "b": 2, "c": 3}) == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    "space",
    [
        Sequence(Discrete(99)),
        OneOf((Discrete(99), Text(3))),
        Graph(Discrete(99), Discrete(9)),
        Graph(Discrete(99), None),
    ],
    ids=["sequence", "one-of", "graph", "graph of nodes"],
)
def test_one_integer_stands_for_the_seeds_it_gives(space):
    other = deepcopy(space)
    other.seed(space.seed(7))
    assert drawn(other) == drawn(space)


@pytest.mark.parametrize(
    ("space", "seed", "text"),
    [
        (Tuple((Discrete(2),)), (1, 2), "seed: expected 1 seeds, one for each space, got 2"),
        (Dict(a=Discrete(2)), {"b": 1}, "seed: expected the keys ['a'], got ['b']"),
        (Sequence(Discrete(2)), (1, 2, 3), "seed: expected a pair (sequence, element), got (1, 2, 3)"),
        (OneOf((Discrete(2),)), (1,), "seed: expected 2 seeds (choice, then spaces), got (1,)"),
        (Graph(Discrete(2), None), (1,), "seed: expected 2 seeds (graph, nodes, edges if any), got (1,)"),
        (Record(Flat), {"a": 1}, "seed: expected the keys ['a', 'b', 'c'], got ['a']"),
        (Discrete(2), -1, "seed: expected an integer of at least 0, got -1; None takes one from the system"),
        (
            Tuple((Discrete(2),)),
            "x",
            "seed: expected an integer of at least 0, got 'x'; None takes one from the system",
        ),
        (Dict(a=Discrete(2)), 1.5, "seed: expected an integer of at least 0, got 1.5; None takes one from the system"),
    ],
)
def test_seeds_that_do_not_fit_are_refused(space, seed, text):
    with says(InvalidSeed, text):
        space.seed(seed)


def test_the_seed_given_to_the_constructor_is_used():
    assert drawn(Discrete(99, seed=4)) == drawn(any_seeded(Discrete(99), 4))
    assert drawn(Tuple((Discrete(99),), seed=4)) == drawn(any_seeded(Tuple((Discrete(99),)), 4))


def any_seeded(space, seed):
    space.seed(seed)
    return space
