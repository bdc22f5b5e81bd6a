"""Lengths of the tours of heuristic.py on the maps of data/maps.json, relative to the nearest point each time."""

import json
import math

from heuristic import tour


def length(points: list[list[float]], order: list[int]) -> float:
    """How long a round trip is."""
    return sum(math.dist(points[one], points[other]) for one, other in zip(order, order[1:] + order[:1], strict=True))


def nearest(points: list[list[float]]) -> list[int]:
    """Always the nearest point that is left."""
    order, left = [0], set(range(1, len(points)))
    while left:
        order.append(min(sorted(left), key=lambda one: math.dist(points[one], points[order[-1]])))
        left.discard(order[-1])
    return order


if __name__ == "__main__":
    with open("data/maps.json") as file:
        maps = json.load(file)
    logs = [math.log(length(one, tour(one)) / length(one, nearest(one))) for one in maps]
    print(f"relative length {math.exp(sum(logs) / len(logs)):.3f}")  # noqa: T201
