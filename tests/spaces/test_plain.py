"""Plain data: what travels comes out as it went in, type for type; what is no data is named."""

import enum
from collections import OrderedDict, namedtuple
from contextlib import suppress

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ludus.errors import CodecError
from ludus.spaces.description import SPEC_JSON
from ludus.spaces.plain import BINARY, JSON, decode_value, encode_value
from ludus.wire import FrameLimits, check_frame
from tests.spaces.values import garbage, same

dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness="="),
    hnp.floating_dtypes(endianness="="),
    hnp.complex_number_dtypes(sizes=(64, 128), endianness="="),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, min_side=0, max_side=3))
scalars = arrays.filter(lambda array: array.shape == ()).map(lambda array: array[()]) | st.integers(-9, 9).map(np.int64)
text = st.text(st.characters(codec="utf8"), max_size=4)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), text, st.binary(), arrays, scalars)
keys = st.one_of(text, st.integers(-9, 9), st.just("$array"), st.none())
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


def sent(value):
    data = msgspec.msgpack.encode(encode_value(value))
    check_frame(data, FrameLimits())
    return decode_value(msgspec.msgpack.decode(data))


@given(values)
def test_what_travels_comes_out_the_same(value):
    assert same(sent(value), value)


@pytest.mark.parametrize("value", [{1, 2}, {"a"}, {(1, "a")}, set(), 10**40, -(10**40), np.longdouble(1) / 3])
def test_sets_and_large_numbers_travel(value):
    assert same(sent(value), value)


def test_kinds_of_plain_types_come_out_plain():
    pair = namedtuple("pair", "a b")
    number = enum.IntEnum("number", "one two")
    value = {
        "pair": pair(1, 2),
        "enum": number.two,
        "order": OrderedDict(a=1),
        "text": np.str_("x"),
        "view": bytearray(b"y"),
    }
    assert sent(value) == {"pair": (1, 2), "enum": 2, "order": {"a": 1}, "text": "x", "view": b"y"}
    assert [type(one) for one in sent(value).values()] == [tuple, int, dict, str, bytes]


def test_arrays_are_the_callers_own_and_contiguous():
    base = np.arange(12).reshape(3, 4)
    for array in (base.T, base[::2, ::-1], base.astype(">i4")):
        found = sent(array)
        assert np.array_equal(found, array)
        assert found.dtype.isnative
        found[...] = 0  # it may be written to


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1, print]}, r"options\['a'\]\[1\]"),
        ({"a": (object(),)}, r"options\['a'\]\[0\]"),
        (np.array(["a"]), "options.*dtype <U1"),
        (np.array([{}]), "options.*dtype object"),
        (np.datetime64("2020"), "options"),
        (np.zeros(1, [("a", int)]), "options"),
        ({"x": 1j}, r"options\['x'\]"),
    ],
)
def test_what_cannot_travel_is_named(value, where):
    with pytest.raises(CodecError, match=where):
        encode_value(value, "options")


def test_depth_is_limited_both_ways():
    value: list = []
    value.append(value)
    with pytest.raises(CodecError, match="at most 24 levels"):
        encode_value(value)
    data: list = []
    for _ in range(30):
        data = [data]
    with pytest.raises(CodecError, match="at most 24 levels"):
        decode_value(data)


def test_the_deepest_value_fits_a_frame_with_room_for_its_message():
    value = 1
    for _ in range(12):
        value = (value,)  # two levels each
    check_frame(msgspec.msgpack.encode([1, [[0, {"info": encode_value(value)}]]]), FrameLimits())


class Trap:
    def __reduce__(self):
        return pytest.fail, ("a pickle was read",)


