"""A plot of a report: steps per second against lanes, both in powers, one line for each contestant."""

import math
from typing import NamedTuple

from ludus.benchmarks.report import BenchmarkReport, Figure, amount
from ludus.errors import InvalidArgument
from ludus.rendering import Canvas

__all__ = ["plot"]

WIDTH, HEIGHT = 860, 500
LEFT, TOP, RIGHT, BOTTOM = 78, 86, 590, 430
INK, QUIET, LEAD, LINE, GROUND = "#1b2a49", "#7a8499", "#ccd2de", "#e6e9f0", "#fcfcfe"
OWN_COLORS = ("#7048e8", "#0c8599", "#e64980", "#1971c2")
OTHER_COLORS = ("#f08c00", "#2f9e44", "#8d5b3a", "#e03131", "#4dabf7", "#343a40", "#d6336c")
OUR_NAME = "ludus "
LABEL_GAP = 25.0
"""The least distance between two labels."""


class Scale(NamedTuple):
    """From a number to its place, by powers.

    >>> Scale(1.0, 100.0, 0.0, 200.0).place(10.0)
    100.0
    """

    least: float
    most: float
    start: float
    stop: float

    def place(self, number: float) -> float:
        """Where a number lies."""
        part = math.log(number / self.least) / math.log(self.most / self.least)
        return self.start + part * (self.stop - self.start)


def plot(report: BenchmarkReport) -> Canvas:
    """The drawing: save it as `.svg` or `.png`, or show it in a notebook.

    >>> figures = Figure("ludus serial", 1, 1e5, 1, 1, 1, 1.0), Figure("ludus serial", 64, 4e5, 1, 1, 1, 1.0)
    >>> plot(BenchmarkReport("GridWorld-v0", 0.3, 1, figures))
    <Canvas 860×500, ... marks>
    """
    if not report.figures:
        raise InvalidArgument(f"plot: expected a report with figures, got none for {report.id}")
    canvas = Canvas(WIDTH, HEIGHT, background=GROUND)
    across, up = _scales(report)
    canvas.text(28, 26, f"{report.id}: steps per second", size=21, color=INK, bold=True)
    about = report.machine
    caption = f"best of {report.rounds} rounds, in turns"
    if about:
        caption = f"{about['processor']}, {about['cores']} cores · {caption}"
    canvas.text(28, 54, caption, size=12.5, color=QUIET)
    _draw_grid(canvas, report, across, up)
    colors = _colors(report)
    for name in reversed(report.contestants):  # ours last, over the others
        _draw_line(canvas, _line(report, name), across, up, colors[name])
    _draw_labels(canvas, report, across, up, colors)
    return canvas


def _line(report: BenchmarkReport, name: str) -> list[Figure]:
    return sorted((one for one in report.figures if one.contestant == name), key=lambda one: one.lanes)


def _scales(report: BenchmarkReport) -> tuple[Scale, Scale]:
    """Room around what there is; a single size or a single decade still makes a plot."""
    sizes, speeds = report.sizes, [one.steps_per_second for one in report.figures]
    margin = max(1.15, (sizes[-1] / sizes[0]) ** 0.035)
    least = 10.0 ** math.floor(math.log10(min(speeds) * 0.8))
    most = 10.0 ** math.ceil(math.log10(max(speeds) * 1.25))
    return Scale(sizes[0] / margin, sizes[-1] * margin, LEFT, RIGHT), Scale(least, most, BOTTOM, TOP)


def _colors(report: BenchmarkReport) -> dict[str, str]:
    ours = [name for name in report.contestants if name.startswith(OUR_NAME)]
    others = [name for name in report.contestants if name not in ours]
    # The fastest of ours has the house's own colour.
    ours.sort(key=lambda name: -_line(report, name)[-1].steps_per_second)
    found = {name: OWN_COLORS[place % len(OWN_COLORS)] for place, name in enumerate(ours)}
    return found | {name: OTHER_COLORS[place % len(OTHER_COLORS)] for place, name in enumerate(others)}


def _draw_grid(canvas: Canvas, report: BenchmarkReport, across: Scale, up: Scale) -> None:
    for power in range(round(math.log10(up.least)), round(math.log10(up.most)) + 1):
        y = up.place(10.0**power)
        canvas.line(LEFT, y, RIGHT, y, color=LINE, width=1.2)
        label = {0: "1", 1: "10", 2: "100"}.get(power) or amount(10.0**power).replace(".00", "").replace(".0", "")
        canvas.text(LEFT - 12, y, label, size=13, color=QUIET, anchor="right")
    last = -math.inf
    for size in report.sizes:
        x = across.place(size)
        canvas.line(x, BOTTOM, x, BOTTOM + 5, color=QUIET, width=1.2)
        if x - last >= 46:
            canvas.text(x, BOTTOM + 13, f"{size:,}", size=13, color=QUIET, anchor="top")
            last = x
    canvas.line(LEFT, BOTTOM, RIGHT, BOTTOM, color=QUIET, width=1.2)
    canvas.text((LEFT + RIGHT) / 2, BOTTOM + 40, "lanes in a batch", size=13, color=QUIET, anchor="top")


def _draw_line(canvas: Canvas, line: list[Figure], across: Scale, up: Scale, color: str) -> None:
    ours = line[0].contestant.startswith(OUR_NAME)
    points = [(across.place(one.lanes), up.place(one.steps_per_second)) for one in line]
    if len(points) > 1:
        canvas.polyline(points, color=color, width=3.4 if ours else 2.0, cap="round")
    for x, y in points:
        canvas.circle(x, y, 5.0 if ours else 3.6, fill=color, stroke=GROUND, stroke_width=1.6)


def _draw_labels(canvas: Canvas, report: BenchmarkReport, across: Scale, up: Scale, colors: dict[str, str]) -> None:
    """Names at the ends of the lines, moved apart where lines end close together."""
    ends = sorted((_line(report, name)[-1] for name in report.contestants), key=lambda one: -one.steps_per_second)
    places = _apart([up.place(one.steps_per_second) for one in ends])
    for one, y in zip(ends, places, strict=True):
        color, ours = colors[one.contestant], one.contestant.startswith(OUR_NAME)
        if one.lanes == report.sizes[-1]:
            start = across.place(one.lanes) + 8.0, up.place(one.steps_per_second)
            canvas.polyline([start, (RIGHT + 2.0, start[1]), (RIGHT + 20.0, y)], color=LEAD, width=1.2)
        canvas.circle(RIGHT + 30.0, y, 5.0, fill=color)
        canvas.text(RIGHT + 43.0, y, one.contestant, size=14.5, color=INK, anchor="left", bold=ours)
        label = amount(one.steps_per_second) + ("" if one.lanes == report.sizes[-1] else f" at {one.lanes:,}")
        canvas.text(WIDTH - 24.0, y, label, size=13, color=QUIET, anchor="right")


def _apart(places: list[float]) -> list[float]:
    """The same places from top to bottom, none closer than a label's height to the next, all on the paper."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + LABEL_GAP) if found else max(place, TOP - 10.0))
    lowest = BOTTOM + 30.0
    for number in range(len(found) - 1, -1, -1):
        found[number] = min(found[number], lowest)
        lowest = found[number] - LABEL_GAP
    return found
