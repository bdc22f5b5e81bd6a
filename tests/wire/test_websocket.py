"""The short way through WebSocket frames agrees with the library, wherever a connection's bytes are cut."""

from random import Random

import pytest
from websockets.frames import Frame, Opcode

from ludus.wire.frame_mask import apply_mask
from ludus.wire.websocket import Splitter, binary_frame, frame_head

MOST = 1 << 20
SIZES = (0, 1, 125, 126, 127, 65_535, 65_536, 70_000)


def frames(rng, masked):
    """Frames of every kind, as the library writes them, with the messages that the short way takes."""
    written, short = [], []
    for size in (*SIZES, *(rng.randrange(300) for _ in range(40))):
        data, kind = rng.randbytes(size), rng.randrange(6)
        if kind < 3:
            written.append(Frame(Opcode.BINARY, data).serialize(mask=masked))
            short.append(data)
        elif kind == 3:
            written.append(Frame(rng.choice([Opcode.PING, Opcode.PONG]), data[:100]).serialize(mask=masked))
        elif kind == 4:
            written.append(Frame(Opcode.TEXT, b"text").serialize(mask=masked))
        else:
            written.append(Frame(Opcode.BINARY, data, fin=False).serialize(mask=masked))
            written.append(Frame(Opcode.PING, b"").serialize(mask=masked))
            written.append(Frame(Opcode.CONT, data, fin=True).serialize(mask=masked))
    return b"".join(written), short


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_messages_and_the_rest_come_out_whole_and_in_order(seed, masked):
    rng = Random(seed)
    stream, short = frames(rng, masked)
    splitter, messages, others, at = Splitter(MOST, apply_mask if masked else None), [], b"", 0
    while at < len(stream):
        size = rng.choice([1, 2, 3, 7, 100, 5_000, 80_000])
        for message, other in splitter.split(stream[at : at + size]):
            messages += [] if message is None else [message]
            others += other
        at += size
    assert all(one in short for one in messages)
    taken = sum(len(frame_head(len(one))) + 4 * masked + len(one) for one in messages)
    assert len(others) + taken == len(stream)


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_message_at_once_takes_the_short_way(size):
    data = Random(size).randbytes(size)
    assert binary_frame(data) == Frame(Opcode.BINARY, data).serialize(mask=False)
    assert Splitter(MOST).split(binary_frame(data)) == [(data, b"")]
    masked = binary_frame(data, b"keys", apply_mask)
    assert Splitter(MOST, apply_mask).split(masked) == [(data, b"")]


def test_what_is_too_large_or_masked_the_wrong_way_is_the_librarys():
    large = binary_frame(b"x" * 300)
    assert Splitter(299).split(large) == [(None, large)]
    assert Splitter(MOST).split(binary_frame(b"x", b"keys", apply_mask))[0][0] is None
    assert Splitter(MOST, apply_mask).split(binary_frame(b"x"))[0][0] is None
