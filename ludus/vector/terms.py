"""`Terms`: how worker processes are started and what is done when they fail, checked before there are any."""

from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from typing import Any, Literal

from ludus.core import AutoresetMode, EpisodePlan
from ludus.errors import InvalidArgument, shorten

__all__ = ["OnFailure", "Terms", "count"]

OnFailure = Literal["raise", "restart"]


@dataclass(frozen=True)
class Terms:
    """What all workers of a batch have in common.

    >>> Terms(AutoresetMode.NEXT_STEP, None, context="spawn", timeout=1.0, on_failure="raise", max_restarts=0).forks
    False
    """

    mode: AutoresetMode
    plan: EpisodePlan | None
    context: str
    """How processes are started, in the words of `multiprocessing`."""
    timeout: float | None
    """For how many seconds a worker may make no progress."""
    on_failure: OnFailure
    max_restarts: int

    def __post_init__(self) -> None:
        known = get_all_start_methods()
        if self.context not in known:
            raise InvalidArgument(f"context: expected one of {', '.join(known)}, got {shorten(self.context)}")
        if self.timeout is not None and not self.timeout > 0:
            raise InvalidArgument(f"timeout: expected seconds, or None for no limit, got {shorten(self.timeout)}")
        if self.on_failure not in ("raise", "restart"):
            raise InvalidArgument(f"on_failure: expected 'raise' or 'restart', got {shorten(self.on_failure)}")
        count("max_restarts", self.max_restarts, least=0)

    @property
    def forks(self) -> bool:
        """Whether workers have what this process has, so that nothing need be sent to them."""
        return self.context == "fork"

    def process(self, *, target: Any, args: tuple[Any, ...], name: str) -> Any:
        """A process, not yet started."""
        starter: Any = get_context(self.context)
        return starter.Process(target=target, args=args, name=name)


def count(name: str, value: Any, otherwise: int | None = None, *, least: int = 1) -> int:
    """A whole number of something, or `otherwise` for None.

    >>> count("batch_size", None, 8)
    8
    """
    found = otherwise if value is None else value
    if not isinstance(found, int) or isinstance(found, bool) or found < least:
        raise InvalidArgument(f"{name}: expected an integer of at least {least}, got {shorten(value)}")
    return found
