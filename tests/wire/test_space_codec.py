"""Spaces and their values on the wire: every kind there and back, and lies found out."""

import dataclasses
from contextlib import suppress

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus import spaces
from ludus.errors import CodecError, InvalidValue
from ludus.spaces import Box, Dict, Discrete, Graph, MultiBinary, Record, Sequence, Space, Text, Tuple, describe
from ludus.wire import FrameLimits, SpaceCodec, check_frame, read_space, write_space
from tests.sampling import examples
from tests.spaces.cases import CASES
from tests.spaces.values import garbage, same, samples


def travelled(data):
    packed = msgspec.msgpack.encode(data)
    check_frame(packed, FrameLimits())
    return msgspec.msgpack.decode(packed)


@pytest.mark.parametrize("name", CASES)
def test_every_space_is_described_and_read(name):
    space = CASES[name](spaces)
    assert read_space(travelled(write_space(space))) == space


@pytest.mark.parametrize("name", CASES)
def test_values_of_every_space_come_out_as_they_went_in(name):
    space, values = samples(name, 8)
    codec = SpaceCodec(space)
    for value in values:
        assert same(codec.read(travelled(codec.write(value))), value)
        assert same(codec.take(travelled(codec.write(value))), value)


@pytest.mark.parametrize("name", CASES)
def test_batches_of_every_space_come_out_as_they_went_in(name):
    space, values = samples(name, 3)
    batch = space.concatenate(values, space.empty(3))
    codec = SpaceCodec(space.batch(3))
    assert same(codec.read(travelled(codec.write(batch))), batch)


def test_an_array_of_its_space_is_its_bytes_alone():
    value = np.arange(4, dtype=np.float32)
    assert SpaceCodec(Box(0, 9, (4,))).write(value) == value.tobytes()


def test_a_value_that_only_nearly_fits_keeps_its_own_dtype():
    codec = SpaceCodec(Box(0, 9, (2,), np.float64))
    found = codec.read(travelled(codec.write(np.ones(2, np.float32))))
    assert found.dtype == np.float32
    assert codec.take(travelled(codec.write([1, 2]))) == [1, 2]


def test_numbers_keep_their_type():
    codec = SpaceCodec(Discrete(5))
    assert type(codec.read(travelled(codec.write(3)))) is int
    assert type(codec.read(travelled(codec.write(np.int64(3))))) is np.int64


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (Box(0, 1, (2,)), np.array([0, 2], np.float32)),
        (Box(-np.inf, np.inf, (2,)), np.array([0, np.nan], np.float32)),
        (Box(0, 1, (2,)), np.zeros(3, np.float32)),
        (Box(0, 1, (2,)), np.zeros(2, np.float64)),
        (Box(0, 9, (2,), np.int8), np.array([0, 10], np.int8)),
        (Discrete(2), 2),
        (Discrete(2), "0"),
        (MultiBinary(2), np.array([0, 2], np.int8)),
        (Text(2), "abc"),
        (Dict(a=Discrete(2)), {"a": 1, "b": 1}),
        (Dict(a=Discrete(2)), {"a": 5}),
        (Tuple((Discrete(2),)), (1, 1)),
        (Sequence(Discrete(2)), (0, 2)),
    ],
)
def test_a_value_that_is_not_in_the_space_is_refused(space, value):
    codec = SpaceCodec(space, "observation")
    data = travelled(codec.write(value))
    with pytest.raises(InvalidValue, match="observation"):
        codec.read(data)


def test_the_wrong_number_of_bytes_is_refused():
    codec = SpaceCodec(Box(0, 1, (2,)))
    for data in (b"", b"\0" * 7, b"\0" * 9):
        with pytest.raises(CodecError, match="expected 8 bytes"):
            codec.read(data)


def test_bytes_that_are_no_bools_are_refused():
    codec = SpaceCodec(Box(0, 1, (3,), np.bool_))
    assert codec.read(b"\0\1\0").tolist() == [False, True, False]
    with pytest.raises(CodecError, match="0 and 1"):
        codec.read(b"\0\2\0")


def test_the_mask_that_is_kept_does_not_leak_into_results():
    codec = SpaceCodec(Box(0, 1, (2,)))
    good, bad = np.array([1, 0], np.float32).tobytes(), np.array([1, 5], np.float32).tobytes()
    for _ in range(3):
        assert codec.read(good).tolist() == [1, 0]
        with pytest.raises(InvalidValue):
            codec.read(bad)


def test_records_are_written_by_their_fields():
    @dataclasses.dataclass
    class Move:
        steps: int
        name: str

    space = Record(Move)
    there = read_space(travelled(write_space(space)))
    found = SpaceCodec(there).read(travelled(SpaceCodec(space).write(Move(3, "north"))))
    assert (found.steps, found.name) == (3, "north")
    with pytest.raises(InvalidValue):
        SpaceCodec(space).write("no move")
    for data in ({"steps": 1}, [1], {"steps": "x", "name": "y"}, None):
        with pytest.raises((CodecError, InvalidValue)):
            SpaceCodec(there).read(data)


