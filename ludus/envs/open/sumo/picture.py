"""The picture of traffic: roads from above, a light at the end of each lane, and vehicles by their speed."""

import math

from ludus.envs.open.sumo.network import Network, Point
from ludus.envs.open.sumo.traffic import Traffic
from ludus.rendering import Canvas

__all__ = ["sumo_picture"]

WIDTH, MARGIN, FOOT = 640, 16, 34
GRASS, ROAD, MARK, INK = "#dfe8d8", "#6c757d", "#f8f9fa", "#343a40"
LIGHTS = {"G": "#37b24d", "g": "#37b24d", "y": "#fab005", "r": "#e03131"}
SLOW, FAST = (224, 49, 49), (55, 178, 77)
LANE_METRES, CAR = 3.2, (4.6, 1.9)
FREE_SPEED = 13.9


class _Map:
    """From metres to the picture; up is north."""

    def __init__(self, network: Network) -> None:
        points = [point for lane in network.lanes.values() for point in lane.shape]
        self.left, self.low = min(x for x, _ in points), min(y for _, y in points)
        wide = max(max(x for x, _ in points) - self.left, 1.0)
        high = max(max(y for _, y in points) - self.low, 1.0)
        self.scale = (WIDTH - 2 * MARGIN) / max(wide, high)
        self.height = max(int(high * self.scale) + 2 * MARGIN, 160)
        self.width = int(wide * self.scale) + 2 * MARGIN
        self.top = (self.height + high * self.scale) / 2

    def __call__(self, point: Point) -> Point:
        return MARGIN + (point[0] - self.left) * self.scale, self.top - (point[1] - self.low) * self.scale


def sumo_picture(network: Network, traffic: Traffic | None) -> Canvas:
    """A network, and what is on it."""
    place = _Map(network)
    canvas = Canvas(max(place.width, 320), place.height + FOOT, background=GRASS)
    for lane in network.lanes.values():
        if len(lane.shape) > 1:
            canvas.polyline(
                list(map(place, lane.shape)), color=ROAD, width=(LANE_METRES + 0.4) * place.scale, cap="square"
            )
    if traffic is not None:
        _vehicles(canvas, place, traffic)
        _lights(canvas, place, traffic)
    canvas.rectangle(0, place.height, max(place.width, 320), FOOT, fill="white")
    canvas.text(12, place.height + FOOT / 2, _text(traffic), size=14, color=INK, anchor="left")
    return canvas


def _text(traffic: Traffic | None) -> str:
    if traffic is None:
        return "no episode yet"
    totals = traffic.totals()
    stand = sum(1 for one in traffic.measures.vehicles if one[3] < 0.1)
    return (
        f"{traffic.measures.time:.0f} s     {totals['total_vehicles']} vehicles, {stand} standing     "
        f"{totals['arrived']} arrived     mean speed {totals['mean_speed']:.1f} m/s"
    )


def _lights(canvas: Canvas, place: _Map, traffic: Traffic) -> None:
    radius = max(2.2, 1.5 * place.scale)
    for light, number in zip(traffic.network.lights, traffic.phases, strict=True):
        signs: dict[str, str] = {}
        for lane, sign in zip(light.links, light.phases[number], strict=False):
            if sign in "Gg" or lane not in signs:
                signs[lane] = sign
        for lane, sign in signs.items():
            x, y = place(traffic.network.lanes[lane].shape[-1])
            canvas.circle(x, y, radius, fill=LIGHTS.get(sign, INK), stroke="white", stroke_width=0.8)


def _vehicles(canvas: Canvas, place: _Map, traffic: Traffic) -> None:
    length, width = (max(size * place.scale, least) for size, least in zip(CAR, (4.0, 2.2), strict=True))
    for x, y, angle, speed, _ in traffic.measures.vehicles:
        part = min(speed / FREE_SPEED, 1.0)
        red, green, blue = (round(slow + part * (fast - slow)) for slow, fast in zip(SLOW, FAST, strict=True))
        # SUMO's angle is clockwise from north, and its place is the front of the vehicle.
        with canvas.transform(translate=place((x, y)), rotate=math.radians(angle)):
            canvas.rectangle(
                -width / 2, 0, width, length, radius=width / 3, fill=(red, green, blue), stroke=MARK, stroke_width=0.6
            )
