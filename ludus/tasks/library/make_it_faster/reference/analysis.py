"""Reference: sorted lists kept by bisection, rising subsequences by their last numbers, windows by queues."""

from bisect import bisect_left, bisect_right, insort
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
    """How many of those before are greater, in a sorted list of them."""
    before: list[int] = []
    count = 0
    for value in values:
        at = bisect_right(before, value)
        count += len(before) - at
        before.insert(at, value)
    return count


def rising(values: list[int]) -> int:
    """The least last number of a rising subsequence of each length."""
    lasts: list[int] = []
    for value in values:
        at = bisect_left(lasts, value)
        lasts[at : at + 1] = [value]
    return len(lasts)


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
