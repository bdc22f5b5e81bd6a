"""Frames: what was written is read, and nothing else is."""

import pickle
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.errors import CodecError, InvalidArgument
from ludus.wire import FrameLimits, check_frame, payload_length, read_frame, write_frame
from ludus.wire.messages import (
    Reply,
    Request,
    StepReply,
)

LIMITS = FrameLimits()
ANYTHING = msgspec.msgpack.Decoder()
REPLIES = msgspec.msgpack.Decoder(Reply)

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=40,
)


def payload(message) -> bytes:
    return bytes(write_frame(message, LIMITS))[4:]


@given(plain)
def test_what_was_written_is_measured_whole_and_read(data):
    frame = bytes(write_frame(data, LIMITS))
    assert payload_length(frame, LIMITS) == len(frame) - 4
    assert msgspec.msgpack.encode(read_frame(frame[4:], ANYTHING, LIMITS)) == frame[4:]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_codec_error(data):
    with suppress(CodecError):
        read_frame(data, REPLIES, LIMITS)


@given(plain, st.data())
def test_a_frame_that_is_cut_or_longer_is_refused(message, data):
    whole = payload(message)
    with pytest.raises(CodecError):
        check_frame(whole[: data.draw(st.integers(0, len(whole) - 1))], LIMITS)
    with pytest.raises(CodecError):
        check_frame(whole + b"\xc0", LIMITS)


def is_measured(data):
    try:
        check_frame(data, LIMITS)
    except CodecError:
        return False
    return True


def is_read(data):
    try:
        ANYTHING.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def test_every_first_byte_is_measured_as_msgspec_reads_it():
    # Enough zeros for any fixed size; lengths of zero for the others.
    frames = [bytes([byte]) + b"\0" * length for byte in range(256) for length in range(40)]
    assert [data for data in frames if is_read(data) and not is_measured(data)] == []


def test_depth_is_limited_before_anything_is_built():
    check_frame(b"\x91" * 32 + b"\xc0", LIMITS)
    with pytest.raises(CodecError, match="at most 32 levels"):
        check_frame(b"\x91" * 33 + b"\xc0", LIMITS)
    with pytest.raises(CodecError, match="at most 32 levels"):
        read_frame(b"\x91" * 1_000_000 + b"\xc0", ANYTHING, LIMITS)


@pytest.mark.parametrize("start", [b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdc\xff\xff" * 20])
def test_an_announcement_of_many_values_is_refused_at_once(start):
    with pytest.raises(CodecError, match=r"values, got|more values"):
        check_frame(start + b"\x90" * 1000, LIMITS)


def test_many_small_containers_are_counted():
    many = payload([[]] * 2000)
    with pytest.raises(CodecError, match="at most 1000 values"):
        check_frame(many, FrameLimits(items=1000))


def test_an_array_of_bytes_is_one_value_however_large():
    check_frame(payload(bytes(10_000_000)), FrameLimits(items=1))


def test_a_frame_that_is_too_large_is_neither_written_nor_read():
    small = FrameLimits(size=100)
    with pytest.raises(CodecError, match="at most 100 bytes, got"):
        write_frame(bytes(101), small)
    with pytest.raises(CodecError, match="1 to 100 bytes"):
        payload_length(b"\0\0\0\x65", small)
    with pytest.raises(CodecError, match="announcement of 0"):
        payload_length(b"\0\0\0\0", small)


@pytest.mark.parametrize("value", [object(), 1 << 70, "\ud800", {1, 2j}])
def test_what_is_no_plain_data_is_not_written(value):
    with pytest.raises(CodecError, match="expected plain data"):
        write_frame([1, value], LIMITS)


@pytest.mark.parametrize("name", ["size", "depth", "items"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, 1 << 32])
def test_limits_are_whole_numbers(name, value):
    with pytest.raises(InvalidArgument, match=name):
        FrameLimits(**{name: value})


@pytest.mark.parametrize(
    "fields",
    [
        [1, b"x", True, False, False, {}],  # a bool for a reward
        [1, b"x", 1.0, 0, False, {}],  # a number for a flag
        [1, b"x", 1.0, False, False, {}, 5],  # a field too many
        [1, b"x", 1.0, False],  # too few
        [1, b"x", 1.0, False, False, {1: 2}],  # a key that is no text
        [1, b"x", "1", False, False, {}],
        [1, b"x", 1.0, False, False, []],
        [77, b"x"],  # a kind that there is not
        {"observation": b""},
        5,
        [],
    ],
)
def test_messages_are_typed(fields):
    with pytest.raises(CodecError, match="expected a message"):
        read_frame(payload(fields), REPLIES, LIMITS)


def test_a_message_is_an_array_of_its_kind_and_fields():
    assert payload(StepReply(b"ab", 1.0, False, True, {})) == b"\x96\x01\xc4\x02ab\xcb?\xf0\0\0\0\0\0\0\xc2\xc3\x80"


def test_requests_and_replies_have_numbers_of_their_own():
    for union in (Request, Reply):
        tags = [kind.__struct_config__.tag for kind in union.__args__]
        assert len(set(tags)) == len(tags)


def test_pickles_are_never_read():
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was read",)

    data = pickle.dumps(Trap())
    with pytest.raises(CodecError):
        read_frame(data, REPLIES, LIMITS)
    assert read_frame(payload([3, data]), REPLIES, LIMITS).value == data
