"""Construction: what cannot exist is refused in words, and what exists shows what it is."""

from collections import OrderedDict

import numpy as np
import pytest

from ludus.errors import InvalidArgument, InvalidSpace, InvalidType
from ludus.spaces import (
    Box,
    Dict,
    Discrete,
    Graph,
    MultiBinary,
    MultiDiscrete,
    OneOf,
    Sequence,
    Space,
    Text,
    Tuple,
)
from tests.core.wording import says
from tests.spaces.cases import CASES
from tests.spaces.values import space_of

REFUSED = [
    (
        lambda: Box(0, 1, dtype=None),
        InvalidSpace,
        "Box dtype: expected an integer, floating or bool dtype, got None; name one",
    ),
    (
        lambda: Box(0, 1, dtype=np.complex64),
        InvalidSpace,
        "Box dtype: expected an integer, floating or bool dtype, got complex64",
    ),
    (lambda: Box(0, 1, shape=3), InvalidType, "Box shape: expected a sequence of integers, got 3"),
    (lambda: Box(0, 1, shape=(2, 1.5)), InvalidType, "Box shape: expected integers, got (2, 1.5)"),
    (
        lambda: Box(np.zeros(2), np.ones(3)),
        InvalidSpace,
        "Box: expected low and high of one shape, got (2,) and (3,)",
    ),
    (
        lambda: Box([0, 0], [1, 1]),
        InvalidSpace,
        "Box: expected low and high to be numbers or NumPy arrays, got [0, 0] and [1, 1]; "
        "turn lists into arrays with np.array, or name the shape",
    ),
    (lambda: Box("a", 1, shape=(1,)), InvalidSpace, "Box low: expected a number or a numeric NumPy array, got 'a'"),
    (lambda: Box(True, 1, shape=(1,)), InvalidSpace, "Box low: expected a number or a numeric NumPy array, got True"),
    (
        lambda: Box(0, np.array(["a"]), shape=(1,)),
        InvalidSpace,
        "Box high: expected a number or a numeric NumPy array, got array(['a'], dtype='<U1')",
    ),
    (lambda: Box(0, np.ones(3), shape=(2,)), InvalidSpace, "Box high: expected shape (2,), got (3,)"),
    (lambda: Box(np.nan, 1), InvalidSpace, "Box low: expected numbers or infinities, got NaN in array([nan])"),
    (
        lambda: Box(2, 1),
        InvalidSpace,
        "Box: expected low <= high everywhere, got low=array([2.], dtype=float32), high=array([1.], dtype=float32)",
    ),
    (
        lambda: Box(0, 256, dtype=np.uint8),
        InvalidSpace,
        "Box high: expected values within uint8 (0 to 255), got array([256])",
    ),
    (
        lambda: Box(-np.inf, np.array([np.inf, 500]), dtype=np.int8),
        InvalidSpace,
        "Box high: expected values within int8 (-128 to 127), got array([127, 500])",
    ),
    (
        lambda: Box(-np.inf, 5, dtype=np.uint8),
        InvalidSpace,
        "Box low: expected finite bounds for uint8, got -inf; use a signed integer or a float dtype",
    ),
    (
        lambda: Box(0, np.inf, dtype=np.bool_),
        InvalidSpace,
        "Box high: expected finite bounds for bool, got inf; use a signed integer or a float dtype",
    ),
    (
        lambda: Box(0, 1e300, dtype=np.float32),
        InvalidSpace,
        "Box high: expected values within float32 (-3.4028234663852886e+38 to 3.4028234663852886e+38), "
        "got array([1.e+300])",
    ),
    (lambda: Discrete(0), InvalidSpace, "Discrete n: expected at least 1, got 0"),
    (lambda: Discrete(2.0), InvalidType, "Discrete n: expected an integer, got 2.0"),
    (lambda: Discrete(True), InvalidType, "Discrete n: expected an integer, got True"),
    (lambda: Discrete(2, start="a"), InvalidType, "Discrete start: expected an integer, got 'a'"),
    (lambda: Discrete(2, dtype=np.float32), InvalidType, "Discrete dtype: expected an integer dtype, got float32"),
    (lambda: Discrete(2, dtype=None), InvalidType, "Discrete dtype: expected an integer dtype, got None"),
    (
        lambda: Discrete(200, dtype=np.int8),
        InvalidSpace,
        "Discrete: expected n=200 and 0 to 199 to fit int8 (-128 to 127); use a wider dtype",
    ),
    (
        lambda: Discrete(3, start=254, dtype=np.uint8),
        InvalidSpace,
        "Discrete: expected n=3 and 254 to 256 to fit uint8 (0 to 255); use a wider dtype",
    ),
    (
        lambda: MultiDiscrete([2, 0]),
        InvalidSpace,
        "MultiDiscrete nvec: expected counts of at least 1, got array([2, 0])",
    ),
    (lambda: MultiDiscrete([2.5]), InvalidType, "MultiDiscrete nvec: expected integers, got [2.5]"),
    (lambda: MultiDiscrete([2], start=["a"]), InvalidType, "MultiDiscrete start: expected integers, got ['a']"),
    (
        lambda: MultiDiscrete([2, 2], start=[1]),
        InvalidSpace,
        "MultiDiscrete: expected nvec and start of one shape, got (2,) and (1,)",
    ),
    (
        lambda: MultiDiscrete([300], dtype=np.uint8),
        InvalidSpace,
        "MultiDiscrete nvec: expected values within uint8 (0 to 255), got [300]",
    ),
    (
        lambda: MultiDiscrete([100], start=[100], dtype=np.int8),
        InvalidSpace,
        "MultiDiscrete: expected start + nvec - 1 to fit int8; use a wider dtype",
    ),
    (
        lambda: MultiDiscrete([2], dtype=float),
        InvalidType,
        "MultiDiscrete dtype: expected an integer dtype, got float64",
    ),
    (lambda: MultiBinary(0), InvalidSpace, "MultiBinary n: expected lengths of at least 1, got 0"),
    (lambda: MultiBinary([2, 0]), InvalidSpace, "MultiBinary n: expected lengths of at least 1, got [2, 0]"),
    (lambda: MultiBinary("ab"), InvalidType, "MultiBinary n: expected an integer or a sequence of integers, got 'ab'"),
    (lambda: MultiBinary(True), InvalidType, "MultiBinary n: expected an integer or a sequence of integers, got True"),
    (lambda: Text(2.5), InvalidType, "Text max_length: expected an integer, got 2.5"),
    (
        lambda: Text(2, min_length=3),
        InvalidSpace,
        "Text: expected 0 <= min_length <= max_length, got min_length=3, max_length=2",
    ),
    (
        lambda: Text(2, min_length=-1),
        InvalidSpace,
        "Text: expected 0 <= min_length <= max_length, got min_length=-1, max_length=2",
    ),
    (lambda: Text(2, charset=5), InvalidType, "Text charset: expected a string or a set of characters, got 5"),
    (
        lambda: Text(2, charset={1, 2}),
        InvalidType,
        "Text charset: expected a string or a set of characters, got {1, 2}",
    ),
    (
        lambda: Text(2, charset=""),
        InvalidSpace,
        "Text charset: expected at least one element, each a single character, got ''",
    ),
    (
        lambda: Text(2, charset={"ab"}),
        InvalidSpace,
        "Text charset: expected at least one element, each a single character, got ['ab']",
    ),
    (
        lambda: Text(2, charset="a\ud800"),
        InvalidSpace,
        "Text charset: expected at least one element, each a single character, got ['\\ud800']",
    ),
    (lambda: Tuple(5), InvalidType, "Tuple: expected a sequence of spaces, got 5"),
    (lambda: Tuple((Discrete(2), 3)), InvalidType, "Tuple[1]: expected a ludus Space, got 3"),
    (lambda: Dict({"a": 3}), InvalidType, "Dict['a']: expected a ludus Space, got 3"),
    (lambda: Dict(a=None), InvalidType, "Dict['a']: expected a ludus Space, got None"),
    (lambda: Dict("ab"), InvalidType, "Dict spaces: expected a mapping or a sequence of pairs, got 'ab'"),
    (lambda: Dict(5), InvalidType, "Dict spaces: expected a mapping or a sequence of pairs, got 5"),
    (lambda: Dict([1, 2]), InvalidType, "Dict spaces: expected a mapping or a sequence of pairs, got [1, 2]"),
    (
        lambda: Dict({"a": Discrete(2)}, a=Discrete(3)),
        InvalidArgument,
        "Dict: expected each key once, got ['a'] both in the mapping and as keywords",
    ),
    (lambda: Sequence(3), InvalidType, "Sequence space: expected a ludus Space, got 3"),
    (lambda: Graph(3, None), InvalidType, "Graph node_space: expected a ludus Space, got 3"),
    (lambda: Graph(None, None), InvalidType, "Graph node_space: expected a ludus Space, got None"),
    (lambda: Graph(Discrete(2), 3), InvalidType, "Graph edge_space: expected a ludus Space, got 3"),
    (lambda: OneOf([]), InvalidSpace, "OneOf: expected at least one space, got none"),
    (lambda: OneOf(3), InvalidType, "OneOf: expected a sequence of spaces, got 3"),
    (lambda: OneOf([Discrete(2), "b"]), InvalidType, "OneOf[1]: expected a ludus Space, got 'b'"),
]


