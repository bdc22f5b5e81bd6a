"""Five things about a list of whole numbers. Correct, and slow."""


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
    """The largest sum of deviations from the first number, over all stretches of neighbours; 0 for none."""
    best = 0
    for start in range(len(values)):
        total = 0
        for end in range(start, len(values)):
            total += values[end] - values[0]
            if total > best:
                best = total
    return best
