"""The functions over spaces, their refusals, and laws of flattening and zero that hold for every case."""

import numpy as np
import pytest

from ludus import spaces
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType
from ludus.spaces import Box, Dict, Discrete, Graph, MultiBinary, MultiDiscrete, OneOf, Sequence, Text, Tuple
from tests.core.wording import says
from tests.spaces.cases import CASES
from tests.spaces.models import EVERY, any_samples, any_space
from tests.spaces.values import same

every_space = pytest.mark.parametrize("name", EVERY)


@every_space
def test_flattening_and_back_is_exact(name):
    space, values = any_samples(name)
    flat_space = spaces.flatten_space(space)
    for value in values:
        flat = spaces.flatten(space, value)
        assert flat in flat_space
        again = spaces.unflatten(space, flat)
        assert same(again, value) or again == value
        if space.is_np_flattenable:
            assert flat.shape == (spaces.flatdim(space),)
            assert flat.dtype == space.flat_dtype


@every_space
def test_joining_splitting_and_reading_back_are_exact(name):
    space, values = any_samples(name, 3)
    batch = spaces.batch_space(space, 3)
    joined = spaces.concatenate(space, values, spaces.create_empty_array(space, 3))
    for again, value in zip(spaces.iterate(batch, joined), values, strict=True):
        assert same(space.encode(again), space.encode(value))
    for binary in (False, True):
        coded = space.encode_many(joined, binary=binary)
        assert space.encode_many(space.decode_many(coded)) == space.encode_many(joined)


@pytest.mark.parametrize("name", CASES)
def test_zero_is_in_the_space(name):
    space = any_space(name)
    assert space.default() in space


@every_space
def test_a_space_has_the_layout_of_its_own_description(name):
    space = any_space(name)
    assert spaces.is_space_dtype_shape_equiv(space, spaces.from_json(spaces.to_json(space)))
    assert not spaces.is_space_dtype_shape_equiv(space, Box(0, 1, (7, 7), np.float16))


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda it: spaces.flatdim(it), "flatdim"),
        (lambda it: spaces.flatten(it, 0), "flatten"),
        (lambda it: spaces.unflatten(it, 0), "unflatten"),
        (lambda it: spaces.flatten_space(it), "flatten_space"),
        (lambda it: spaces.batch_space(it), "batch_space"),
        (lambda it: spaces.iterate(it, 0), "iterate"),
        (lambda it: spaces.concatenate(it, []), "concatenate"),
        (lambda it: spaces.create_empty_array(it), "create_empty_array"),
        (lambda it: spaces.create_shared_memory(it), "create_shared_memory"),
        (lambda it: spaces.read_from_shared_memory(it, None), "read_from_shared_memory"),
        (lambda it: spaces.write_to_shared_memory(it, 0, 0, None), "write_to_shared_memory"),
        (lambda it: spaces.is_space_dtype_shape_equiv(it, Discrete(2)), "space_1"),
        (lambda it: spaces.is_space_dtype_shape_equiv(Discrete(2), it), "space_2"),
        (lambda it: spaces.batch_differing_spaces([it]), "spaces[0]"),
    ],
)
def test_every_function_wants_a_space(call, what):
    with says(InvalidType, f"{what}: expected a ludus Space, got 'Discrete(2)'"):
        call("Discrete(2)")


