"""Baseline: the nearest point, from each of ten starts; the shortest of these tours."""

import math


def tour(points: list[list[float]]) -> list[int]:
    """The order in which to visit them."""
    return min((nearest(points, start) for start in range(0, len(points), 6)), key=lambda one: length(points, one))


def length(points: list[list[float]], order: list[int]) -> float:
    """How long a round trip is."""
    return sum(math.dist(points[one], points[other]) for one, other in zip(order, order[1:] + order[:1], strict=True))


def nearest(points: list[list[float]], start: int) -> list[int]:
    """Always the nearest point that is left."""
    order, left = [start], set(range(len(points))) - {start}
    while left:
        order.append(min(sorted(left), key=lambda one: math.dist(points[one], points[order[-1]])))
        left.discard(order[-1])
    return order