@pytest.mark.parametrize(
    "data",
    [
        {"$object": "os:system"},
        {"$array": b"", "dtype": "object", "shape": [0]},
        {"$array": b"\0" * 8, "dtype": "O", "shape": [1]},
        {"$array": b"\0" * 8, "dtype": "float64", "shape": [2]},
        {"$array": b"\0" * 8, "dtype": "float64", "shape": [-1]},
        {"$array": b"\0" * 8, "dtype": "float64", "shape": [True]},
        {"$array": b"\0" * 8, "dtype": "float64", "shape": 1},
        {"$array": b"\0" * 8, "dtype": "float64", "shape": [1] * 40},
        {"$array": b"", "dtype": "float64", "shape": [0, 2**62]},
        {"$array": b"", "dtype": "float64", "shape": [0, 10**30]},
        {"$array": [0.0], "dtype": "float64", "shape": [1]},
        {"$array": b"\2", "dtype": "bool", "shape": [1]},
        {"$array": b"\0\2\0", "dtype": "bool", "shape": [3]},
        {"$array": b"\0" * 8, "dtype": "float64"},
        {"$array": b"\0" * 8, "dtype": "float64", "shape": [1], "more": 1},
        {"$array": b"\0" * 8, "dtype": ["float64"], "shape": [1]},
        {"$scalar": b"\0" * 7, "dtype": "float64"},
        {"$tuple": 5},
        {"$set": [[]]},
        {"$set": list(range(5000))},
        {"$dict": [[1]]},
        {"$dict": [[[], 1]]},
        {"$dict": {}},
        {"$int": "zz"},
        {"$int": 5},
        {"$int": "f" * 70_000},
        {"a": 1, "$b": 2},
        {1: 2},
        msgspec.msgpack.Ext(5, b"x"),
        [Trap()],
    ],
)
def test_nonsense_is_a_codec_error(data):
    with pytest.raises(CodecError):
        decode_value(data)


@given(garbage)
def test_whatever_is_given_is_encoded_or_refused(value):
    try:
        encoded = encode_value(value)
        data = msgspec.msgpack.encode(encoded)
    except (CodecError, UnicodeEncodeError):
        return
    decode_value(msgspec.msgpack.decode(data))


@given(st.binary(max_size=300))
def test_whatever_arrives_is_decoded_or_refused(data):
    try:
        found = msgspec.msgpack.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    with suppress(CodecError):
        decode_value(found)


tags = st.sampled_from(["$array", "$scalar", "$tuple", "$set", "$dict", "$int", "$x", "dtype", "shape", "a"])
crafted = st.recursive(
    st.one_of(
        st.none(),
        st.integers(-3, 2**70),
        st.floats(),
        st.binary(max_size=17),
        st.sampled_from(["float64", "bool", "f"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(tags, inner, max_size=3),
    max_leaves=12,
)


@given(crafted)
def test_whatever_is_crafted_is_decoded_or_refused(data):
    with suppress(CodecError):
        decode_value(data)


# --- dialects ---


def is_complex(value):
    if isinstance(value, dict):
        return any(map(is_complex, [*value, *value.values()]))
    if isinstance(value, list | tuple):
        return any(map(is_complex, value))
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "c"


@given(values)
def test_what_is_written_as_json_comes_out_the_same(value):
    assume(not is_complex(value))
    assert same(JSON.read(msgspec.json.decode(msgspec.json.encode(JSON.write(value)))), value)


@pytest.mark.parametrize("dialect", [BINARY, JSON])
@pytest.mark.parametrize("data", [{"$space": {"type": "Discrete", "n": 2}}, {"$dtype": "float32"}])
def test_no_space_and_no_dtype_is_read_where_there_are_to_be_none(dialect, data):
    with pytest.raises(CodecError, match="expected one of the tags"):
        dialect.read(data)
    SPEC_JSON.read(data)
    with pytest.raises(CodecError, match="expected numbers"):
        dialect.write({"x": [SPEC_JSON.read(data)]})


def test_one_dialect_does_not_read_the_others_numbers():
    array = np.arange(2.0)
    for ours, theirs in ((BINARY, JSON), (JSON, BINARY)):
        with pytest.raises(CodecError):
            ours.read(theirs.write(array))
    with pytest.raises(CodecError, match="plain data, got a bytes"):
        JSON.read([b"raw"])


@pytest.mark.parametrize("dialect", [BINARY, JSON])
def test_what_could_not_be_read_is_not_written(dialect):
    with pytest.raises(CodecError, match="at most 4096 entries"):
        dialect.write({"a": set(range(5000))})
    with pytest.raises(CodecError, match="at most 4096 entries"):
        dialect.write(dict.fromkeys(range(5000)))
    with pytest.raises(CodecError, match="hexadecimal digits"):
        BINARY.write(1 << 300_000)


def test_the_order_of_an_object_means_nothing():
    data = {"shape": [2], "dtype": "int8", "$array": [1, 2]}
    assert same(JSON.read(data), np.array([1, 2], np.int8))


@given(crafted | garbage)
def test_whatever_is_crafted_is_json_or_refused(data):
    for dialect in (JSON, SPEC_JSON):
        with suppress(CodecError):
            dialect.read(data)


def test_a_value_that_is_part_of_something_larger_is_written_no_deeper_than_it_can_be_read():
    value = 1
    for _ in range(21):
        value = [value]
    assert JSON.write(value) == value
    with pytest.raises(CodecError, match="at most 24 levels"):
        JSON.write(value, around=4)
