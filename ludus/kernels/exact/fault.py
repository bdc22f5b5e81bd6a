"""Faults: an error inside compiled rules, with the lane, the step and the line it came from."""

import struct
from collections.abc import Iterator
from traceback import extract_tb

from ludus.kernels.exact.explanation import NOT_THE_USERS
from ludus.kernels.exact.place import place_of

__all__ = ["BOOLEAN", "FAULTS", "FLOAT", "INTEGER", "NUMBERS", "WRITTEN", "fault_of", "located", "numbered"]

FAULTS = (ArithmeticError, IndexError, ValueError)
"""What compiled rules raise, each as the interpreter would: division by zero, an index, a domain, an overflow."""
PLACE = "_ludus_place"
NUMBERS = "numbers of ludus: "
"""How the last argument begins of an exception that tells numbers; a letter for each of the others follows."""
INTEGER, FLOAT, BOOLEAN, WRITTEN = "q", "d", "?", "-"
"""Numbers that are known when it is raised, and what is written out in the rule."""


def numbered(arguments: tuple[object, ...], memory: bytes) -> tuple[object, ...]:
    """The arguments of an exception that tells numbers, with those from the words they lie in.

    >>> numbered(("cell", None, NUMBERS + "-q"), struct.pack("=q", 3))
    ('cell', 3)
    """
    codes = str(arguments[-1]).removeprefix(NUMBERS)
    numbers = iter(struct.unpack(f"={codes.replace(WRITTEN, '').replace(BOOLEAN, INTEGER)}", memory))
    found = (one if code == WRITTEN else next(numbers) for code, one in zip(codes, arguments[:-1], strict=True))
    return _plain_arguments((*found, arguments[-1]))


def _plain_arguments(arguments: tuple[object, ...]) -> tuple[object, ...]:
    """The arguments as the interpreter would tell them: without our own, and with bools that came as words."""
    if not arguments or not isinstance(arguments[-1], str) or not arguments[-1].startswith(NUMBERS):
        return arguments
    codes = arguments[-1].removeprefix(NUMBERS)
    return tuple(bool(one) if code == BOOLEAN else one for code, one in zip(codes, arguments[:-1], strict=True))


def located(error: Exception, place: object) -> Exception:
    """An error that knows the function, the file and the line it came from."""
    setattr(error, PLACE, place)
    return error


def fault_of(error: Exception, lane: int | None = None, step: int = 0) -> Exception:
    """The same kind of error with its place; whoever catches an IndexError of one environment catches a batch's.

    >>> fault_of(ZeroDivisionError("division by zero"), 3, 17)
    ZeroDivisionError('lane 3, step 17: division by zero; the batch has to be reset')
    """
    error.args = _plain_arguments(error.args)
    where = next((f" at {place_of(file, line)}" for file, line in _places(error)), "")
    if lane is None:
        return type(error)(f"{error}{where}")
    return type(error)(f"lane {lane}, step {step}: {error}{where}; the batch has to be reset")


def _places(error: Exception) -> Iterator[tuple[str, int]]:
    """The user's own lines, the innermost first."""
    known = getattr(error, PLACE, None)
    frames = [] if known is None else [(known[1], known[2])]
    frames += [(frame.filename, frame.lineno) for frame in reversed(extract_tb(error.__traceback__))]
    for file, line in frames:
        if line is not None and not NOT_THE_USERS.search(file):
            yield file, line
