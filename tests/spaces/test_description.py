"""Descriptions: every space as JSON and back, and from strangers nothing but a space or a refusal."""

import json
import sys

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.errors import CodecError
from ludus.spaces import (
    Box,
    Dict,
    Discrete,
    Record,
    Sequence,
    Space,
    Text,
    Tuple,
    describe,
    from_description,
    from_json,
    to_json,
)
from ludus.spaces.description import SPEC_JSON
from tests.core.wording import says
from tests.sampling import examples
from tests.spaces.models import EVERY, any_space
from tests.spaces.values import same

every_space = pytest.mark.parametrize("name", EVERY)
KNOWN = "Box, Dict, Discrete, Graph, Json, MultiBinary, MultiDiscrete, OneOf, Record, Scalar, Sequence, Text, Tuple"


@every_space
def test_every_space_survives_json(name):
    space = any_space(name, seed=4)
    again = from_json(to_json(space))
    assert again == space
    assert repr(again) == repr(space)
    assert describe(again) == describe(space)
    assert type(again) is type(space)
    again.seed(4)
    for _ in range(0 if name == "one-of-bool" else 5):  # which holds one space three times
        mine, theirs = space.encode(space.sample()), again.encode(again.sample())
        assert mine == theirs


@every_space
def test_every_space_survives_msgpack_and_python_data(name):
    space = any_space(name)
    assert from_description(msgspec.msgpack.decode(msgspec.msgpack.encode(describe(space)))) == space
    assert from_description(json.loads(to_json(space))) == space


@every_space
def test_bounds_and_dtypes_come_back_exactly(name):
    space, again = any_space(name), from_json(to_json(any_space(name)))
    if isinstance(space, Box):
        for attribute in ("low", "high", "bounded_below", "bounded_above"):
            assert same(getattr(again, attribute), getattr(space, attribute))
        assert (again.dtype, again.shape) == (space.dtype, space.shape)


def test_wide_floats_and_mixed_bounds_come_back_exactly():
    third = np.longdouble(1) / 3
    for space in (
        Box(-third, third, (2,), np.longdouble),
        Box(np.array([-np.inf, -(2**62) - 1]), np.array([5, np.inf]), dtype=np.int64),
        Box(np.array([-np.inf, 0.0]), np.array([0.1, np.inf]), dtype=np.float32),
        Box(0, 1, (0,)),
        Box(0, 1, ()),
        Box(np.array([False, True]), np.array([True, True]), dtype=np.bool_),
    ):
        again = from_json(to_json(space))
        assert same(again.low, space.low)
        assert same(again.high, space.high)
        assert same(again.bounded_below, space.bounded_below)


def test_a_custom_space_is_known_by_its_module_once_it_is_imported():
    text = to_json(any_space("custom"))
    assert text == '{"type":"tests.spaces.models:Even","top":40}'
    assert from_json(text) == any_space("custom")


def test_no_name_is_ever_imported():
    before = set(sys.modules)
    for name in ("antigravity:fly", "this", "os:system", "builtins:eval", "tests.spaces.nowhere:Space", "Space", ""):
        with pytest.raises(CodecError) as caught:
            from_description({"type": name})
        text = str(caught.value)
        assert text.startswith("space type: expected one of Box, Dict, Discrete, ")
        assert text.endswith(f", got {name!r}; import the module that defines it first")
    assert set(sys.modules) == before


@pytest.mark.parametrize("name", ["Composite", "ArraySpace"])
def test_the_bases_of_spaces_are_no_spaces(name):
    with pytest.raises(CodecError, match=rf"^space type: expected one of {KNOWN}.*, got '{name}'; "):
        from_description({"type": name, "shape": [2], "dtype": "float32"})


def test_a_space_that_keeps_no_argument_says_what_to_do():
    class Forgetful(Space):
        def __init__(self, size, seed=None):
            super().__init__(seed=seed)

        def sample(self, mask=None, probability=None):
            return 0

        def contains(self, x):
            return x == 0

    assert repr(Forgetful(3)) == "Forgetful(…)"
    message = (
        "Forgetful: expected an attribute 'size', since the constructor takes it, got none; "
        "set `self.size` or override `arguments`"
    )
    with says(CodecError, message):
        to_json(Forgetful(3))


def deep(levels):
    data = {"type": "Discrete", "n": 2}
    for _ in range(levels):
        data = {"type": "Tuple", "spaces": [{"$space": data}]}
    return data