@pytest.mark.parametrize(("make", "error", "text"), REFUSED, ids=[text for _, _, text in REFUSED])
def test_what_cannot_exist_is_refused_in_words(make, error, text):
    with says(error, text):
        make()


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (Box(0, 1), "Box(0.0, 1.0, (1,), float32)"),
        (Box(np.array([0.0, 1.0]), 2.0), "Box([0. 1.], 2.0, (2,), float32)"),
        (Box(-np.inf, 5, (2,), np.int32), "Box(-2147483648, 5, (2,), int32)"),
        (Discrete(3), "Discrete(3)"),
        (Discrete(3, start=1, dtype=np.int8), "Discrete(3, start=1, dtype=int8)"),
        (MultiDiscrete([2, 3], start=[1, 0]), "MultiDiscrete([2 3], start=[1 0])"),
        (MultiBinary([2, 3]), "MultiBinary((2, 3))"),
        (Text(3, charset="ba"), "Text(1, 3, charset=ab)"),
        (Text(3, charset=None), "Text(1, 3, charset=any character)"),
        (Tuple((Discrete(2), Discrete(3))), "Tuple(Discrete(2), Discrete(3))"),
        (Dict(b=Discrete(2), a=Discrete(3)), "Dict('b': Discrete(2), 'a': Discrete(3))"),
        (Sequence(Discrete(2), stack=True), "Sequence(Discrete(2), stack=True)"),
        (Graph(Discrete(2), None), "Graph(Discrete(2), None)"),
        (OneOf((Discrete(2),)), "OneOf(Discrete(2))"),
    ],
)
def test_a_space_shows_what_it_is(space, text):
    assert repr(space) == str(space) == text


