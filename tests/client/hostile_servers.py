"""Servers that nobody should trust: replies twisted on the way, bytes that are no WebSocket, odd JSON. Seeded."""

import base64
import hashlib
import json
import re
import socket
import struct
from contextlib import suppress
from random import Random
from threading import Thread
from typing import Any

import msgspec

LEAVES: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, 0.0, -1.5, 1e308),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "\0\x1b]0;title\x07", "x" * 5000, "../../etc/passwd"),
    *(b"", b"\0", bytes(8), bytes(64), [], {}, [[]], [None] * 40, {"": 0}, {"$tuple": [1]}, {"$tuple": 1}),
    *({"$int": "f" * 66_000}, {"$int": "zz"}, {"$set": [[1]]}, {"$dict": [[[], 2]]}, {"$method": True}),
    {"$array": bytes(8), "dtype": "float32", "shape": [2]},
    {"$array": bytes(8), "dtype": "float32", "shape": [1 << 40, 0]},
    {"$array": bytes(8), "dtype": "float64", "shape": [1 << 31, 1 << 31]},
    {"$array": b"", "dtype": "object", "shape": [0]},
    {"$scalar": bytes(8), "dtype": "int64"},
    {"$png": b"\x89PNG\r\n\x1a\n", "shape": [1, 1]},
    {"kind": "Discrete", "n": 1 << 62},
    {"kind": "Box", "low": -1.0, "high": 1.0, "shape": [1 << 20, 1 << 20], "dtype": "float32"},
    {"kind": "Text", "max_length": 1 << 60},
    {"kind": "MultiBinary", "n": 1 << 40},
    {"kind": "subprocess:Popen"},
    msgspec.msgpack.Ext(1, b"x"),
]
VAST = [
    *(b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc1", b""),
    *(b"\x92\x01\x92\x03\xdd\x0f\xff\xff\xff", b"\x92\x01" + b"\x91" * 3000 + b"\xc0", b"\x28\xb5\x2f\xfd"),
]
LARGEST_READ = 1 << 20
NO_HANDSHAKES = [
    *(b"", b"HTTP/1.1 999 x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nhello", b"HTTP/1.1 101 " + b"x" * 70_000),
    b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:9/\r\n\r\n",
    b"HTTP/1.1 101 x\r\n" + b"X: y\r\n" * 5000,
]
ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Twist:
    """Replies changed on the way, some and more of them."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.share = self.rng.choice([0.15, 0.5, 1.0])

    def message(self, data: bytes) -> bytes:
        """What arrives in place of a message."""
        rng = self.rng
        if rng.random() >= self.share:
            return data
        pick = rng.random()
        if pick < 0.6:
            return msgspec.msgpack.encode(self.changed(msgspec.msgpack.decode(data)))
        if pick < 0.75:
            return self.torn(data)
        if pick < 0.85:
            return data[: rng.randrange(len(data) + 1)]
        return rng.choice(VAST) if pick < 0.95 else rng.randbytes(rng.randint(0, 60))

    def torn(self, data: bytes) -> bytes:
        """With a few other bytes."""
        torn = bytearray(data)
        for _ in range(self.rng.randint(1, 4)):
            if torn:
                torn[self.rng.randrange(len(torn))] = self.rng.randrange(256)
        return bytes(torn)

    def changed(self, data: Any, deeper: float = 0.8) -> Any:
        """With another value somewhere: missing, odd, one more, or two that changed places."""
        rng = self.rng
        if isinstance(data, list) and data and rng.random() < deeper:
            kept: list[Any] = list(data)
            place = rng.randrange(len(kept))
            if rng.random() < 0.1:
                return kept[:place] if rng.random() < 0.5 else [*kept, rng.choice(LEAVES)]
            kept[place] = self.changed(kept[place])
            return kept
        if isinstance(data, dict) and data and rng.random() < deeper:
            key = rng.choice(list(data))
            if rng.random() < 0.15:
                return {one: value for one, value in data.items() if one != key}
            return data | {key: self.changed(data[key])}
        return rng.choice(LEAVES)


class TwistedConnection:
    """A connection to a real server, as a transport of `ludus.connect`, whose replies are twisted."""

    def __init__(self, real: Any, twist: Twist) -> None:
        self._real, self._twist = real, twist

    def send(self, data: bytes) -> None:
        """As it is."""
        self._real.send(data)

    def receive(self, seconds: float) -> bytes:
        """Twisted; some never arrive, and some connections end instead."""
        data = self._real.receive(seconds)
        if self._twist.rng.random() < 0.02 * self._twist.share:
            raise ConnectionResetError("the end")
        return self._twist.message(data)

    def close(self) -> None:
        """The real one."""
        self._real.close()


class ByteServer:
    """A listener on loopback that answers with bytes that are nearly, or not at all, what was asked for."""

    def __init__(self, seed: int) -> None:
        self.rng, self.twist = Random(seed), Twist(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> "ByteServer":
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._thread.join(60)

    def _run(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            link.settimeout(60)
            self._open.append(link)
            with suppress(OSError):
                self._answer(link)
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def _head(self, link: socket.socket) -> bytes:
        head = b""
        while b"\r\n\r\n" not in head and len(head) < LARGEST_READ:
            data = link.recv(4096)
            if not data:
                break
            head += data
        return head

    def _answer(self, link: socket.socket) -> None:
        raise NotImplementedError


class NoWebSocket(ByteServer):
    """Bytes in place of a handshake, or frames that are wrong after a good one."""

    def _answer(self, link: socket.socket) -> None:
        head, rng = self._head(link), self.rng
        key = re.search(rb"(?i)sec-websocket-key: *(\S+)", head)
        if key is None or rng.random() < 0.3:
            link.sendall(rng.choice([*NO_HANDSHAKES, rng.randbytes(99)]))
            return
        link.sendall(handshake(key[1]))
        for _ in range(rng.randint(1, 4)):
            link.recv(65536)
            link.sendall(self._frame())

    def _frame(self) -> bytes:
        rng, body = self.rng, self.rng.choice([*VAST, self.rng.randbytes(30), b"\x92\x00\x92\x06\xa1x"])
        pick = rng.random()
        if pick < 0.2:
            return rng.randbytes(rng.randint(1, 40))
        if pick < 0.4:  # says that it is vast, and is not
            return (
                bytes([0x82, 127])
                + struct.pack(">Q", rng.choice([1 << 28, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]))
                + body
            )
        if pick < 0.5:  # pieces that never end
            return bytes([0x02, len(body) & 63]) + body[:63] + b"\x00\x01x" * 200
        kind = rng.choice([0x82, 0x82, 0x81, 0x88, 0x89, 0x8A, 0x83, 0xC2, 0x80])
        return bytes([kind, min(len(body), 125)]) + body[:125]


OBSERVED = {"observation": {"hint": "x", "tries": 1}, "reward": 1.0, "done": False}
SCHEMA = {
    "action": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    "observation": {"type": "object", "properties": {"hint": {"type": "string"}, "tries": {"type": "integer"}}},
    "state": {"type": "object", "properties": {}},
}


class OddOpenEnv(NoWebSocket):
    """A server of OpenEnv's kind whose JSON is twisted."""

    def _answer(self, link: socket.socket) -> None:
        head = self._head(link)
        path = head.split(b" ")[1] if b" " in head else b""
        if path.startswith(b"/v1/"):
            link.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        elif path.startswith((b"/schema", b"/metadata")):
            data = SCHEMA if b"schema" in path else {"name": "Odd", "description": "x"}
            body = self._json(data, 0.3)
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        elif (key := re.search(rb"(?i)sec-websocket-key: *(\S+)", head)) is not None:
            self._talk(link, key[1])

    def _json(self, data: Any, share: float) -> bytes:
        if self.rng.random() >= share:
            return json.dumps(data).encode()
        if self.rng.random() < 0.2:
            return self.twist.torn(json.dumps(data).encode())
        changed = self.twist.changed(data)
        return json.dumps(changed, default=lambda one: str(one)[:200]).encode()

    def _talk(self, link: socket.socket, key: bytes) -> None:
        link.sendall(handshake(key))
        while frame := link.recv(65536):
            asked = unmasked(frame)
            reply: Any = {"type": "observation", "data": OBSERVED}
            if b'"state"' in asked:
                reply = {"type": "state", "data": {"episode_id": "x", "step_count": 1}}
            body = self._json(reply, 0.15 if b'"state"' in asked else 0.5)[:60_000]
            link.sendall(bytes([0x81, 126]) + struct.pack(">H", len(body)) + body)


def handshake(key: bytes) -> bytes:
    """A good one."""
    accept = base64.b64encode(hashlib.sha1(key + ACCEPT, usedforsecurity=False).digest())
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    return upgrade + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"


def unmasked(frame: bytes) -> bytes:
    """What a short frame of a client says."""
    head = 2 if frame[1] & 127 < 126 else 4
    key, body = frame[head : head + 4], frame[head + 4 :]
    return bytes(one ^ key[place % 4] for place, one in enumerate(body))