@settings(max_examples=examples(300))
@given(name=st.sampled_from(sorted(CASES)), data=garbage)
def test_any_value_is_written_or_refused_and_read_or_refused(name, data):
    codec = SpaceCodec(CASES[name](spaces))
    try:
        packed = msgspec.msgpack.encode(codec.write(data))
    except (CodecError, InvalidValue, UnicodeEncodeError):
        return
    with suppress(CodecError, InvalidValue):
        codec.read(msgspec.msgpack.decode(packed))


@settings(max_examples=examples(300))
@given(name=st.sampled_from(sorted(CASES)), data=st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(name, data):
    codec = SpaceCodec(CASES[name](spaces))
    try:
        found = msgspec.msgpack.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = data
    with suppress(CodecError, InvalidValue):
        codec.read(found)


# --- descriptions from strangers ---

MANY = [[f"f{number}", ["bool", {"$space": describe(Discrete(2))}]] for number in range(2000)]
KEYS = ("type", "low", "high", "shape", "dtype", "n", "spaces", "$space", "$tuple", "node_space", "name", "fields")
huge = {"type": "Box", "low": 0, "high": 1, "dtype": "int8"}


def nested(kind, depth):
    data = describe(Discrete(2))
    for _ in range(depth):
        data = (
            {"type": kind, "node_space": {"$space": data}, "edge_space": None}
            if kind == "Graph"
            else {"type": kind, "space": {"$space": data}, "stack": True}
        )
    return data


@pytest.mark.parametrize(
    "data",
    [
        huge | {"shape": [2**30]},
        huge | {"shape": [2**40, 0, 2**40]} | {"low": {"$array": [], "dtype": "int8", "shape": [2**40, 2**40]}},
        huge | {"shape": {"$tuple": [2**14, 2**14]}},
        huge | {"shape": {"$array": b"\0" * 8, "dtype": "int64", "shape": [1]}},
        huge | {"shape": [-5]},
        huge | {"shape": [1.5]},
        huge | {"shape": "4"},
        {"type": "MultiBinary", "n": 10**12},
        {"type": "MultiBinary", "n": {"$tuple": [2**20, 2**20]}},
        {"type": "MultiBinary", "n": {"$scalar": {"$array": 5, "dtype": "int64", "shape": []}}},
        {"type": "Text", "max_length": 10**12, "min_length": 10**12, "charset": "a"},
        {"type": "Tuple", "spaces": [{"$space": huge | {"shape": [2**20]}}] * 80},
        nested("Graph", 13),
        nested("Sequence", 40),
        {"type": "Record", "name": "R", "fields": MANY},
        {"type": "ludus.core.env:Env"},
        {"type": "os:system", "command": "true"},
        {"type": "Space"},
        {"type": 5},
        {"type": "Discrete", "n": "x"},
        {"type": "Discrete", "n": 2, "more": 1},
        {"type": "Box", "low": 0, "high": 1, "shape": [1], "dtype": "O"},
        {"type": "Box", "low": 0, "high": 1, "shape": [1], "dtype": "f4,f4"},
        {
            "type": "Box",
            "low": {"$array": [1, 2], "dtype": "object", "shape": [7]},
            "high": 1,
            "shape": [2],
            "dtype": "f4",
        },
        None,
        [],
        {},
    ],
)
def test_a_description_that_asks_for_too_much_or_makes_no_sense_is_refused(data):
    with pytest.raises(CodecError):
        read_space(data)


def test_graphs_inside_graphs_are_weighed_with_their_copies():
    read_space(nested("Graph", 8))
    inner = {"type": "Graph", "node_space": {"$space": huge | {"shape": [2**20]}}, "edge_space": None}
    for _ in range(5):
        inner = {"type": "Graph", "node_space": {"$space": inner}, "edge_space": None}
    with pytest.raises(CodecError, match="at most"):
        read_space(inner)


class Even(Space[int]):
    def __init__(self, top=8, seed=None):
        self.top = top
        super().__init__(seed=seed)

    def sample(self, mask=None, probability=None):
        return 2 * int(self.np_random.integers(self.top))

    def contains(self, x):
        return isinstance(x, int) and x % 2 == 0


def test_custom_spaces_are_built_only_where_they_are_named():
    data = travelled(write_space(Even(4)))
    with pytest.raises(CodecError, match=r"custom space.*name its class in `spaces`"):
        read_space(data)
    assert read_space(data, known=[Even]) == Even(4)
    assert SpaceCodec(Even()).read(SpaceCodec(Even()).write(6)) == 6


@given(
    st.recursive(
        st.none() | st.integers(-3, 2**40) | st.text(max_size=3) | st.sampled_from(["Box", "Graph", "float32", "int8"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "low",
                        "high",
                        "shape",
                        "dtype",
                        "n",
                        "spaces",
                        "$space",
                        "$tuple",
                        "node_space",
                        "name",
                        "fields",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=15,
    )
)
def test_any_description_is_a_space_or_a_codec_error(data):
    with suppress(CodecError):
        read_space(data)


def test_a_graph_space_of_nothing_but_ludus_types_is_read():
    space = Graph(Box(0, 1, (2,)), None)
    assert read_space(travelled(write_space(space))) == space
