"""`plain`: infos and states as data that JSON carries, whatever numbers are in them."""

from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

import msgspec
import numpy as np

from ludus.errors import ContractViolation, shorten

__all__ = ["number", "plain", "to_json"]

DEPTH = 24
_encoder = msgspec.json.Encoder()


def plain(value: Any, path: str = "info", depth: int = DEPTH) -> Any:
    """A value as plain data. What JSON has no number for is a word, as in spaces; what is no data is refused.

    >>> plain({"at": (1, np.float32(0.5)), "odds": float("inf"), 3: b"raw"})
    {'at': [1, 0.5], 'odds': 'Infinity', '3': 'cmF3'}
    """
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str:
        return value
    if kind is float:
        return value if isfinite(value) else "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth <= 0:
        raise ContractViolation(f"{path}: expected at most {DEPTH} levels, got more")
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), path, depth - 1)
    if isinstance(value, Mapping):
        pairs: Any = value.items()
        return {str(key): plain(one, f"{path}[{key!r}]", depth - 1) for key, one in pairs}
    if isinstance(value, list | tuple | set | frozenset):
        items: Any = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [plain(one, f"{path}[{place}]", depth - 1) for place, one in enumerate(items)]
    return _scalar(value, path, depth)


def _scalar(value: Any, path: str, depth: int) -> Any:
    """Bytes as base64; a number or text of a class of its own as what it is."""
    if isinstance(value, bytes | bytearray | memoryview):
        return msgspec.to_builtins(bytes(value))
    if isinstance(value, str):  # of a class of its own
        return str.__str__(value)
    if isinstance(value, int | float):
        return plain(int(value) if isinstance(value, int) else float(value), path, depth - 1)
    raise ContractViolation(
        f"{path}: expected numbers, text, bytes, arrays or containers of these, got {shorten(value)}"
    )


def number(reward: Any) -> float | int | None:
    """A reward as a number of JSON; None where there is none, or none that JSON could say.

    >>> number(np.float32(0.5)), number(float("nan"))
    (0.5, None)
    """
    if type(reward) is float:
        return reward if isfinite(reward) else None
    if reward is None or type(reward) is int:
        return reward
    try:
        found = float(reward)
    except (TypeError, ValueError) as error:
        raise ContractViolation(f"step reward: expected a number, got {shorten(reward)}") from error
    return found if isfinite(found) else None


def to_json(data: Any) -> bytes:
    """Plain data as JSON.

    >>> to_json({"reward": 1.0})
    b'{"reward":1.0}'
    """
    try:
        return _encoder.encode(data)
    except (TypeError, UnicodeError, RecursionError, OverflowError) as error:
        raise ContractViolation(f"reply: expected what JSON can carry, got something else: {error}") from error
