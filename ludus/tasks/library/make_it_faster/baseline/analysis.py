"""Baseline: windows and stretches in one go; both loops over all pairs stay."""

from bisect import bisect_left, insort
from collections import deque


def analyse(values: list[int], width: int) -> dict[str, int]:
    """Inversions, the longest rising subsequence, medians and extremes of windows, the best stretch, distinct pairs."""
    return {
        "inversions": inversions(values),
        "rising": rising(values),
        "medians": medians(values, width),
        "spread": spread(values, width),
        "stretch": stretch(values),
    }


def inversions(values: list[int]) -> int:
    """How many pairs are in the wrong order."""
    count = 0
    for one in range(len(values)):
        for other in range(one + 1, len(values)):
            if values[one] > values[other]:
                count += 1
    return count


def rising(values: list[int]) -> int:
    """The length of the longest subsequence that rises strictly."""
    lengths: list[int] = []
    for at, value in enumerate(values):
        best = 0
        for before in range(at):
            if values[before] < value and lengths[before] > best:
                best = lengths[before]
        lengths.append(best + 1)
    return max(lengths, default=0)


def medians(values: list[int], width: int) -> int:
    """A sorted window: one number goes, one comes."""
    if len(values) < width:
        return 0
    window, middle = sorted(values[:width]), (width - 1) // 2
    total = window[middle]
    for gone, come in zip(values, values[width:], strict=False):
        del window[bisect_left(window, gone)]
        insort(window, come)
        total += window[middle]
    return total


def spread(values: list[int], width: int) -> int:
    """Queues of the numbers that are still the greatest, or the least, of a window to come."""
    greatest: deque[int] = deque()
    least: deque[int] = deque()
    best = 0
    for at, value in enumerate(values):
        while greatest and values[greatest[-1]] <= value:
            greatest.pop()
        while least and values[least[-1]] >= value:
            least.pop()
        greatest.append(at)
        least.append(at)
        if greatest[0] <= at - width:
            greatest.popleft()
        if least[0] <= at - width:
            least.popleft()
        if at >= width - 1:
            best = max(best, values[greatest[0]] - values[least[0]])
    return best


def stretch(values: list[int]) -> int:
    """The best stretch that ends here is the one before with this number, or nothing."""
    best = total = 0
    for value in values:
        total = max(0, total + value - values[0])
        best = max(best, total)
    return best
