"""Compression: what is packed comes out, and what would unfold too far does not."""

import sys
import tracemalloc
from contextlib import suppress
from random import Random

import pytest
import zstandard

from ludus.errors import CodecError, InvalidArgument, MissingExtra
from ludus.wire import FrameLimits
from ludus.wire.compression import MARK, MIN_COMPRESSED_BYTES, Compression

LIMITS = FrameLimits(size=1 << 20)
BOMB = zstandard.ZstdCompressor(level=3).compress(bytes(1 << 25))


def test_small_messages_and_those_that_do_not_shrink_stay_as_they_are() -> None:
    both = Compression("zstd")
    noise = Random(0).randbytes(5000)
    assert both.pack(bytes(MIN_COMPRESSED_BYTES - 1)) == bytes(MIN_COMPRESSED_BYTES - 1)
    assert both.pack(noise) == noise
    assert both.unpack(noise, LIMITS) == noise


@pytest.mark.parametrize("size", [MIN_COMPRESSED_BYTES, 10_000, LIMITS.size])
def test_what_is_packed_comes_out(size: int) -> None:
    both = Compression("zstd")
    message = b"\x94" + (b"abcdefgh" * size)[: size - 1]
    packed = both.pack(message)
    assert packed[:4] == MARK
    assert len(packed) < size / 10
    assert both.unpack(packed, LIMITS) == message


def test_without_compression_nothing_is_touched() -> None:
    packed = Compression("zstd").pack(bytes(10_000))
    assert Compression().pack(bytes(10_000)) == bytes(10_000)
    assert Compression().unpack(packed, LIMITS) is packed


def test_a_bomb_is_refused_before_it_unfolds() -> None:
    assert len(BOMB) < 30_000
    both = Compression("zstd")
    tracemalloc.start()
    try:
        with pytest.raises(CodecError, match=f"expected 1 to {LIMITS.size} bytes inside, got an announcement of"):
            both.unpack(BOMB, LIMITS)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_size_that_is_not_announced_or_is_a_lie_is_refused() -> None:
    unknown = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(100_000))
    with pytest.raises(CodecError, match="got no announcement"):
        Compression("zstd").unpack(unknown, LIMITS)
    packed = bytearray(zstandard.ZstdCompressor(level=1).compress(bytes(300)))
    assert packed[4] & 0xC0 == 0x40  # two bytes of size, less 256
    packed[5:7] = (5000).to_bytes(2, "little")
    with pytest.raises(CodecError, match="expected zstd"):
        Compression("zstd").unpack(bytes(packed), LIMITS)
    packed[5:7] = (1).to_bytes(2, "little")
    with pytest.raises(CodecError, match="expected zstd"):
        Compression("zstd").unpack(bytes(packed), LIMITS)


def test_any_bytes_are_a_message_or_a_codec_error() -> None:
    rng, both = Random(1), Compression("zstd")
    good = both.pack(b"\x94" + b"some text, " * 400)
    for _ in range(3000):
        torn = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            torn[rng.randrange(len(torn))] = rng.randrange(256)
        data = bytes(torn[: rng.randint(0, len(torn))]) if rng.random() < 0.5 else bytes(torn) + rng.randbytes(2)
        with suppress(CodecError):
            assert len(both.unpack(data, LIMITS)) <= LIMITS.size


def test_what_is_unknown_or_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgument, match="expected one of none, zstd, got 'gzip'"):
        Compression("gzip")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"install it with `pip install zstandard`"):
        Compression("zstd")
