"""`--record FILE`, as several verbs have it: what happens goes into a file."""

from enum import StrEnum

from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument
from ludus.trajectory import Recorder

__all__ = ["SUFFIX", "Level", "recorded"]

SUFFIX = ".ludus"


class Level(StrEnum):
    """How much is kept."""

    SEEDS = "seeds"
    STEPS = "steps"
    FULL = "full"


def recorded(env: AnyEnv, path: str | None, level: Level = Level.SEEDS) -> AnyEnv:
    """The environment with a recorder around it, where there is a file for it."""
    if path is None:
        return env
    if not path.endswith(SUFFIX):
        raise InvalidArgument(f"record: expected a file name that ends in {SUFFIX}, got {path!r}")
    return Recorder(env, path, level.value)
