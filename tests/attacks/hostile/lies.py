"""Lies: messages that are well formed, and not true to the contract."""

import struct
from collections.abc import Callable
from typing import Any

import msgspec

from tests.attacks.hostile.channel import framed, hang, say, tell, tell_step

__all__ = ["LIES", "SPACE_LIES"]

BOX = {"type": "Box", "low": 0.0, "high": 1.0, "shape": [2], "dtype": "float32"}
CHOICE = {"type": "Discrete", "n": 2, "start": 0, "dtype": "int64"}
MODULUS = (1 << 61) - 1
"""Numbers that differ by it have one hash."""
ESCAPE = "\x1b]0;taken\x07\x1b[2J"


def _lie(**fields: Any) -> Callable[[Any], None]:
    return lambda _: tell_step(**fields)


def _floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def _failed(kind: str, message: str = "no") -> Callable[[Any], None]:
    return lambda _: tell([6, kind, message, message])


def _nested(depth: int) -> Any:
    found: Any = 0
    for _ in range(depth):
        found = [found]
    return found


LIES: dict[str, Callable[[Any], None]] = {
    "reward-nan": _lie(reward=float("nan")),
    "reward-infinite": _lie(reward=float("-inf")),
    "reward-text": _lie(reward="1.0"),
    "reward-array": _lie(reward={"$array": b"\0" * 16, "dtype": "float64", "shape": [2]}),
    "flag-number": _lie(terminated=1),
    "observation-shape": _lie(observation=_floats(0.5, 0.5, 0.5)),
    "observation-outside": _lie(observation=_floats(0.5, 7.0)),
    "observation-nan": _lie(observation=_floats(0.5, float("nan"))),
    "observation-type": _lie(observation={"$array": b"\0" * 16, "dtype": "float64", "shape": [2]}),
    "observation-none": _lie(observation=None),
    "info-nested": _lie(info={"deep": _nested(28)}),
    "info-forged": _lie(info={"sandbox": {"reason": "all is well", "limit": None}}),
    "info-colliding": _lie(info={"set": {"$set": [{"$int": f"{MODULUS * one:x}"} for one in range(4000)]}}),
    "info-number": _lie(info={"number": {"$int": "f" * 60_000}}),
    "error-exit": _failed("SystemExit", "0"),
    "error-interrupt": _failed("KeyboardInterrupt"),
    "error-of-ours": _failed("SandboxUnavailable"),
    "error-long": _failed("ValueError", ESCAPE + "x" * (1 << 23)),
}
"""By name: what is said in the place of the reply to a step."""


def _made(observation: Any = BOX, action: Any = CHOICE, metadata: Any = None, name: str = "Liar") -> Callable[[], None]:
    def deed() -> None:
        say(framed(msgspec.msgpack.encode([0, 1, observation, action, metadata or {}, None, name])))
        hang()

    return deed


def _inside_one_another(depth: int) -> Any:
    found: Any = CHOICE
    for _ in range(depth):
        found = {"type": "Tuple", "spaces": [found]}
    return found


SPACE_LIES: dict[str, Callable[[], None]] = {
    "space-vast": _made(observation={**BOX, "shape": [1_000_000, 1_000_000]}),
    "space-heavy": _made(observation={**BOX, "shape": [(1 << 24) - 1], "dtype": "float64"}),
    "space-code": _made(action={"type": "os:system", "command": "true"}),
    "space-nested": _made(observation=_inside_one_another(14)),
    "metadata-lie": _made(metadata={"render_modes": {"$object": "os.system"}}),
}
"""By name: what is said in the place of the spaces."""
