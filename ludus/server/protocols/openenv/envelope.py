"""The envelope that OpenEnv has around an observation, and JSON itself."""

import msgspec

from ludus.errors import ContractViolation, shorten
from ludus.remote.host import HostStep
from ludus.spaces.kinds import is_dict
from ludus.spaces.shown import Shown

__all__ = ["envelope", "to_json"]

_encoder = msgspec.json.Encoder()
_plain_info = Shown(models=False).write
"""Objects of an author's classes are refused in an info, as the wire and every boundary refuse them."""


def envelope(observation: dict[str, object], outcome: HostStep, id: str, full: bool) -> dict[str, object]:
    """An observation in its JSON form with all that is told beside it; `full` ones say `metadata` even if it is none.

    >>> told = envelope({"value": 1}, HostStep(1, 0.5, False, True, {"odds": float("inf")}), "s", full=False)
    >>> told["reward"], told["done"], told["info"]
    (0.5, True, {'odds': 'Infinity'})
    """
    given, reward = outcome.info, outcome.reward
    if not is_dict(given):  # of an author's making
        raise ContractViolation(f"info: expected a dictionary, got {shorten(given)}")
    info: dict[str, object] = _plain_info(given, "info") if given else {}
    found: dict[str, object] = {
        "observation": observation,
        "reward": reward if reward is None or type(reward) in (int, float) else float(reward),
        "done": outcome.done,
        "terminated": bool(outcome.terminated),
        "truncated": bool(outcome.truncated),
        "info": info,
        "reward_components": info.get("reward_components"),
        "session_id": id,
        "infrastructure_failure": outcome.infrastructure,
    }
    if full or info:
        found["metadata"] = info or None
    return found


def to_json(data: object) -> bytes:
    """Plain data as JSON.

    >>> to_json({"reward": 1.0})
    b'{"reward":1.0}'
    """
    try:
        return _encoder.encode(data)
    except (TypeError, UnicodeError, RecursionError, OverflowError) as error:
        raise ContractViolation(f"reply: expected what JSON can carry, got something else: {error}") from error
