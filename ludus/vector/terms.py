"""`Terms`: how worker processes are started and what is done when they fail, checked before there are any."""

from dataclasses import dataclass
from operator import index
from typing import Any, Literal

from ludus.core import AutoresetMode, EpisodePlan
from ludus.errors import InvalidArgument, shorten

__all__ = ["MAX_RESTARTS", "TIMEOUT_SECONDS", "OnFailure", "Terms", "check_failures", "count"]

OnFailure = Literal["raise", "restart"]
TIMEOUT_SECONDS = 120.0
MAX_RESTARTS = 10


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
        check_failures(self.context, self.timeout, self.on_failure, self.max_restarts)

    @property
    def forks(self) -> bool:
        """Whether workers have what this process has, so that nothing need be sent to them."""
        return self.context == "fork"

    def process(self, *, target: Any, args: tuple[Any, ...], name: str) -> Any:
        """A process, not yet started."""
        from multiprocessing import get_context

        starter: Any = get_context(self.context)
        return starter.Process(target=target, args=args, name=name)


def check_failures(context: Any, timeout: Any, on_failure: Any, max_restarts: Any, what: str = "") -> None:
    """Refuse terms on which no worker can be started, or waited for."""
    if context is not None:
        from multiprocessing import get_all_start_methods  # milliseconds, which `import ludus` does not take

        known = get_all_start_methods()
        if context not in known:
            raise InvalidArgument(f"{what}context: expected one of {', '.join(known)}, got {shorten(context)}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise InvalidArgument(f"{what}timeout: expected seconds, or None for no limit, got {shorten(timeout)}")
    if on_failure not in ("raise", "restart"):
        raise InvalidArgument(f"{what}on_failure: expected 'raise' or 'restart', got {shorten(on_failure)}")
    count(f"{what}max_restarts", max_restarts, least=0)


def count(name: str, value: Any, otherwise: int | None = None, *, least: int = 1) -> int:
    """A whole number of something, or `otherwise` for None.

    >>> count("batch_size", None, 8)
    8
    """
    found: Any = otherwise if value is None else value
    try:
        number = index(found)
    except TypeError:
        number = least - 1
    if isinstance(found, bool) or number < least:
        raise InvalidArgument(f"{name}: expected an integer of at least {least}, got {shorten(value)}")
    return number