MALICIOUS = {
    "nothing": (None, "space: expected an object with a type, got None"),
    "a list": ([], "space: expected an object with a type, got []"),
    "no type": ({"n": 2}, "space: expected an object with a type, got {'n': 2}"),
    "a type that is no text": ({"type": ["Box"]}, "space: expected an object with a type, got {'type': ['Box']}"),
    "too many numbers": (
        {"type": "Box", "low": 0, "high": 1, "shape": [10**6, 10**6], "dtype": "float32"},
        "space: expected shapes of at most 134217728 numbers in all, got 1000000000000",
    ),
    "too many numbers in a tuple": (
        {"type": "Box", "low": 0, "high": 1, "shape": {"$tuple": [10**6, 10**6]}, "dtype": "float32"},
        "space: expected shapes of at most 134217728 numbers in all, got 1000000000000",
    ),
    "too many numbers in an array": (
        {
            "type": "Box",
            "low": 0,
            "high": 1,
            "shape": {"dtype": "int64", "$array": [10**6, 10**6], "shape": [2]},
            "dtype": "u1",
        },
        "space: expected shapes of at most 134217728 numbers in all, got 1000000000004",
    ),
    "too many numbers in all": (
        {
            "type": "Tuple",
            "spaces": [{"$space": {"type": "Box", "low": 0, "high": 1, "shape": [2**20, 2**6], "dtype": "u1"}}] * 3,
        },
        "space: expected shapes of at most 134217728 numbers in all, got 201326592",
    ),
    "too many coins": (
        {"type": "MultiBinary", "n": [2**20, 2**20]},
        "space: expected shapes of at most 134217728 numbers in all, got 1099511627776",
    ),
    "an unknown tag": (
        {"type": "Discrete", "n": {"$pickle": "gASV"}},
        "n: expected one of the tags $array, $scalar, $tuple, $set, $dict, $float, $bytes, $dtype, $space, "
        "got '$pickle'",
    ),
    "a tag with another's form": (
        {"type": "Discrete", "n": {"$array": 3}},
        "n: expected $array and dtype and shape, got ['$array']",
    ),
    "a dtype of objects": (
        {"type": "Discrete", "n": {"$array": [1], "dtype": "M8[s]", "shape": [1]}},
        "n: expected a dtype out of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, "
        "float64, longdouble, got 'M8[s]'",
    ),
    "a dtype that is no name": (
        {"type": "Box", "low": 0, "high": 1, "shape": [1], "dtype": {"$dtype": None}},
        "dtype: expected the name of a dtype, got None",
    ),
    "deep": (deep(5000), "space: expected a few levels of nesting, got more than can be read"),
    "arguments missing": (
        {"type": "Discrete"},
        "space Discrete: expected its constructor's arguments, got {}: "
        "Discrete.__init__() missing 1 required positional argument: 'n'",
    ),
    "arguments unknown": (
        {"type": "Discrete", "n": 2, "code": "x"},
        "space Discrete: expected its constructor's arguments, got {'n': 2, 'code': 'x'}: "
        "Discrete.__init__() got an unexpected keyword argument 'code'",
    ),
    "a wrong count": (
        {"type": "Discrete", "n": "two"},
        "space Discrete: expected its constructor's arguments, got {'n': 'two'}: "
        "Discrete n: expected an integer, got 'two'",
    ),
    "a nameless record": (
        {"type": "Record", "name": "a b", "fields": []},
        "Record: expected a name and fields, got {'name': 'a b', 'fields': []}",
    ),
    "a record without fields": (
        {"type": "Record", "name": "A"},
        "Record: expected a name and fields, got {'name': 'A'}",
    ),
    "a field of no kind": (
        {"type": "Record", "name": "A", "fields": [["x", ["eval", "1"], []]]},
        "field type: expected a known kind, got 'eval'",
    ),
    "a field type that is no list": (
        {"type": "Record", "name": "A", "fields": [["x", "int", []]]},
        "field type: expected a list starting with its kind, got 'int'",
    ),
    "a field without a word about its default": (
        {"type": "Record", "name": "A", "fields": [["x", ["int", None, None]]]},
        "A: expected fields of a name, a type and a default, got ['x', ['int', None, None]]",
    ),
    "a default that does not fit its field": (
        {"type": "Record", "name": "A", "fields": [["x", ["int", 0, 5], [9]]]},
        "A.x: expected a default that fits, got 9: int: expected an int from 0 to 5, got 9",
    ),
    "a default of the wrong shape": (
        {"type": "Record", "name": "A", "fields": [["x", ["int", 0, 5], [1, 2]]]},
        "A.x: expected a list of one default, or of none, got [1, 2]",
    ),
    "a field of a name that is none": (
        {"type": "Record", "name": "A", "fields": [["__init__", ["bool"], []]]},
        "A: expected fields of different names, got '__init__'",
    ),
    "two fields of one name": (
        {"type": "Record", "name": "A", "fields": [["x", ["bool"], []], ["x", ["bool"], []]]},
        "A: expected fields of different names, got 'x'",
    ),
    "a list that must be vast": (
        {"type": "Record", "name": "A", "fields": [["x", ["list", ["bool"], 10**12, None], []]]},
        "field type: expected a least length of at most 1048576, got 1000000000000",
    ),
    "ends that are no numbers": (
        {"type": "Record", "name": "A", "fields": [["x", ["int", "0", 1], []]]},
        "field type: expected two ends of int, got ['0', 1]",
    ),
    "a choice of what is no constant": (
        {"type": "Record", "name": "A", "fields": [["x", ["choice", [[1]]], []]]},
        "field type: expected a list of constants, got [[1]]",
    ),
    "a value of no space": (
        {"type": "Record", "name": "A", "fields": [["x", ["value", 3], []]]},
        "field type: expected a space, got 3",
    ),
}


