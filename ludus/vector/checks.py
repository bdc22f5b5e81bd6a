"""Checks of what workers are asked for: how many, for how long, and what to do when one fails; with the defaults."""

from operator import index
from typing import Literal, SupportsIndex

from ludus.errors import InvalidArgument, shorten

__all__ = ["MAX_RESTARTS", "TIMEOUT_SECONDS", "OnFailure", "check_failures", "count"]

OnFailure = Literal["raise", "restart"]
TIMEOUT_SECONDS = 120.0
MAX_RESTARTS = 10


def check_failures(context: object, timeout: object, on_failure: object, max_restarts: object, what: str = "") -> None:
    """Refuse worker_options on which no worker can be started, or waited for."""
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


def count(name: str, value: object, otherwise: int | None = None, *, least: int = 1) -> int:
    """A whole number of something, or `otherwise` for None.

    >>> count("batch_size", None, 8)
    8
    """
    found: object = otherwise if value is None else value
    try:
        number = index(found) if isinstance(found, SupportsIndex) else least - 1
    except TypeError:  # an array of several numbers
        number = least - 1
    if isinstance(found, bool) or number < least:
        raise InvalidArgument(f"{name}: expected an integer of at least {least}, got {shorten(value)}")
    return number
