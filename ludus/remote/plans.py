"""`EpisodePlans`: how autoreset begins episodes in a batch whose plan is on the other side.

A plan is a function, which does not travel. Each request brings what it says of the next episode of every lane that has
begun one since, so that it is known when the lane needs it.
"""

from ludus.core import Episode
from ludus.errors import InvalidArgument, shorten
from ludus.spaces.kinds import is_dict
from ludus.wire import decode_value
from ludus.wire.messages import Plan

__all__ = ["EpisodePlans"]


class EpisodePlans:
    """A plan for a batch that is filled from outside; a lane of which nothing is known goes on with its own stream.

    >>> plans = EpisodePlans()
    >>> plans.take([(1, 7, None)])
    >>> plans(1, 1), plans(1, 2)
    (Episode(seed=7, options=None), Episode(seed=None, options=None))
    """

    def __init__(self) -> None:
        self._planned: dict[int, Episode] = {}

    def take(self, plans: list[Plan]) -> None:
        """Remember how the next episode of some lanes is to begin."""
        for lane, seed, options in plans:
            found: object = decode_value(options, "options")
            if found is not None and not is_dict(found):
                raise InvalidArgument(f"plans: expected options by name for lane {lane}, got {shorten(found)}")
            self._planned[lane] = Episode(decode_value(seed, "seed"), found)

    def __call__(self, lane: int, number: int) -> Episode:
        """What is known of the next episode of a lane."""
        del number
        return self._planned.pop(lane, Episode())

    def clear(self) -> None:
        """Forget everything: it will be sent again."""
        self._planned.clear()