@pytest.mark.parametrize("name", MALICIOUS)
def test_what_describes_no_space_is_refused_in_words(name):
    data, text = MALICIOUS[name]
    with says(CodecError, text):
        from_description(data)


@pytest.mark.parametrize(
    "data",
    [
        {"type": "Box", "low": 0, "high": 1, "shape": [-1], "dtype": "float32"},
        {"type": "Box", "low": 0, "high": 1, "shape": [0, 10**30], "dtype": "float32"},
        {"type": "Box", "low": 0, "high": 1, "shape": "ab", "dtype": "float32"},
        {"type": "Box", "low": 0, "high": 1, "shape": {"$dict": 3}, "dtype": "float32"},
        {"type": "Box", "low": {"$float": "much"}, "high": 1, "shape": [1], "dtype": "float32"},
        {"type": "Box", "low": {"$float": []}, "high": 1, "shape": [1], "dtype": "float32"},
        {"type": "Box", "low": 0, "high": 1, "shape": [1], "dtype": "floaty"},
        {"type": "Box", "low": 0, "high": 1, "shape": [1], "dtype": {"$dtype": "O"}},
        {"type": "Box", "low": 0, "high": 1, "shape": [1], "dtype": 7},
        {"type": "Box", "low": 0, "high": 10**400, "shape": [1], "dtype": "float32"},
        {"type": "Box", "low": 0, "high": {"$array": [1, 2], "dtype": "int8", "shape": [3]}, "dtype": "int8"},
        {"type": "Box", "low": 0, "high": {"$array": [[1], [2, 3]], "dtype": "int8", "shape": [2]}, "dtype": "int8"},
        {"type": "Box", "low": 0, "high": {"$array": [1], "dtype": "object", "shape": [2]}, "dtype": "int8"},
        {"type": "Box", "low": 0, "high": {"$array": [{}], "dtype": "object", "shape": [1]}, "dtype": "int8"},
        {"type": "Discrete", "n": 10**30},
        {"type": "Discrete", "n": 2, "seed": -1},
        {"type": "MultiDiscrete", "nvec": [[1], [2, 3]], "start": None, "dtype": "int64"},
        {"type": "MultiDiscrete", "nvec": "five"},
        {"type": "MultiBinary", "n": [[2]]},
        {"type": "Text", "max_length": -1},
        {"type": "Text", "max_length": 3, "charset": [1]},
        {"type": "Text", "max_length": 3, "charset": {"$set": [[1]]}},
        {"type": "Text", "max_length": 3, "charset": {"$bytes": "!"}},
        {"type": "Tuple", "spaces": 3},
        {"type": "Tuple", "spaces": [3]},
        {"type": "Tuple", "spaces": [{"$space": 3}]},
        {"type": "Dict", "spaces": [[1]], "sort_keys": True},
        {"type": "Dict", "spaces": {"$tuple": [{"$tuple": [[1], {"$space": {"type": "Discrete", "n": 2}}]}]}},
        {"type": "Sequence", "space": None},
        {"type": "Graph", "node_space": 1, "edge_space": 2},
        {"type": "OneOf", "spaces": []},
        {"type": "Record", "name": "A", "fields": [3]},
        {"type": "Record", "name": "A", "fields": [["x"]]},
        {"type": "Record", "name": "A", "fields": [["x", []]]},
        {"type": "Record", "name": "A", "fields": [["x", ["int"]]]},
        {"type": "Record", "name": "A", "fields": [["x", ["int", 3]]]},
        {"type": "Record", "name": "A", "fields": [["x", [["int"], 3]]]},
        {"type": "Record", "name": "A", "fields": [["x", ["choice", []]]]},
        {"type": "Record", "name": "A", "fields": [["x", ["dict", ["int"]]]]},
        {"type": "Record", "name": "A", "fields": [["not a name", ["choice", [1]]]]},
        {"type": "Record", "name": "A", "fields": [["class", ["choice", [1]]]]},
        {"type": "tests.spaces.models:Even", "bottom": 3},
    ],
    ids=range(42),
)  # fmt: skip
def test_wrong_fields_of_every_space_are_refused(data):
    with pytest.raises(CodecError):
        from_description(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "nope", b"\xff", "[" * 100_000, '{"type":' * 3000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(CodecError, match=r"^space: expected "):
        from_json(text)


tags = st.sampled_from(["$float", "$array", "$scalar", "$dtype", "$space", "$tuple", "$set", "$bytes", "$dict", "$x"])
fields = st.sampled_from(
    ["low", "high", "shape", "dtype", "n", "start", "nvec", "spaces", "space", "stack", "name", "fields", "charset",
     "max_length", "min_length", "node_space", "edge_space", "seed", "sort_keys", "top"]
)  # fmt: skip
kinds = st.sampled_from([*KNOWN.split(", "), "tests.spaces.models:Even", "tests.spaces.models:Simplex", "os:system"])
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.integers() | st.floats()
    | st.sampled_from(["word", "int8", "float32", "O", "NaN", "int", "choice", "list", "union", "QQ=="]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(fields | tags, inner, max_size=3)
    | st.builds(lambda kind, rest: {"$space": {"type": kind, **rest}}, kinds, st.dictionaries(fields, inner)),
    max_leaves=10,
)  # fmt: skip


@settings(max_examples=examples(150))
@given(kinds, st.dictionaries(fields, plain, max_size=5))
def test_a_description_made_at_random_is_a_space_or_refused(kind, rest):
    try:
        space = from_description({"type": kind, **rest})
    except CodecError:
        return
    assert isinstance(space, Space)


@every_space
@settings(max_examples=examples(20))
@given(data=st.data())
def test_a_description_with_one_part_changed_is_a_space_or_refused(name, data):
    description = describe(any_space(name))
    try:
        space = from_description(_mutated(description, data))
    except CodecError:
        return
    assert isinstance(space, Space)


def _mutated(value, data):
    if isinstance(value, list) and value:
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], _mutated(value[at], data), *value[at + 1 :]]
    if isinstance(value, dict) and value:
        key = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.booleans()):
            return {**value, key: _mutated(value[key], data)}
        return {one: part for one, part in value.items() if one != key}
    return data.draw(plain)


