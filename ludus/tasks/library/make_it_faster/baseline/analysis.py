"""Baseline: two of the three loops over all pairs are spared."""

from bisect import bisect_left


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
    """The least last number of a rising subsequence of each length."""
    lasts: list[int] = []
    for value in values:
        at = bisect_left(lasts, value)
        lasts[at : at + 1] = [value]
    return len(lasts)


def medians(values: list[int], width: int) -> int:
    """The sum of the lower medians of all windows of that width."""
    total = 0
    for start in range(len(values) - width + 1):
        window = sorted(values[start : start + width])
        total += window[(width - 1) // 2]
    return total


def spread(values: list[int], width: int) -> int:
    """The largest difference between the greatest and the least number of a window."""
    best = 0
    for start in range(len(values) - width + 1):
        window = values[start : start + width]
        if max(window) - min(window) > best:
            best = max(window) - min(window)
    return best


def stretch(values: list[int]) -> int:
    """The best stretch that ends here is the one before with this number, or nothing."""
    best = total = 0
    for value in values:
        total = max(0, total + value - values[0])
        best = max(best, total)
    return best