REFUSED = [
    (
        lambda: Discrete(3).unflatten(np.zeros(3)),
        InvalidSpace,
        "unflatten into Discrete(3): expected a one-hot row, got array([0., 0., 0.])",
    ),
    (
        lambda: MultiDiscrete([2, 2]).unflatten(np.array([1, 0, 0, 0])),
        InvalidSpace,
        "unflatten into MultiDiscrete([2 2]): expected 2 one-hot rows joined, got array([1, 0, 0, 0])",
    ),
    (
        lambda: Tuple((Discrete(2), Discrete(2))).unflatten(np.zeros(3)),
        InvalidSpace,
        "unflatten into Tuple(Discrete(2), Discrete(2)): expected 4 numbers in one row, got shape (3,)",
    ),
    (
        lambda: OneOf((Discrete(2), Discrete(3))).unflatten(np.array([7, 0, 0, 0])),
        InvalidSpace,
        "unflatten into OneOf(Discrete(2), Discrete(3)): expected 0 to 1 first, got 7",
    ),
    (
        lambda: spaces.flatdim(Sequence(Discrete(2))),
        InvalidSpace,
        "flatdim: expected a space that flattens to an array, got Sequence(Discrete(2), stack=False), "
        "whose values vary in size",
    ),
    (
        lambda: spaces.flatdim(Dict(a=Sequence(Discrete(2)))),
        InvalidSpace,
        "flatdim: expected parts that flatten to arrays, got Dict('a': Sequence(Discrete(2), stack=False)), "
        "part of which varies in size",
    ),
    (lambda: Tuple(()).flat_space(), InvalidSpace, "flatten: expected at least one space, got none"),
    (
        lambda: spaces.batch_differing_spaces([]),
        InvalidArgument,
        "batch_differing_spaces: expected at least one space, got none",
    ),
    (
        lambda: spaces.batch_differing_spaces([Discrete(2), Box(0, 1)]),
        InvalidType,
        "batch_differing_spaces: expected spaces of one class, got ['Discrete', 'Box']",
    ),
    (
        lambda: spaces.batch_differing_spaces([Box(0, 1), Box(0, 1, (2,))]),
        InvalidSpace,
        "batch_differing: expected spaces of one shape, got [(1,), (2,)]",
    ),
    (
        lambda: spaces.batch_differing_spaces([Box(0, 1), Box(0, 1, dtype=np.int8)]),
        InvalidSpace,
        "batch_differing: expected spaces of one dtype, got [dtype('float32'), dtype('int8')]",
    ),
    (
        lambda: spaces.batch_differing_spaces([MultiBinary(2), MultiBinary(3)]),
        InvalidSpace,
        "batch_differing: expected spaces of one shape, got [(2,), (3,)]",
    ),
    (
        lambda: spaces.batch_differing_spaces([Tuple((Discrete(2),)), Tuple(())]),
        InvalidSpace,
        "batch_differing: expected tuples of 1 spaces, got [Tuple(Discrete(2)), Tuple()]",
    ),
    (
        lambda: spaces.batch_differing_spaces([Dict(a=Discrete(2)), Dict(b=Discrete(2))]),
        InvalidSpace,
        "batch_differing: expected the keys ['a'] in every space, got [['a'], ['b']]",
    ),
    (
        lambda: spaces.iterate(Discrete(2), 1),
        InvalidType,
        "iterate: expected a batched space, got Discrete(2), whose values are single integers",
    ),
    (
        lambda: spaces.iterate(Box(0, 1), 3),
        InvalidType,
        "iterate over Box(0.0, 1.0, (1,), float32): expected an array with a leading lane axis, got 3",
    ),
    (
        lambda: spaces.iterate(Tuple((Text(2, charset="a"),)), 3),
        InvalidType,
        "iterate over Tuple(Text(1, 2, charset=a)): expected a tuple with one value a lane, got 3",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_what_cannot_be_done_is_refused_in_words(call, error, text):
    with says(error, text):
        call()


def test_joining_works_with_and_without_a_buffer():
    space = Dict(a=Discrete(3), b=Tuple((Box(0, 1), Text(2))))
    rows = [space.sample() for _ in range(2)]
    buffered = spaces.concatenate(space, rows, spaces.create_empty_array(space, 2))
    assert same(spaces.concatenate(space, rows), buffered)


def test_a_flat_one_of_holds_the_number_of_its_space_even_among_bools():
    space = OneOf([Box(0, 1, (2,), np.bool_)] * 300)
    assert space.flat_dtype == np.uint16
    value = (np.int64(299), np.array([True, False]))
    assert same(space.unflatten(space.flatten(value)), value)


def test_a_one_of_some_space_without_numbers_pads_with_zero():
    space = OneOf((Box(0, 1, (0,)), Box(5, 6, (2,))))
    value = (np.int64(0), np.zeros(0, np.float32))
    assert space.flatten(value).tolist() == [0, 0, 0]
    assert same(space.unflatten(space.flatten(value)), value)


def test_a_one_of_spaces_that_vary_in_size_flattens_to_pairs():
    space = OneOf((Sequence(Discrete(2)), Discrete(3)), seed=0)
    assert not space.is_np_flattenable
    assert space.flat_space() == OneOf((Sequence(Box(0, 1, (2,), np.int64)), Box(0, 1, (3,), np.int64)))
    for _ in range(10):
        value = space.sample()
        assert space.flatten(value) in space.flat_space()
        assert same(space.unflatten(space.flatten(value)), value)


def test_stacked_sequences_flatten_even_when_empty():
    space = Sequence(Dict(a=Discrete(3), b=Box(0, 1)), stack=True)
    empty = space.sample(mask=(0, None))
    assert spaces.flatten(space, empty).shape == (0, 4)
    assert same(spaces.unflatten(space, spaces.flatten(space, empty)), empty)


def test_an_empty_array_can_be_made_by_other_means():
    assert spaces.create_empty_array(Box(0, 1, (2,)), 3, fn=np.ones).tolist() == [[1, 1]] * 3
    assert spaces.create_empty_array(Text(3, min_length=2, charset="ba"), 2) == ("aa", "aa")
    assert spaces.create_empty_array(OneOf((Discrete(2),)), 2) == ((), ())
    graph = spaces.create_empty_array(Graph(Discrete(2), Discrete(2)), 1)[0]
    assert [part.shape for part in graph] == [(1,), (1,), (1, 2)]
    assert spaces.create_empty_array(Graph(Discrete(2), None), 1)[0].edges is None