def test_plain_data_keeps_its_types():
    value = {"t": (1, [2.5, None]), "$odd": {1: b"\x00"}, "set": {1, 2}, "inf": float("-inf"), "u8": np.uint8(3)}
    again = SPEC_JSON.read(json.loads(json.dumps(SPEC_JSON.write(value))))
    assert again == value
    assert type(again["u8"]) is np.uint8


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array(["a"]), "x: expected a numeric array, got dtype <U1"),
        (np.array([1j]), "x: expected a numeric array, got dtype complex128"),
        (dict, "x: expected data, got the class dict"),
        (
            [0, {"a": 1j}],
            "x[1]['a']: expected numbers, text, arrays, dtypes, spaces or containers of these, got 1j; "
            "only such values can be written",
        ),
    ],
)
def test_what_is_no_data_is_not_written(value, text):
    with says(CodecError, text):
        SPEC_JSON.write(value, "x")


def test_a_nested_description_names_what_is_wrong_once():
    data = {"type": "Dict", "spaces": [["a", {"$space": {"type": "Tuple", "spaces": [{"$space": {"type": "Nope"}}]}}]]}
    with pytest.raises(CodecError, match=r"^space type: expected one of .*, got 'Nope'; import the module"):
        from_description(data)


def test_seeds_are_not_described():
    assert to_json(Discrete(3, seed=5)) == to_json(Discrete(3))
    assert to_json(Text(2, charset="ba", seed=5)) == '{"type":"Text","max_length":2,"min_length":1,"charset":"ba"}'


def test_the_order_of_keys_and_characters_is_kept():
    again = from_json(to_json(Dict({"b": Discrete(2), "a": Discrete(3)}, sort_keys=False)))
    assert list(again) == ["b", "a"]
    assert again.sort_keys is False
    assert from_json(to_json(Text(2, charset="cab"))).character_list == ("c", "a", "b")


def test_a_record_is_described_without_its_class():
    space = any_space("record-pydantic")
    again = from_json(to_json(space))
    assert again.model is not space.model
    assert again.model.__name__ == "Query"
    assert isinstance(again, Record)
    assert isinstance(from_json(to_json(Tuple((Sequence(space),))))[0].feature_space, Record)
