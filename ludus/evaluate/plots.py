"""Pictures of scores, drawn without a browser: lines with bands, and intervals. Save one as `.svg` or `.png`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument
from ludus.evaluate.intervals import Interval, interval, profile_interval
from ludus.evaluate.scores import Array, Scores, ScoresLike
from ludus.evaluate.statistics import Statistic, interquartile_mean
from ludus.rendering import Canvas

__all__ = ["Band", "plot_curves", "plot_intervals", "plot_profiles"]

WIDTH, HEIGHT = 860, 460
LEFT, TOP, RIGHT, BOTTOM = 78, 70, 640, 396
INK, QUIET, LINE, GROUND = "#1b2a49", "#7a8499", "#e6e9f0", "#fcfcfe"
COLORS = ("#7048e8", "#0c8599", "#f08c00", "#e64980", "#2f9e44", "#1971c2", "#8d5b3a", "#343a40")
BAND_OPACITY = "2a"
"""As the last byte of a colour."""
ROW = 44
"""Pixels between one interval and the next."""


class Band(NamedTuple):
    """A line, and the ends between which it is expected to lie.

    >>> Band(np.zeros(2), np.zeros(2), np.ones(2)).high
    array([1., 1.])
    """

    value: Array
    low: Array
    high: Array


class Axis(NamedTuple):
    """From numbers to pixels."""

    least: float
    most: float
    start: float
    stop: float

    def place(self, number: float) -> float:
        """Where a number lies."""
        return self.start + (number - self.least) / (self.most - self.least) * (self.stop - self.start)

    def marks(self) -> list[float]:
        """Round numbers within the axis, about five of them."""
        step = 10.0 ** math.floor(math.log10((self.most - self.least) / 4.0))
        step = next(step * one for one in (1, 2, 5, 10) if (self.most - self.least) / (step * one) <= 6)
        first = math.ceil(self.least / step - 1e-9)
        return [one * step for one in range(first, math.floor(self.most / step + 1e-9) + 1)]


def plot_profiles(
    scores: Mapping[str, ScoresLike],
    thresholds: Sequence[float] | npt.NDArray[np.floating] | None = None,
    *,
    title: str = "Share of runs with a score above",
    seed: int = 0,
) -> Canvas:
    """Performance profiles of several agents, each with its interval.

    >>> plot_profiles({"ours": [0.2, 0.5, 0.9], "theirs": [0.1, 0.4, 0.6]})
    <Canvas 860×460, ... marks>
    """
    tables = {name: Scores(one) for name, one in _some(scores).items()}
    levels = _levels(tables) if thresholds is None else thresholds
    bands = {name: Band(*profile_interval(one, levels, resamples=500, seed=seed)) for name, one in tables.items()}
    return plot_curves(levels, bands, title=title, across="score", least=0.0, most=1.0)


def _levels(tables: Mapping[str, Scores]) -> Array:
    """From a little under the least score to a little over the greatest."""
    every = np.concatenate([one.all() for one in tables.values()])
    margin = float(np.ptp(every)) * 0.02 or 1.0
    return np.linspace(float(every.min()) - margin, float(every.max()) + margin, 101)


def plot_curves(
    x: Sequence[float] | npt.NDArray[np.floating],
    curves: Mapping[str, Band | Sequence[float] | npt.NDArray[np.floating]],
    *,
    title: str = "",
    across: str = "steps",
    least: float | None = None,
    most: float | None = None,
) -> Canvas:
    """Lines over `x`, as learning curves are; those that are a `Band` with what they are expected to lie between.

    >>> plot_curves([0, 1, 2], {"return": [0.0, 3.0, 5.0]}, title="CartPole-v1")
    <Canvas 860×460, ... marks>
    """
    places = np.asarray(x, dtype=np.float64)
    bands = {name: _band(one) for name, one in _some(curves).items()}
    for name, one in bands.items():
        if any(part.shape != places.shape or not np.isfinite(part).all() for part in one) or len(places) < 2:
            raise InvalidArgument(f"curves[{name!r}]: expected {len(places)} finite numbers, two or more, as x has")
    canvas = Canvas(WIDTH, HEIGHT, background=GROUND)
    lows, highs = (min(one.low.min() for one in bands.values()), max(one.high.max() for one in bands.values()))
    axis_x = _axis(places.min(), places.max(), LEFT, RIGHT, 0.0)
    axis_y = _axis(lows if least is None else least, highs if most is None else most, BOTTOM, TOP, 0.04)
    _frame(canvas, title, across, axis_x, axis_y)
    for one, color in zip(bands.values(), _colors(bands), strict=True):
        upper = [(axis_x.place(a), axis_y.place(b)) for a, b in zip(places, one.high, strict=True)]
        lower = [(axis_x.place(a), axis_y.place(b)) for a, b in zip(places, one.low, strict=True)]
        if upper != lower:
            canvas.polygon([*upper, *reversed(lower)], fill=color + BAND_OPACITY)
        middle = [(axis_x.place(a), axis_y.place(b)) for a, b in zip(places, one.value, strict=True)]
        canvas.polyline(middle, color=color, width=2.6, cap="round")
    _legend(canvas, bands)
    return canvas


def plot_intervals(
    scores: Mapping[str, ScoresLike],
    statistic: Statistic = interquartile_mean,
    *,
    title: str = "Interquartile mean",
    confidence: float = 0.95,
    seed: int = 0,
) -> Canvas:
    """One row for each agent: its statistic, and the interval around it.

    >>> plot_intervals({"ours": [0.2, 0.5, 0.9], "theirs": [0.1, 0.4, 0.6]})
    <Canvas 860×..., ... marks>
    """
    found = {name: interval(one, statistic, confidence=confidence, seed=seed) for name, one in _some(scores).items()}
    bottom = TOP + ROW * len(found)
    canvas = Canvas(WIDTH, bottom + 64, background=GROUND)
    left = 190.0
    low, high = min(one.low for one in found.values()), max(one.high for one in found.values())
    axis = _axis(low, high, left, WIDTH - 110.0, 0.05)
    canvas.text(28, 26, title, size=19, color=INK, bold=True)
    for mark in axis.marks():
        canvas.line(axis.place(mark), TOP, axis.place(mark), bottom, color=LINE, width=1.2)
        canvas.text(axis.place(mark), bottom + 12, _label(mark), size=13, color=QUIET, anchor="top")
    for row, ((name, one), color) in enumerate(zip(found.items(), _colors(found), strict=True)):
        _interval_row(canvas, axis, TOP + ROW * (row + 0.5), name, one, color)
    return canvas


def _interval_row(canvas: Canvas, axis: Axis, y: float, name: str, one: Interval, color: str) -> None:
    low, high = axis.place(one.low), axis.place(one.high)
    canvas.text(axis.start - 16, y, name, size=14.5, color=INK, anchor="right")
    canvas.line(low, y, high, y, color=color + "5a", width=14, cap="round")
    canvas.circle(axis.place(one.value), y, 6.5, fill=color, stroke=GROUND, stroke_width=1.6)
    canvas.text(WIDTH - 24, y, _label(one.value), size=13, color=QUIET, anchor="right")


def _frame(canvas: Canvas, title: str, across: str, x: Axis, y: Axis) -> None:
    canvas.text(28, 26, title, size=19, color=INK, bold=True)
    for mark in y.marks():
        canvas.line(LEFT, y.place(mark), RIGHT, y.place(mark), color=LINE, width=1.2)
        canvas.text(LEFT - 12, y.place(mark), _label(mark), size=13, color=QUIET, anchor="right")
    for mark in x.marks():
        canvas.line(x.place(mark), BOTTOM, x.place(mark), BOTTOM + 5, color=QUIET, width=1.2)
        canvas.text(x.place(mark), BOTTOM + 13, _label(mark), size=13, color=QUIET, anchor="top")
    canvas.line(LEFT, BOTTOM, RIGHT, BOTTOM, color=QUIET, width=1.2)
    canvas.text((LEFT + RIGHT) / 2, BOTTOM + 36, across, size=13, color=QUIET, anchor="top")


def _legend(canvas: Canvas, bands: Mapping[str, Band]) -> None:
    for row, (name, color) in enumerate(zip(bands, _colors(bands), strict=True)):
        y = TOP + 12 + row * 26
        canvas.circle(RIGHT + 30, y, 5.0, fill=color)
        canvas.text(RIGHT + 44, y, name, size=14.5, color=INK, anchor="left")


Given = TypeVar("Given")


def _some(given: Mapping[str, Given]) -> Mapping[str, Given]:
    if not given:
        raise InvalidArgument("plot: expected at least one agent, got none")
    return given


def _band(given: Band | Sequence[float] | npt.NDArray[np.floating]) -> Band:
    if isinstance(given, Band):
        return given
    line = np.asarray(given, dtype=np.float64)
    return Band(line, line, line)


def _axis(least: float, most: float, start: float, stop: float, margin: float) -> Axis:
    """With room around what there is; one number alone still makes an axis."""
    room = (most - least) * margin or (0.0 if most > least else abs(least) * 0.1 or 1.0)
    return Axis(float(least - room), float(most + room), start, stop)


def _colors(names: Mapping[str, object]) -> list[str]:
    return [COLORS[place % len(COLORS)] for place in range(len(names))]


def _label(number: float) -> str:
    return f"{number + 0.0:,.4g}" if abs(number) < 10_000 else f"{number:,.0f}"
