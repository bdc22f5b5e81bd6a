"""`Contestant`: somebody who can be timed."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Contestant"]


@dataclass(frozen=True)
class Contestant:
    """Somebody who can be timed: a program in `contestants/`, its options, and the interpreter it needs.

    >>> Contestant("gymnasium async", "gymnasium_batch.py", {"mode": "async"}, most_lanes=64).fits(4096)
    False
    """

    name: str
    program: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    python: str = sys.executable
    most_lanes: int | None = None
    """More would take all day: asked for more, it is left out, and that is said."""
    memory_lanes: tuple[int, int] = (16, 1024)
    """The sizes of the two batches whose memory is compared."""
    memory_options: Mapping[str, object] = field(default_factory=dict[str, object])
    """Options while memory is read: what it would try out leaves traces."""

    def fits(self, lanes: int) -> bool:
        """Whether it can be asked for a batch of this size."""
        return self.most_lanes is None or lanes <= self.most_lanes
