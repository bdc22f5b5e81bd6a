"""`Episode`: how an episode that a batch begins by itself is to be reset."""

from collections.abc import Callable
from typing import NamedTuple

from ludus.core.options import Options
from ludus.errors import InvalidType, shorten
from ludus.seeding import Seed, as_seed

__all__ = ["Episode", "EpisodePlan", "planned"]


class Episode(NamedTuple):
    """The seed and the options of a reset; `Episode()` goes on with the lane's own stream.

    A batch made with `episodes=plan` asks `plan(lane, number)` whenever autoreset begins an episode: number 1 is the
    first after the one that `reset` began. The plan depends on nothing else, so that histories do not depend on timing.

    >>> plan = lambda lane, number: Episode(seed=100 * lane + number)
    >>> plan(2, 1)
    Episode(seed=201, options=None)
    """

    seed: Seed | None = None
    options: Options | None = None


EpisodePlan = Callable[[int, int], Episode]


def planned(plan: EpisodePlan | None, lane: int, number: int) -> Episode:
    """What the plan says of an episode, checked; `Episode()` without a plan.

    >>> planned(lambda lane, number: Episode(seed=-1), 0, 1)
    Traceback (most recent call last):
    ludus.errors.InvalidSeed: episodes(0, 1).seed: expected an integer of at least 0, got -1; None takes one from ...
    """
    if plan is None:
        return Episode()
    return _checked(plan(lane, number), lane, number)


def _checked(episode: object, lane: int, number: int) -> Episode:
    """What a stranger's function gave, whatever its type says."""
    options: object = episode.options if isinstance(episode, Episode) else ""
    if not isinstance(episode, Episode) or not isinstance(options, dict | None):
        raise InvalidType(
            f"episodes({lane}, {number}): expected an Episode(seed, options), got {shorten(episode)}; return Episode()"
        )
    if episode.seed is not None:
        as_seed(episode.seed, f"episodes({lane}, {number}).seed")
    return episode
