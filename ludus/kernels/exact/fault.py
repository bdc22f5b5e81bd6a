"""Faults: an error inside compiled rules, told with the lane, the step and the line it came from."""

from collections.abc import Iterator
from traceback import extract_tb
from typing import Any

from ludus.kernels.exact.place import place_of

__all__ = ["FAULTS", "fault_of"]

FAULTS = (ArithmeticError, IndexError, ValueError)
"""What compiled rules raise, each as the interpreter would: division by zero, an index, a domain, an overflow."""
OURS = ("/ludus/kernels/", "/numba/", "<kernel>", "<string>")


def fault_of(error: Exception, lane: int | None, step: int) -> Exception:
    """The same kind of error with its place; whoever catches an IndexError of one environment catches a batch's.

    >>> fault_of(ZeroDivisionError("division by zero"), 3, 17)
    ZeroDivisionError('lane 3, step 17: division by zero; the batch has to be reset')
    """
    where = next((f" at {place_of(file, line)}" for file, line in _places(error)), "")
    who = "" if lane is None else f"lane {lane}, step {step}: "
    return type(error)(f"{who}{error}{where}; the batch has to be reset")


def _places(error: Exception) -> Iterator[tuple[str, int]]:
    """The user's own lines, the innermost first."""
    for frame in reversed(extract_tb(error.__traceback__)):
        path: Any = frame.filename
        if frame.lineno is not None and not any(part in path for part in OURS) and "ludus_kernel" not in path:
            yield path, frame.lineno