@pytest.mark.parametrize("name", CASES)
def test_equal_arguments_make_equal_spaces_which_are_not_hashed(name):
    space = space_of(name)
    assert space == space_of(name, seed=1)
    assert space != 3
    assert type(space).from_arguments(space.arguments()) == space
    with pytest.raises(TypeError, match="unhashable"):
        hash(space)


def test_a_box_takes_its_shape_from_its_bounds():
    assert Box(np.zeros((2, 3)), 1.0).shape == (2, 3)
    assert Box(0, np.ones(4)).shape == (4,)
    assert Box(np.float32(0), np.int64(1)).shape == (1,)
    assert Box(0, 1, shape=[np.int64(2), 3]).shape == (2, 3)


@pytest.mark.parametrize(
    ("low", "high", "answers"),
    [
        (0, 1, (True, True, True)),
        (0, np.inf, (False, True, False)),
        (-np.inf, 1, (False, False, True)),
        (np.array([0, -np.inf]), np.array([1.0, 1.0]), (False, False, True)),
    ],
)
def test_a_box_knows_where_it_is_bounded(low, high, answers):
    box = Box(low, high, shape=np.shape(low) or (2,), dtype=np.float64)
    assert (box.is_bounded(), box.is_bounded("below"), box.is_bounded("above")) == answers
    with says(InvalidArgument, "is_bounded: expected 'both', 'below' or 'above', got 'left'"):
        box.is_bounded("left")


