"""A synthetic market as rules: prices with fat tails, clusters of volatility and a common factor, and their indicators.

Returns are a factor that all stocks share and a part of each stock's own. Both have variances that follow GARCH(1, 1),
and all of a day's shocks are divided by one draw, so that they are Student's t with six degrees of freedom and large
days are large for everybody. Indicators are those of stockstats, kept up day by day: an average that is weighted
exponentially needs its last value and the sum of its weights, and only the CCI a window.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["INDICATORS", "WINDOW", "Market", "Numbers", "begun", "next_day"]

Numbers = NDArray[np.float64]
INDICATORS = ("macd", "rsi_30", "cci_30", "dx_30")
WINDOW = 30
FAST, SLOW = 2.0 / 13.0, 2.0 / 27.0
"""What one day counts in averages over spans of 12 and 26 days."""
SMOOTH = 1.0 / WINDOW
YEAR = 252.0
SHOCK, MEMORY = 0.07, 0.91
"""What yesterday's squared shock, and yesterday's variance, count for today's."""
FACTOR_VOLATILITY = 0.009
"""Of a day, of the factor that all stocks share."""
HIGH, LOW, VARIANCE, BETA, VOLATILITY, PRECISION, EMA_FAST, EMA_SLOW, UP, DOWN, RISE, FALL, WINDOW_SUM = range(13)
"""Columns of what is kept of each stock; a variance is a part of what it is in the long run, a precision the inverse of
what a stock's own part has there, and the last one the sum of the typical prices in the ring."""
FACTOR_VARIANCE, LEVERAGE = 3, 4
"""Places in what stocks share."""


class Market(NamedTuple):
    """What a day of a market leaves for the next; none of it is shown. Few arrays: a lane hands each of them over."""

    each: Numbers
    """Stock by stock, thirteen numbers."""
    typical: Numbers
    """Typical prices of the last days, stock by stock, in a ring."""
    shared: Numbers
    """The sums of weights in the three kinds of averages, the factor's variance, and what it takes off a distance."""
    days: int
    """Days so far."""


def begun(rng: np.random.Generator, stocks: int) -> tuple[Market, Numbers, Numbers]:
    """A market of one day, its prices, and room for its indicators."""
    prices, each, typical = np.zeros(stocks), np.zeros((stocks, 13)), np.zeros((stocks, WINDOW))
    pull = 1.0 / (FACTOR_VOLATILITY * FACTOR_VOLATILITY)
    for stock in range(stocks):
        price = rng.uniform(20.0, 200.0)
        prices[stock] = price
        each[stock, HIGH], each[stock, LOW], each[stock, VARIANCE] = price, price, 1.0
        each[stock, BETA] = rng.uniform(0.6, 1.4)
        each[stock, VOLATILITY] = rng.uniform(0.008, 0.018)
        each[stock, PRECISION] = 1.0 / (each[stock, VOLATILITY] * each[stock, VOLATILITY])
        pull += each[stock, BETA] * each[stock, BETA] * each[stock, PRECISION]
        each[stock, EMA_FAST], each[stock, EMA_SLOW] = price, price
        typical[stock, 0], each[stock, WINDOW_SUM] = price, price
    shared = np.ones(5)
    shared[LEVERAGE] = 1.0 / pull
    return Market(each, typical, shared, 1), prices, np.zeros((4, stocks))


