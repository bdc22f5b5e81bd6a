"""Lengths of tours that the submitted program finds, relative to going to the nearest point."""

import json

import numpy as np

from ludus.spaces.kinds import is_list
from ludus.tasks.inside.case import Case, Rejected

SECONDS = 60.0
Points = list[list[float]]


def grade(case: Case) -> dict[str, float]:
    """Ask for a tour of every map of the split."""
    maps: list[Points] = json.loads((case.hidden / "maps.json").read_text())[case.split]
    with case.program("heuristic.py", seconds=SECONDS) as program:
        tours = [checked(program.call("tour", points), len(points)) for points in maps]
    ratios = [length(points, tour) / length(points, nearest(points)) for points, tour in zip(maps, tours, strict=True)]
    return {
        "relative_length": float(np.exp(np.mean(np.log(ratios)))),
        "length": float(np.mean([length(points, tour) for points, tour in zip(maps, tours, strict=True)])),
    }


def checked(tour: object, count: int) -> list[int]:
    """The tour; Rejected where it does not visit each point once."""
    places = [one for one in tour if isinstance(one, int) and not isinstance(one, bool)] if is_list(tour) else []
    if not is_list(tour) or len(places) != len(tour):
        raise Rejected("heuristic.py: expected tour to return a list of whole numbers, got something else")
    if sorted(places) != list(range(count)):
        raise Rejected(f"heuristic.py: expected each of 0 to {count - 1} once, got something else")
    return places


def length(points: Points, tour: list[int]) -> float:
    """How long a round trip is."""
    places = np.array(points)[tour]
    return float(np.hypot(*(places - np.roll(places, -1, axis=0)).T).sum())


def nearest(points: Points) -> list[int]:
    """Always the nearest point that is left."""
    places = np.array(points)
    tour, left = [0], set(range(1, len(points)))
    while left:
        rest = sorted(left)
        tour.append(rest[int(np.argmin(((places[rest] - places[tour[-1]]) ** 2).sum(axis=1)))])
        left.discard(tour[-1])
    return tour
