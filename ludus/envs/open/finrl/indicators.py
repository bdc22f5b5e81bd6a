"""MACD, RSI, CCI and DX of whole series, as stockstats (and so FinRL) computes them, and FinRL's turbulence."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["KNOWN", "turbulence_of"]

Series = npt.NDArray[np.float64]
WINDOW = 30
YEAR = 252


def smoothed(values: Series, share: float) -> Series:
    """The average so far, weighted exponentially, a day counting `share`, day by day along the first axis."""
    averages, weight = np.array(values, np.float64), 1.0
    for day in range(1, len(values)):
        weight *= 1.0 - share
        averages[day] = (weight * averages[day - 1] + values[day]) / (weight + 1.0)
        weight += 1.0
    return averages


def macd(high: Series, low: Series, close: Series) -> Series:
    """The average over a span of 12 days less that over 26."""
    del high, low
    return smoothed(close, 2.0 / 13.0) - smoothed(close, 2.0 / 27.0)


def rsi(high: Series, low: Series, close: Series) -> Series:
    """Gains as a part of all changes, in per cent."""
    del high, low
    change = np.zeros_like(close)
    change[1:] = np.diff(close, axis=0)
    up = smoothed(np.maximum(change, 0.0), 1.0 / WINDOW)
    down = smoothed(np.maximum(-change, 0.0), 1.0 / WINDOW)
    found = np.full_like(close, 50.0)
    np.divide(100.0 * up, up + down, out=found, where=(up + down) != 0)
    found[:1] = 50.0
    return found


def cci(high: Series, low: Series, close: Series) -> Series:
    """How far the typical price is from its mean, in mean deviations; 0 until the window is full."""
    typical = (high + low + close) / 3.0
    found = np.zeros_like(close)
    if len(close) < WINDOW:
        return found
    windows = np.lib.stride_tricks.sliding_window_view(typical, WINDOW, axis=0)
    means = windows.mean(axis=-1)
    deviations = np.abs(windows - means[..., None]).mean(axis=-1)
    np.divide(typical[WINDOW - 1 :] - means, 0.015 * deviations, out=found[WINDOW - 1 :], where=deviations != 0)
    return found


def dx(high: Series, low: Series, close: Series) -> Series:
    """How much of all movement of highs and lows goes one way, in per cent."""
    rose, fell, reach = np.zeros_like(close), np.zeros_like(close), high - low
    rose[1:], fell[1:] = np.diff(high, axis=0), -np.diff(low, axis=0)
    reach[1:] = np.maximum(reach[1:], np.maximum(np.abs(high[1:] - close[:-1]), np.abs(low[1:] - close[:-1])))
    rise = smoothed(np.where((rose > 0) & (rose > fell), rose, 0.0), 1.0 / WINDOW)
    fall = smoothed(np.where((fell > 0) & (fell > rose), fell, 0.0), 1.0 / WINDOW)
    found = np.zeros_like(close)
    np.divide(100.0 * np.abs(rise - fall), rise + fall, out=found, where=(rise + fall) != 0)
    found[smoothed(reach, 1.0 / WINDOW) == 0] = np.nan  # nothing has moved yet: stockstats divides by the range
    return found


KNOWN: dict[str, Callable[[Series, Series, Series], Series]] = {"macd": macd, "rsi_30": rsi, "cci_30": cci, "dx_30": dx}
"""By FinRL's names; each takes highs, lows and closes, day by day and stock by stock."""


def turbulence_of(close: Series) -> Series:
    """The distance of each day's returns from those of the year before it, by Mahalanobis; 0 in the first year."""
    returns = np.full_like(close, np.nan)
    returns[1:] = close[1:] / close[:-1] - 1.0
    found, seen = np.zeros(len(close)), 0
    for day in range(YEAR, len(close)):
        year = returns[max(1, day - YEAR) : day]
        apart = returns[day] - year.mean(axis=0)
        covariance: Series = np.cov(year, rowvar=False).reshape(close.shape[1], close.shape[1])
        distance = float(apart @ np.linalg.pinv(covariance) @ apart)
        seen += distance > 0
        # FinRL leaves the first two out, as outliers of a calculation that has just begun.
        found[day] = distance if distance > 0 and seen > 2 else 0.0
    return found