def next_day(
    market: Market, prices: Numbers, indicators: Numbers, rng: np.random.Generator, drift: float
) -> tuple[Market, float]:
    """Move every price by a day, in place, and tell how unusual the day was.

    That is FinRL's turbulence, the distance of Mahalanobis from the mean, under the covariance that the market has in
    the long run: one factor and a diagonal, whose inverse is written down.
    """
    shared, place = market.shared, market.days % WINDOW
    # Six degrees of freedom, at a variance of one.
    fat = math.sqrt(2.0 / (rng.exponential() + rng.exponential() + rng.exponential()))
    common = fat * rng.standard_normal() * math.sqrt(shared[FACTOR_VARIANCE])
    shared[FACTOR_VARIANCE] = 1.0 - SHOCK - MEMORY + SHOCK * common * common + MEMORY * shared[FACTOR_VARIANCE]
    fast, slow, smooth = shared[0] * (1.0 - FAST), shared[1] * (1.0 - SLOW), shared[2] * (1.0 - SMOOTH)
    shared[0], shared[1], shared[2] = fast + 1.0, slow + 1.0, smooth + 1.0
    of_fast, of_slow, of_smooth = 1.0 / (fast + 1.0), 1.0 / (slow + 1.0), 1.0 / (smooth + 1.0)
    mean, distance, projected = drift / YEAR, 0.0, 0.0
    for stock in range(len(prices)):
        row, before = market.each[stock], prices[stock]
        scale = row[VOLATILITY] * math.sqrt(row[VARIANCE])
        shock = fat * rng.standard_normal()
        row[VARIANCE] = 1.0 - SHOCK - MEMORY + row[VARIANCE] * (MEMORY + SHOCK * shock * shock)
        moved = row[BETA] * FACTOR_VOLATILITY * common + shock * scale
        distance += moved * moved * row[PRECISION]
        projected += row[BETA] * moved * row[PRECISION]
        price = before * math.exp(mean + moved)
        high = max(before, price) * (1.0 + 0.8 * scale * rng.random())
        low = min(before, price) / (1.0 + 0.8 * scale * rng.random())
        row[EMA_FAST] = (fast * row[EMA_FAST] + price) * of_fast
        row[EMA_SLOW] = (slow * row[EMA_SLOW] + price) * of_slow
        average_moves(row, price - before, high, low, smooth, of_smooth)
        row[HIGH], row[LOW], prices[stock] = high, low, price
        indicators[0, stock] = row[EMA_FAST] - row[EMA_SLOW]
        indicators[1, stock] = 100.0 * share_of(row[UP], row[UP] + row[DOWN], 0.5)
        ring, typical = market.typical[stock], (high + low + price) / 3.0
        row[WINDOW_SUM] += typical - ring[place]
        ring[place] = typical
        indicators[2, stock] = deviation_of(ring, typical, row[WINDOW_SUM]) if market.days + 1 >= WINDOW else 0.0
        indicators[3, stock] = 100.0 * share_of(abs(row[RISE] - row[FALL]), row[RISE] + row[FALL], 0.0)
    distance -= projected * projected * shared[LEVERAGE]
    return Market(market.each, market.typical, shared, market.days + 1), distance


def average_moves(row: Numbers, gained: float, high: float, low: float, old: float, share: float) -> None:
    """Take a day's gain or loss, and the move of its high and low, into averages in which it counts as `share`."""
    rose, fell = high - row[HIGH], row[LOW] - low
    row[UP] = (old * row[UP] + max(gained, 0.0)) * share
    row[DOWN] = (old * row[DOWN] + max(-gained, 0.0)) * share
    row[RISE] = (old * row[RISE] + (rose if rose > 0.0 and rose > fell else 0.0)) * share
    row[FALL] = (old * row[FALL] + (fell if fell > 0.0 and fell > rose else 0.0)) * share


def share_of(part: float, whole: float, otherwise: float) -> float:
    """A part of a whole that may be nothing."""
    return part / whole if whole != 0.0 else otherwise


def deviation_of(ring: Numbers, last: float, total: float) -> float:
    """The CCI: how far the last price is from the mean of the window, in mean deviations of 0.015."""
    mean = total * SMOOTH
    deviations = distances_from(ring, mean)
    return (last - mean) * (WINDOW / 0.015) / deviations if deviations != 0.0 else 0.0


def distances_from(ring: Numbers, middle: float) -> float:
    """Their sum, as six side by side: one waits for each addition, and compiled rules may not reorder it."""
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for at in range(0, WINDOW, 6):
        a += abs(ring[at] - middle)
        b += abs(ring[at + 1] - middle)
        c += abs(ring[at + 2] - middle)
        d += abs(ring[at + 3] - middle)
        e += abs(ring[at + 4] - middle)
        f += abs(ring[at + 5] - middle)
    return (a + b) + (c + d) + (e + f)
