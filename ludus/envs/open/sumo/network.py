"""`Network`: what a SUMO network says of its lights, lanes and ends, and demand drawn for it."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from ludus.errors import InvalidArgument, shorten

__all__ = ["NETWORKS", "Light", "Network", "demand_of", "read_network"]

FOLDER = Path(__file__).parent / "networks"
NETWORKS = {"single": 600.0, "grid": 300.0, "arterial": 400.0}
"""Networks that come along, by name, with the vehicles that enter by each road in an hour."""
RATE_PERIOD_S = 300.0
"""Seconds for which a road has one rate of vehicles."""
OTHER_DEMAND = 300.0

Point = tuple[float, float]


class Light(NamedTuple):
    """A traffic light: its green phases, the lanes that it stops, and those that lead away."""

    id: str
    phases: tuple[str, ...]
    lanes: tuple[str, ...]
    out_lanes: tuple[str, ...]
    links: tuple[str, ...]
    """The lane of each sign of a phase."""


class RoadLane(NamedTuple):
    """A lane's length and its middle line."""

    length: float
    shape: tuple[Point, ...]


class Network(NamedTuple):
    """A network as the environment needs it.

    >>> network = read_network("single")
    >>> [light.id for light in network.lights], len(network.entries)
    (['A0'], 4)
    """

    path: str
    name: str
    lights: tuple[Light, ...]
    lanes: dict[str, RoadLane]
    entries: tuple[tuple[str, str], ...]
    """Roads that begin at an end of the network, each with that end."""
    exits: tuple[tuple[str, str], ...]


def read_network(name: str) -> Network:
    """A network that comes along, by its name, or that of a file."""
    path = FOLDER / f"{name}.net.xml" if name in NETWORKS else Path(name)
    try:
        about = path.stat()
    except OSError as error:
        raise InvalidArgument(
            f"net_file: expected one of {list(NETWORKS)} or a .net.xml, got {shorten(name)}: {error.strerror}"
        ) from None
    return _read(str(path.resolve()), name if name in NETWORKS else path.name, (about.st_mtime_ns, about.st_size))


@lru_cache(maxsize=16)
def _read(path: str, name: str, version: tuple[int, ...]) -> Network:
    del version
    try:
        root = ET.parse(path).getroot()  # noqa: S314  (the user's own file, or ours)
    except (ET.ParseError, OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"net_file: expected a network of SUMO in {path}, got {error}") from None
    ends = {one.get("id", "") for one in root.iter("junction") if one.get("type") == "dead_end"}
    roads = [edge for edge in root.iter("edge") if edge.get("function") != "internal"]
    lanes = {
        lane.get("id", ""): RoadLane(float(lane.get("length", "1")), _points(lane.get("shape", "")))
        for edge in root.iter("edge")
        for lane in edge.iter("lane")
    }
    lights = tuple(light for light in (_light(root, logic) for logic in root.iter("tlLogic")) if len(light.phases) > 1)
    if not lights:
        raise InvalidArgument(f"net_file: expected a light with two green phases or more in {path}, got none")
    entries = tuple((edge.get("id", ""), edge.get("from", "")) for edge in roads if edge.get("from") in ends)
    exits = tuple((edge.get("id", ""), edge.get("to", "")) for edge in roads if edge.get("to") in ends)
    return Network(path, name, lights, lanes, entries, exits)


def _light(root: ET.Element, logic: ET.Element) -> Light:
    """A light; its green phases are those without yellow in which anybody may go."""
    name = logic.get("id", "")
    states = [phase.get("state", "") for phase in logic.iter("phase")]
    phases = tuple(dict.fromkeys(one for one in states if "y" not in one and set(one) - {"r", "s"}))
    links = {int(one.get("linkIndex", "0")): one for one in root.iter("connection") if one.get("tl") == name}
    ordered = [links[index] for index in sorted(links)]
    arriving = [f"{one.get('from')}_{one.get('fromLane')}" for one in ordered]
    leaving = [f"{one.get('to')}_{one.get('toLane')}" for one in ordered]
    return Light(name, phases, tuple(dict.fromkeys(arriving)), tuple(dict.fromkeys(leaving)), tuple(arriving))


def _points(text: str) -> tuple[Point, ...]:
    return tuple((float(one.split(",")[0]), float(one.split(",")[1])) for one in text.split())


def demand_of(network: Network, seconds: int, rng: np.random.Generator, demand: float | None = None) -> str:
    """Trips from every end to the others: a rate for each road and period is drawn, then gaps between vehicles."""
    if not network.entries or len({end for _, end in network.exits}) < 2:
        raise InvalidArgument(
            f"route_file: expected one, since {network.path} has no ends to draw trips between, got none"
        )
    rate = demand if demand is not None else NETWORKS.get(network.name, OTHER_DEMAND)
    trips: list[tuple[float, str, str]] = []
    for road, end in network.entries:
        ways = [one for one, other in network.exits if other != end]
        for begin in np.arange(0.0, seconds, RATE_PERIOD_S):
            gap, at = 3600.0 / max(rate * rng.uniform(0.3, 1.7), 1e-6), float(begin)
            while (at := at + float(rng.exponential(gap))) < min(begin + RATE_PERIOD_S, seconds):
                trips.append((round(at, 2), road, ways[int(rng.integers(len(ways)))]))
    rows = [
        f'<trip id="v{number}" depart="{at}" from="{road}" to="{way}" departLane="best" departSpeed="max"/>'
        for number, (at, road, way) in enumerate(sorted(trips))
    ]
    return "\n".join(["<routes>", *rows, "</routes>"])
