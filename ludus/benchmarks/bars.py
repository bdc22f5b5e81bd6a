"""A plot for the terminal: one bar of blocks for each contestant."""

from ludus.benchmarks.amount import amount
from ludus.benchmarks.report import Report

__all__ = ["bars"]

EIGHTHS = " ▏▎▍▌▋▊▉"


def bars(report: Report, lanes: int, width: int = 40) -> list[tuple[str, str, str]]:
    """Name, bar and steps per second of everybody at one size, the fastest first; the longest bar is `width` wide.

    >>> from ludus.benchmarks import Figure
    >>> figures = Figure("one", 8, 3000.0, 1, 1, 1, 1.0), Figure("other", 8, 1000.0, 1, 1, 1, 1.0)
    >>> bars(Report("GridWorld-v0", 0.3, 1, figures), 8, width=6)
    [('one', '██████', '3.00 k'), ('other', '██', '1.00 k')]
    """
    found = sorted((one for one in report.figures if one.lanes == lanes), key=lambda one: -one.steps_per_second)
    if not found:
        return []
    unit = found[0].steps_per_second / width
    return [(one.contestant, _bar(one.steps_per_second / unit), amount(one.steps_per_second)) for one in found]


def _bar(length: float) -> str:
    """Blocks of this length to an eighth, and never none: what is slow is still there."""
    eighths = max(1, round(length * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
