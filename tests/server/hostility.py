"""Messages that nobody should send: mutated, cut short, of wrong types, deep, vast, under wrong numbers. Seeded."""

import struct
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import zstandard

from ludus.wire.messages import (
    BatchResetRequest,
    BatchStepRequest,
    CancelRequest,
    CloseRequest,
    ForkRequest,
    HelloRequest,
    NumberedRequest,
    RenderRequest,
    ResetRequest,
    RestoreRequest,
    SnapshotRequest,
    StateRequest,
    StepRequest,
    write_message,
)

__all__ = ["Hostility"]

NUMBERS: list[Any] = [0, 1, 2, -1, 63, 64, 65, 1 << 31, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, 1.5, "1", None, True]
LEAVES: list[Any] = [
    *(None, True, 0, 1, -1, 1 << 62, (1 << 64) - 1, 0.0, -0.0, 1e308, float("nan"), float("inf"), float("-inf")),
    *("", "x", "\0", "$array", "x" * 1000, b"", b"\0", b"\1" * 16, bytes(64), [], {}, [[]], {"": 0}),
    *({"$int": "f" * 66_000}, {"$int": "zz"}, {"$int": "-7"}, {"$tuple": [1]}, {"$tuple": 1}, {"$set": [[1]]}),
    *({"$set": list(range(5000))}, {"$dict": [[1, 2]]}, {"$dict": [[[], 2]]}, {"$dict": 5}, {"$scalar": b"\0"}),
    {"$scalar": bytes(8), "dtype": "int64"},
    {"$array": bytes(8), "dtype": "float32", "shape": [2]},
    {"$array": bytes(8), "dtype": "float32", "shape": [1 << 40, 0]},
    {"$array": bytes(8), "dtype": "float32", "shape": [-1]},
    {"$array": b"\7", "dtype": "bool", "shape": [1]},
    {"$array": b"", "dtype": "object", "shape": [0]},
    {"$png": b"\x89PNG\r\n\x1a\n", "shape": [1, 1]},
    {"$object": "os.system"},
    {"message": "hello"},
    {"message": 7},
    msgspec.msgpack.Ext(1, b"x"),
    msgspec.msgpack.Ext(-1, b"\0\0\0\0"),
]
VAST = [
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"),
    *(b"\xc9\xff\xff\xff\xff\x01", b"\x94\x01\x92\x01\xdd\x0f\xff\xff\xff", b"\x94\x01\x92\x01\xdf\x00\x10\x00\x00"),
    *(b"\xc1", b"", b"\x94", b"\x90", b"\x80", b"\xc0", b"\x94\x01\x92\x01\x00\xc0\x00\x00"),
]
BOMBS = [
    zstandard.ZstdCompressor(level=3).compress(bytes(1 << 25)),
    zstandard.ZstdCompressor(level=3).compress(b"\x91" * 100_000),
    zstandard.ZstdCompressor(level=3, write_content_size=False).compress(bytes(5000)),
    zstandard.ZstdCompressor(level=3).compress(b"\xdc\x13\x88" + bytes(5000)),
]


