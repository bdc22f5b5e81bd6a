"""A synthetic market as rules: prices with fat tails, clusters of volatility and a common factor, and their indicators.

Returns are a factor that all stocks share and a part of each stock's own. Both have variances that follow GARCH(1, 1),
and all of a day's shocks are divided by one draw, so that they are Student's t with six degrees of freedom and large
days are large for everybody. Indicators are those of stockstats, kept up day by day: an average that is weighted
exponentially needs its last value and the sum of its weights, and only the CCI a window.
"""

import math
from typing import Any, NamedTuple

import numpy as np

__all__ = ["INDICATORS", "WINDOW", "Market", "begun", "next_day"]

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
HIGH, LOW, VARIANCE, BETA, VOLATILITY, EMA_FAST, EMA_SLOW, UP, DOWN, RANGE, RISE, FALL = range(12)
"""Columns of what is kept of each stock; a variance is a part of what it is in the long run."""


class Market(NamedTuple):
    """What a day of a market leaves for the next; none of it is told. Few arrays: a lane hands each of them over."""

    each: Any
    """Stock by stock, twelve numbers."""
    typical: Any
    """Typical prices of the last days, stock by stock, in a ring."""
    shared: Any
    """The sums of weights in the three kinds of averages, and the factor's variance."""
    days: int
    """Days so far."""


def begun(rng: Any, stocks: int) -> tuple[Market, Any, Any]:
    """A market of one day, its prices, and room for its indicators."""
    prices, each, typical = np.zeros(stocks), np.zeros((stocks, 12)), np.zeros((stocks, WINDOW))
    for stock in range(stocks):
        price = rng.uniform(20.0, 200.0)
        prices[stock] = price
        each[stock, HIGH], each[stock, LOW], each[stock, VARIANCE] = price, price, 1.0
        each[stock, BETA] = rng.uniform(0.6, 1.4)
        each[stock, VOLATILITY] = rng.uniform(0.008, 0.018)
        each[stock, EMA_FAST], each[stock, EMA_SLOW] = price, price
        typical[stock, 0] = price
    return Market(each, typical, np.ones(4), 1), prices, np.zeros((4, stocks))


def next_day(market: Market, prices: Any, indicators: Any, rng: Any, drift: float) -> tuple[Market, float]:
    """Move every price by a day, in place, and tell how unusual the day was.

    That is FinRL's turbulence, the distance of Mahalanobis from the mean, under the covariance that the market has in
    the long run: one factor and a diagonal, whose inverse is written down.
    """
    shared, place = market.shared, market.days % WINDOW
    # Six degrees of freedom, at a variance of one.
    fat = math.sqrt(2.0 / (rng.exponential() + rng.exponential() + rng.exponential()))
    common = fat * rng.standard_normal() * math.sqrt(shared[3])
    shared[3] = 1.0 - SHOCK - MEMORY + SHOCK * common * common + MEMORY * shared[3]
    fast, slow, smooth = shared[0] * (1.0 - FAST), shared[1] * (1.0 - SLOW), shared[2] * (1.0 - SMOOTH)
    shared[0], shared[1], shared[2] = fast + 1.0, slow + 1.0, smooth + 1.0
    mean, distance, projected, pull = drift / YEAR, 0.0, 0.0, 0.0
    for stock in range(len(prices)):
        row, before = market.each[stock], prices[stock]
        scale = row[VOLATILITY] * math.sqrt(row[VARIANCE])
        shock = fat * rng.standard_normal()
        row[VARIANCE] = 1.0 - SHOCK - MEMORY + row[VARIANCE] * (MEMORY + SHOCK * shock * shock)
        moved = row[BETA] * FACTOR_VOLATILITY * common + shock * scale
        precision = 1.0 / (row[VOLATILITY] * row[VOLATILITY])
        distance += moved * moved * precision
        projected += row[BETA] * moved * precision
        pull += row[BETA] * row[BETA] * precision
        price = before * math.exp(mean + moved)
        high = max(before, price) * (1.0 + 0.8 * scale * rng.random())
        low = min(before, price) / (1.0 + 0.8 * scale * rng.random())
        average_prices(row, price, fast, slow)
        average_moves(row, before, price, high, low, smooth)
        row[HIGH], row[LOW], prices[stock] = high, low, price
        indicators[0, stock] = row[EMA_FAST] - row[EMA_SLOW]
        indicators[1, stock] = 100.0 * share_of(row[UP], row[UP] + row[DOWN], 0.5)
        ring = market.typical[stock]
        ring[place] = (high + low + price) / 3.0
        indicators[2, stock] = deviation_of(ring, ring[place]) if market.days + 1 >= WINDOW else 0.0
        indicators[3, stock] = 100.0 * share_of(abs(row[RISE] - row[FALL]), row[RISE] + row[FALL], 0.0)
    distance -= projected * projected / (1.0 / (FACTOR_VOLATILITY * FACTOR_VOLATILITY) + pull)
    return Market(market.each, market.typical, shared, market.days + 1), distance


def average_prices(row: Any, price: float, fast: float, slow: float) -> None:
    """Take a price into both averages; `fast` and `slow` are the weights of all days before."""
    row[EMA_FAST] = (fast * row[EMA_FAST] + price) / (fast + 1.0)
    row[EMA_SLOW] = (slow * row[EMA_SLOW] + price) / (slow + 1.0)


def average_moves(row: Any, before: float, price: float, high: float, low: float, old: float) -> None:
    """Take a day's gain or loss, range, and move of its high and low into their averages."""
    rose, fell, gained = high - row[HIGH], row[LOW] - low, price - before
    share = 1.0 / (old + 1.0)
    row[UP] = (old * row[UP] + max(gained, 0.0)) * share
    row[DOWN] = (old * row[DOWN] + max(-gained, 0.0)) * share
    row[RANGE] = (old * row[RANGE] + max(high - low, abs(high - before), abs(low - before))) * share
    row[RISE] = (old * row[RISE] + (rose if rose > 0.0 and rose > fell else 0.0)) * share
    row[FALL] = (old * row[FALL] + (fell if fell > 0.0 and fell > rose else 0.0)) * share


def share_of(part: float, whole: float, otherwise: float) -> float:
    """A part of a whole that may be nothing."""
    return part / whole if whole != 0.0 else otherwise


def deviation_of(ring: Any, last: float) -> float:
    """The CCI: how far the last price is from the mean of the window, in mean deviations."""
    total, deviation = 0.0, 0.0
    for one in ring:
        total += one
    mean = total / WINDOW
    for one in ring:
        deviation += abs(one - mean)
    deviation = deviation / WINDOW
    return (last - mean) / (0.015 * deviation) if deviation != 0.0 else 0.0
