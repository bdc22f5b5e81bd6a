"""`Declaration`: what an evaluation says of itself before the first episode, in the header of its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from ludus.errors import TrajectoryError, shorten
from ludus.evaluate.seeds import derived_seeds

__all__ = ["Declaration", "read_declaration"]

KEY = "evaluation"
"""Where it is among the metadata of a run."""
FORMAT = 1


class Declaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which episodes an evaluation consists of; its result has all of them, or is none.

    >>> one = Declaration(id="CartPole-v1", agent="random", seed=7, episodes=3)
    >>> one.seed_name, one.marks
    ('CartPole-v1', ('seed 7',))
    """

    format: int = FORMAT
    id: str
    agent: str
    """The name it was given as; what it is nobody can tell from a file."""
    seed: int = 0
    """From which those of the episodes are derived."""
    seeds: Literal["derived", "chosen"] = "derived"
    episodes: int
    """Their numbers are 0 up to this."""
    max_steps: int = 100_000
    suite: str = ""
    suite_version: int = 0

    def __post_init__(self) -> None:
        if self.format != FORMAT or self.episodes < 1 or self.max_steps < 1 or self.seed < 0:
            raise ValueError(f"expected format {FORMAT} and at least one episode, got {self.format}, {self.episodes}")

    @property
    def seed_name(self) -> str:
        """What seeds are derived from beside number and `seed`: the id, in a suite with its name and version."""
        return f"suite:{self.suite}/{self.suite_version}/{self.id}" if self.suite else self.id

    @property
    def marks(self) -> tuple[str, ...]:
        """What every table and page says beside the scores, since it was somebody's choice."""
        if self.seeds == "chosen":
            return ("seeds chosen by hand",)
        return (f"seed {self.seed}",) if self.seed else ()

    def derived(self, first: int, count: int, purpose: str = "environment") -> npt.NDArray[np.uint64]:
        """The seeds of so many episodes."""
        return derived_seeds(self.seed_name, self.seed, first, count, purpose)

    def metadata(self) -> dict[str, object]:
        """As a run's header has it."""
        return {KEY: msgspec.to_builtins(self)}


def read_declaration(metadata: Mapping[str, object], file: str) -> Declaration:
    """What a run declares; raises TrajectoryError where it is no result of an evaluation."""
    if KEY not in metadata:
        raise TrajectoryError(
            f"{file}: expected the result of an evaluation, got a run that declares none; `ludus eval --out` writes one"
        )
    try:
        return msgspec.convert(metadata[KEY], Declaration)
    except (msgspec.ValidationError, ValueError) as error:
        raise TrajectoryError(f"{file}: expected a declaration, got {shorten(metadata[KEY])}: {error}") from error