def test_a_box_of_objects_keeps_whole_numbers_exact():
    box = Box(np.array([-(2**63), 0], dtype=object), np.array([2**63 - 1, 5], dtype=object), dtype=np.int64)
    assert box.low.tolist() == [-(2**63), 0]
    assert box.high.tolist() == [2**63 - 1, 5]


def test_the_parts_of_a_multi_discrete_are_spaces():
    space = MultiDiscrete([[2, 3], [4, 5]], start=[[0, 1], [2, 3]], seed=1)
    assert space[0] == MultiDiscrete([2, 3], start=[0, 1])
    assert space[1, 0] == Discrete(4, start=2)
    assert len(space) == 2
    assert space[0].sample().tolist() == MultiDiscrete([2, 3], start=[0, 1], seed=1).sample().tolist()


def test_containers_of_spaces_are_indexed_like_containers():
    pair = Tuple((Discrete(2), Discrete(3)))
    assert (pair[1], len(pair), list(pair)) == (Discrete(3), 2, [Discrete(2), Discrete(3)])
    either = OneOf((Discrete(2), Discrete(3)))
    assert (either[1], len(either)) == (Discrete(3), 2)
    named = Dict(b=Discrete(2))
    named["a"] = Discrete(3)
    assert (named["a"], len(named), list(named), list(named.keys())) == (Discrete(3), 2, ["b", "a"], ["b", "a"])
    with says(InvalidType, "Dict['c']: expected a ludus Space, got 4"):
        named["c"] = 4


def test_the_keys_of_a_dict_are_sorted_unless_their_order_was_meant():
    spaces = {"b": Discrete(2), "a": Discrete(3)}
    assert list(Dict(spaces)) == ["a", "b"]
    assert list(Dict(spaces, sort_keys=False)) == ["b", "a"]
    assert list(Dict(OrderedDict(spaces))) == ["b", "a"]
    assert list(Dict(list(spaces.items()))) == ["b", "a"]
    assert list(Dict(**spaces)) == ["b", "a"]
    assert list(Dict({2: Discrete(2), "a": Discrete(3)})) == [2, "a"]
    assert Dict(spaces) == Dict(spaces, sort_keys=False)


def test_text_knows_its_characters():
    text = Text(3, charset="cab")
    assert text.character_set == frozenset("abc")
    assert text.character_list == ("c", "a", "b")
    assert text.characters == "abc"
    assert text.character_index("a") == 1
    assert Text(3, charset=None).character_index("é") == ord("é")
    assert Text(3, charset=frozenset("cab")).character_list == ("a", "b", "c")


def test_text_over_all_characters_samples_short_text():
    text = Text(10**6, min_length=0, charset=None, seed=0)
    drawn = [text.sample() for _ in range(200)]
    assert max(map(len, drawn)) <= 32
    assert all(one in text for one in drawn)
    assert len(Text(100, min_length=50, charset=None, seed=0).sample()) == 50


def test_a_subclass_with_other_arguments_is_another_space():
    class Even(Discrete):
        pass

    assert Discrete(2) == Even(2)
    assert isinstance(Even(2), Space)
    assert MultiDiscrete([2]) != MultiDiscrete([2], dtype=np.int32)
    assert Discrete(2) != Discrete(2, dtype=np.int32)
