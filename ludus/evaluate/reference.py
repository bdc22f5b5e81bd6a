"""Reference scores: what a random agent and a good one reach in an environment, so that scores can be compared."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypedDict

import msgspec

__all__ = ["Reference", "normal_score", "references"]


class Reference(NamedTuple):
    """Two scores of an environment, measured by `scripts/reference_scores.py`.

    >>> references()["CartPole-v1"].reference
    500.0
    """

    random: float
    """The mean of the random agent."""
    reference: float
    """The mean of a good policy, which `policy` names."""
    policy: str


class _Scores(TypedDict):
    """As `references.toml` has them."""

    random: float
    reference: float
    policy: str


@cache
def references() -> dict[str, Reference]:
    """The reference scores of all ids that have any."""
    data: dict[str, _Scores] = msgspec.toml.decode(
        files(__name__.rpartition(".")[0]).joinpath("references.toml").read_bytes()
    )
    return {name: Reference(float(one["random"]), float(one["reference"]), one["policy"]) for name, one in data.items()}


def normal_score(id: str, score: float) -> float | None:
    """A score where 0 is the random agent's and 1 the reference; None where there is none for the id.

    >>> normal_score("CartPole-v1", 500.0)
    1.0
    """
    known = references().get(id)
    return None if known is None else (score - known.random) / (known.reference - known.random)
