"""`HostStep`: what an environment gave its host last, and states of an episode that hosts made alike exchange."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, SupportsFloat

from ludus.core import Info, Outcome, Snapshot
from ludus.core.outcome import OUTCOME

__all__ = ["Export", "Exported", "HostStep", "Kept", "LaneAttributes", "Transferred"]


class HostStep(NamedTuple):
    """What a reset (reward None) or a step gave."""

    observation: object
    reward: SupportsFloat | None
    """A number; of a batch, an array of them."""
    terminated: bool
    truncated: bool
    info: Info

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return bool(self.terminated or self.truncated)

    @property
    def infrastructure(self) -> bool:
        """Whether it was cut by the failure of a process, and not by the task: a trainer leaves it out."""
        return bool(self.truncated) and self.info.get(OUTCOME) == Outcome.INFRASTRUCTURE_FAILED


class LaneAttributes(Protocol):
    """What batches have whose lanes have attributes; of others, asking for one is an AttributeError."""

    @property
    def np_random_seed(self) -> Iterable[object]: ...
    def get_attr(self, name: str) -> Iterable[object]: ...
    def set_attr(self, name: str, values: object) -> None: ...
    def call(self, name: str, /, *args: object, **kwargs: object) -> Iterable[object]: ...


class Exported(NamedTuple):
    """A state that is in the hands of sandboxed processes."""

    state: object


HostEpisode = tuple[str | None, int, bool, HostStep]
"""How far an episode is: its name, its steps, whether it is over, and what it gave last."""
Kept = tuple[Snapshot, HostEpisode]
Transferred = tuple[Snapshot | Exported, HostEpisode]
Export = Callable[[list[int] | None], object]
