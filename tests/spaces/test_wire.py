"""The wire: every value of every space as JSON and msgpack and back, and what strangers send is refused."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.errors import CodecError, InvalidArgument, InvalidValue
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
    Space,
    Text,
    Tuple,
    dumps,
    loads,
)
from tests.core.wording import says
from tests.sampling import examples
from tests.spaces.models import EVERY, Even, any_samples, any_space
from tests.spaces.values import same

every_space = pytest.mark.parametrize("name", EVERY)
both_formats = pytest.mark.parametrize("format", ["json", "msgpack"])


@every_space
@both_formats
def test_every_value_survives_exactly(name, format):
    space, values = any_samples(name, 10)
    for value in values:
        again = loads(space, dumps(space, value, format=format), format=format)
        assert same(again, value) or (type(again) is type(value) and again == value)


@every_space
def test_json_is_json_to_everybody_else(name):
    space, values = any_samples(name)
    for value in values:
        text = dumps(space, value)
        strict = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert same(space.decode(strict), value) or space.decode(strict) == value
        assert same(loads(space, text.decode()), loads(space, text)) or loads(space, text.decode()) == value


@every_space
def test_lists_of_values_survive_to_jsonable(name):
    space, values = any_samples(name)
    plain = space.to_jsonable(values)
    if name != "dict-mixed-keys":  # JSON has text for keys only
        plain = msgspec.json.decode(msgspec.json.encode(plain))
    assert all(same(a, b) or a == b for a, b in zip(space.from_jsonable(plain), values, strict=True))


@both_formats
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_extreme_numbers_survive_exactly(dtype, format):
    limits = np.finfo(dtype)
    numbers = [np.inf, -np.inf, 0.0, -0.0, limits.max, limits.min, limits.tiny, limits.eps, dtype(1) / dtype(3)]
    value = np.array(numbers, dtype=dtype)
    space = Box(-np.inf, np.inf, value.shape, dtype)
    assert same(loads(space, dumps(space, value, format=format), format=format), value)


@both_formats
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_the_ends_of_integers_survive_exactly(dtype, format):
    limits = np.iinfo(dtype)
    space = Box(limits.min, limits.max, (3,), dtype)
    value = np.array([limits.min, 0, limits.max], dtype=dtype)
    assert same(loads(space, dumps(space, value, format=format), format=format), value)


@both_formats
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), (3, 0, 2)])
def test_arrays_without_elements_survive(shape, format):
    space, value = Box(0, 1, shape), np.zeros(shape, np.float32)
    assert same(loads(space, dumps(space, value, format=format), format=format), value)
    stack = Sequence(space, stack=True)
    for n in (0, 3):
        values = np.zeros((n, *shape), np.float32)
        assert same(loads(stack, dumps(stack, values, format=format), format=format), values)


@both_formats
@pytest.mark.parametrize("inner", [Discrete(3), Text(2), Dict(a=Discrete(2), b=Box(0, 1)), Tuple((Text(2),)), Even()])
def test_empty_sequences_survive(inner, format):
    for stack in (False, True):
        space = Sequence(inner, stack=stack)
        empty = space.sample(mask=(0, None))
        assert same(loads(space, dumps(space, empty, format=format), format=format), empty)


def test_nan_has_a_name_though_no_box_contains_it():
    box = Box(-np.inf, np.inf, (3,), np.float64)
    coded = box.encode(np.array([np.nan, np.inf, -np.inf]))
    assert coded == ["NaN", "Infinity", "-Infinity"]
    assert same(box.decode(coded), np.array([np.nan, np.inf, -np.inf]))
    with says(InvalidValue, "action[0]: expected -inf to inf, got nan"):
        loads(box, b'["NaN",0,0]', name="action")


def test_a_list_or_wide_integer_in_the_space_is_written_as_the_space_has_it():
    assert dumps(Box(0, 1, (2,)), [0, 1]) == b"[0.0,1.0]"
    assert dumps(Discrete(3, dtype=np.int32), np.int8(2)) == b"2"
    assert dumps(MultiBinary(2), [1.0, 0.0]) == b"[1,0]"


def test_msgpack_carries_arrays_as_little_endian_bytes():
    value = np.array([1, 2], np.float32)
    assert msgspec.msgpack.decode(dumps(Box(0, 9, (2,)), value, format="msgpack")) == value.astype("<f4").tobytes()


def test_only_values_of_the_space_are_written():
    with says(InvalidValue, "value: expected Discrete(2), got 5"):
        dumps(Discrete(2), 5)


@pytest.mark.parametrize(
    "call", [lambda: dumps(Discrete(2), 1, format="xml"), lambda: loads(Discrete(2), b"1", format="xml")]
)
def test_there_are_two_formats(call):
    with says(InvalidArgument, "format: expected 'json' or 'msgpack', got 'xml'"):
        call()


def test_msgpack_is_bytes():
    with says(CodecError, "value: expected msgpack bytes, got text '1'"):
        loads(Discrete(2), "1", format="msgpack")


PAIR = Tuple((Discrete(3), Discrete(2)))
GRAPH = Graph(Discrete(3), None)
EITHER = OneOf((Discrete(3), Discrete(2)))
REFUSED = [
    (Discrete(3), "1.5", "Discrete(3): expected an integer that fits int64, got 1.5"),
    (Discrete(3), "true", "Discrete(3): expected an integer that fits int64, got True"),
    (Discrete(3, dtype=np.int8), "200", "Discrete(3, dtype=int8): expected an integer that fits int8, got 200"),
    (Box(0, 1, (2,)), "[1]", "Box(0.0, 1.0, (2,), float32): expected shape (2,), got (1,)"),
    (
        Box(0, 1, (2,)),
        "[[1],[1,2]]",
        "Box(0.0, 1.0, (2,), float32): expected numbers of dtype float32, got [[1], [1, 2]]",
    ),
    (Box(0, 1, (2,)), '["a","b"]', "Box(0.0, 1.0, (2,), float32): expected numbers of dtype float32, got ['a', 'b']"),
    (
        Box(0, 1, (2,)),
        "[true,false]",
        "Box(0.0, 1.0, (2,), float32): expected numbers of dtype float32, got [True, False]",
    ),
    (Box(0, 1, (2,)), "{}", "Box(0.0, 1.0, (2,), float32): expected numbers of dtype float32, got {}"),
    (Box(0, 1, (2,)), "[null,1]", "Box(0.0, 1.0, (2,), float32): expected numbers of dtype float32, got [None, 1]"),
    (Box(0, 9, (1,), np.uint8), "[-1]", "Box(0, 9, (1,), uint8): expected numbers of dtype uint8, got [-1]"),
    (Box(0, 9, (1,), np.uint8), "[1.0]", "Box(0, 9, (1,), uint8): expected numbers of dtype uint8, got [1.0]"),
    (Box(0, 1, (1,), np.bool_), "[1]", "Box(False, True, (1,), bool): expected numbers of dtype bool, got [1]"),
    (
        Box(-np.inf, np.inf, (1,)),
        "[1e300]",
        "Box(-inf, inf, (1,), float32): expected numbers of dtype float32, got [1e+300]",
    ),
    (MultiDiscrete([3, 2]), "[0,0,0]", "MultiDiscrete([3 2]): expected shape (2,), got (3,)"),
    (Text(3, charset="ab"), "3", "Text(1, 3, charset=ab): expected a string, got 3"),
    (PAIR, "[1]", "Tuple(Discrete(3), Discrete(2)): expected a list of 2, got [1]"),
    (PAIR, '{"0":1}', "Tuple(Discrete(3), Discrete(2)): expected a list of 2, got {'0': 1}"),
    (Dict(a=Discrete(2)), "[1]", "Dict('a': Discrete(2)): expected an object with the keys ['a'], got [1]"),
    (
        Dict(a=Discrete(2)),
        '{"a":1,"b":2}',
        "Dict('a': Discrete(2)): expected an object with the keys ['a'], got {'a': 1, 'b': 2}",
    ),
    (Dict({1: Discrete(2)}), "[1,2]", "Dict(1: Discrete(2)): expected an object with the keys [1], got [1, 2]"),
    (Sequence(Discrete(2)), "3", "Sequence(Discrete(2), stack=False): expected a list, got 3"),
    (Sequence(Text(2), stack=True), "3", f"{Text(2)!r}: expected a list of values, got 3"),
    (
        Sequence(Box(0, 1, (2,)), stack=True),
        "[[],[]]",
        "Box(0.0, 1.0, (2,), float32): expected shape (2, 2), got (2, 0)",
    ),
    (Sequence(Box(0, 1, (2,)), stack=True), "1", "Box(0.0, 1.0, (2,), float32): expected shape (-1, 2), got ()"),
    (GRAPH, "[]", "Graph(Discrete(3), None): expected an object with nodes, or nodes, edges and edge_links, got []"),
    (
        GRAPH,
        '{"nodes":[1],"edges":[1]}',
        "Graph(Discrete(3), None): expected an object with nodes, or nodes, edges and edge_links, "
        "got {'nodes': [1], 'edges': [1]}",
    ),
    (GRAPH, '{"nodes":[1],"edges":[1],"edge_links":[[0,0]]}', "Graph(Discrete(3), None): expected no edges, got [1]"),
    (EITHER, "[2,0]", "OneOf(Discrete(3), Discrete(2)): expected a list of 0 to 1 and a value, got [2, 0]"),
    (EITHER, "[true,0]", "OneOf(Discrete(3), Discrete(2)): expected a list of 0 to 1 and a value, got [True, 0]"),
]


@pytest.mark.parametrize(("space", "text", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_what_is_no_value_is_refused_in_words(space, text, message):
    with says(CodecError, message):
        loads(space, text)


@pytest.mark.parametrize(
    ("space", "data", "message"),
    [
        (Box(0, 1, (2,)), b"1234", "Box(0.0, 1.0, (2,), float32): expected 8 bytes a value, got 4"),
        (
            Sequence(Box(0, 1, (2,)), stack=True),
            b"1234",
            "Box(0.0, 1.0, (2,), float32): expected 8 bytes a value, got 4",
        ),
        (Sequence(Box(0, 1, (0,)), stack=True), b"", "Box([], [], (0,), float32): expected 0 bytes a value, got 0"),
    ],
)
def test_bytes_of_another_length_are_refused(space, data, message):
    with says(CodecError, message):
        loads(space, msgspec.msgpack.encode(data), format="msgpack")


def test_what_is_out_of_bounds_is_refused_with_its_path():
    space = Dict(move=MultiDiscrete([4, 4]), note=Text(3, charset="ab"))
    with says(
        InvalidValue,
        "action[\"move\"][1]: expected Discrete(4), got 7; action[\"note\"][2]: expected one of 'ab', got '!'",
    ):
        loads(space, b'{"move":[1,7],"note":"ab!"}', name="action")


@pytest.mark.parametrize("data", [b"", b"{", b"[1,", b"nope", b"\xff\xff", '"\ud800"', b"[" * 100_000])
def test_what_is_no_json_is_refused(data):
    with pytest.raises(CodecError, match=r"^action: expected JSON, got "):
        loads(Discrete(3), data, name="action")


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x91" * 100_000])
def test_what_is_no_msgpack_is_refused(data):
    with pytest.raises(CodecError, match=r"^value: expected msgpack, got "):
        loads(Discrete(3), data, format="msgpack")


words = ["nodes", "edges", "edge_links", "a", "b", "x", "y", "z", "inner", "seen", "choice", "kind", "at", "text"]
plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 300),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(),
        st.text(max_size=4),
        st.binary(max_size=16),
        st.sampled_from(["NaN", "Infinity", "left", "red", 1e300, -0.0]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from(words) | st.text(max_size=3) | st.integers(0, 3), inner, max_size=4),
    ),
    max_leaves=8,
)


def only_refusals(space, data, format):
    """A value of the space comes out, or one of two errors; nothing else."""
    try:
        value = loads(space, data, format=format)
    except (CodecError, InvalidValue):
        return
    assert value in space


@every_space
@settings(max_examples=examples(20))
@given(data=st.data())
def test_nothing_strangers_send_gets_further_than_an_error(name, data):
    space = any_space(name, seed=0)
    message = data.draw(plain)
    only_refusals(space, data.draw(st.binary(max_size=24)), data.draw(st.sampled_from(["json", "msgpack"])))
    only_refusals(space, msgspec.msgpack.encode(message), "msgpack")
    only_refusals(space, json.dumps([_textual(message), 10**30]), "json")
    only_refusals(space, json.dumps(_textual(message)), "json")


def _textual(value):
    """As JSON would have it."""
    if isinstance(value, dict):
        return {str(key): _textual(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_textual(one) for one in value]
    return value.hex() if isinstance(value, bytes) else value


@every_space
@settings(max_examples=examples(20))
@given(data=st.data())
def test_a_good_message_with_one_part_changed_is_a_value_or_refused(name, data):
    space = any_space(name, seed=data.draw(st.integers(0, 99)))
    binary = data.draw(st.booleans())
    coded = msgspec.msgpack.decode(msgspec.msgpack.encode(space.encode(space.sample(), binary=binary)))
    changed = _mutated(coded, data)
    only_refusals(space, msgspec.msgpack.encode(changed), "msgpack")
    if not binary:
        only_refusals(space, json.dumps(_textual(changed)), "json")


def _mutated(value, data):
    if isinstance(value, list) and value and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], _mutated(value[at], data), *value[at + 1 :]]
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value, key=str)))
        return {**value, key: _mutated(value[key], data)}
    if isinstance(value, bytes) and data.draw(st.booleans()):
        return bytes(data.draw(st.lists(st.integers(0, 255), min_size=len(value), max_size=len(value))))
    return data.draw(plain)


def test_the_default_of_a_custom_space_writes_its_values_as_they_are():
    space = Even()
    assert dumps(space, 4) == b"4"
    assert loads(space, b"4") == 4
    with says(InvalidValue, "value: expected Even(top=100), got 3"):
        loads(space, b"3")
    assert Space.json_schema(space) == {"title": "Even"}


def test_edges_survive_with_their_links():
    space = Graph(Box(0, 1, (1,)), Text(2, charset="ab"))
    value = GraphInstance(np.zeros((2, 1), np.float32), ("a", "bb"), np.array([[0, 1], [1, 1]], np.int32))
    for kind in ("json", "msgpack"):
        assert same(loads(space, dumps(space, value, format=kind), format=kind), value)