class Hostility:
    """An endless source of such messages; `number` is what the server expects next."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self._ways: list[Callable[[int], bytes]] = [
            *([self._sound] * 4),
            *([self._mutated] * 5),
            *(self._cut, self._noise, self._deep, self._vast, self._bomb, self._odd_number, self._odd_time),
            *([self._shaped] * 3),
            *([self._typed] * 5),
        ]

    def message(self, number: int) -> bytes:
        """The next one."""
        return self.rng.choice(self._ways)(number)

    def hello(self, sessions: list[str]) -> bytes:
        """A first message that may well be refused."""
        rng = self.rng
        pick = rng.random()
        if pick < 0.2:
            return self._torn(write_message(NumberedRequest(0, HelloRequest())))
        if pick < 0.3:
            return self.message(0)
        if pick < 0.6:
            fields = [20, 1, *(self._data(2) for _ in range(rng.randint(0, 8)))]
            return self._packed([0, fields])
        if pick < 0.7:
            arguments = {rng.choice(["isolation", "size", "render_mode", "self", "$x", "a b"]): self._data(1)}
            return self._packed([0, [20, 1, "", "", rng.choice([0, 2, -1, 1 << 60]), "NextStep", arguments]])
        return write_message(
            NumberedRequest(0, HelloRequest(session=rng.choice([*sessions, "0.x", "x" * 999, "\0", "9.y"])))
        )

    # --- ways ---

    def _request(self) -> Any:
        rng = self.rng
        return rng.choice(
            [
                *(StepRequest(rng.randint(0, 1)), StepRequest(self._data(2)), ResetRequest(rng.randint(0, 9), None)),
                *(ResetRequest(self._data(2), self._data(2)), StateRequest(rng.random() < 0.5)),
                *(SnapshotRequest([rng.randint(-2, 9)]), RestoreRequest(rng.randint(-2, 9))),
                *(BatchStepRequest(self._data(1)), BatchStepRequest(bytes(8 * 4)), BatchResetRequest(1, None)),
                *(CancelRequest(rng.randint(-5, 1 << 40)), ForkRequest(rng.randint(-1, 3)), HelloRequest()),
                *([CloseRequest(), RenderRequest()] if rng.random() < 0.03 else []),
            ]
        )

    def _sound(self, number: int) -> bytes:
        return self._packed(
            NumberedRequest(number, self._request(), None, self.rng.choice([0, number - 1, number + 5, -3]))
        )

    def _mutated(self, number: int) -> bytes:
        return self._torn(self._sound(number))

    def _torn(self, data: bytes) -> bytes:
        torn = bytearray(data)
        for _ in range(self.rng.randint(1, 4)):
            if torn:
                torn[self.rng.randrange(len(torn))] = self.rng.choice([0, 1, 0x7F, 0x80, 0x90, 0xC0, 0xDD, 0xFF])
        return bytes(torn)

    def _cut(self, number: int) -> bytes:
        data = self._sound(number)
        return data[: self.rng.randrange(len(data))]

    def _noise(self, number: int) -> bytes:
        del number
        return self.rng.randbytes(self.rng.randint(0, 60))

    def _deep(self, number: int) -> bytes:
        depth = self.rng.choice([20, 31, 33, 100, 1000])
        byte = self.rng.choice([b"\x91", b"\x81\xa1x"])
        head = self.rng.choice([b"", b"\x92" + msgspec.msgpack.encode(number) + b"\x92\x01"])
        return head + byte * depth + b"\xc0"

    def _vast(self, number: int) -> bytes:
        del number
        return self.rng.choice(VAST)

    def _bomb(self, number: int) -> bytes:
        del number
        return self.rng.choice([*BOMBS, self._torn(BOMBS[1])]) if self.rng.random() < 0.3 else b"\x28\xb5\x2f\xfd"

    def _odd_number(self, number: int) -> bytes:
        del number
        return self._packed([self.rng.choice(NUMBERS), [1, 0], None, self.rng.choice(NUMBERS)])

    def _odd_time(self, number: int) -> bytes:
        seconds = self.rng.choice([float("nan"), float("inf"), -1.0, 1e308, 10**18, "soon", struct.pack(">d", 1.0)])
        return self._packed([number, [self.rng.choice([1, 2]), 0, None][: self.rng.randint(2, 3)], seconds])

    def _shaped(self, number: int) -> bytes:
        """Right around, and anything inside."""
        tag = self.rng.choice([*range(-1, 27), "1", None])
        return self._packed([number, [tag, *(self._data(3) for _ in range(self.rng.randint(0, 4)))]])

    def _typed(self, number: int) -> bytes:
        """The right number of fields, of any type."""
        tag, fields = self.rng.choice([(1, 1), (2, 2), (7, 1), (8, 1), (12, 1), (21, 1), (22, 1), (23, 1), (24, 2)])
        return self._packed([number, [tag, *(self._data(3) for _ in range(fields))]])

    def _data(self, depth: int) -> Any:
        rng = self.rng
        if depth == 0 or rng.random() < 0.6:
            return rng.choice(LEAVES)
        if rng.random() < 0.5:
            return [self._data(depth - 1) for _ in range(rng.randint(0, 3))]
        keys = ["low", "high", "seed", "reset_mask", "$array", "$tuple", "x", "", 1, None]
        return {rng.choice(keys): self._data(depth - 1) for _ in range(rng.randint(0, 3))}

    def _packed(self, data: Any) -> bytes:
        return msgspec.msgpack.encode(data)
