"""Trading as rules: FinRL's order of trades and its state, over prices that are given or drawn."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.core.outcome import Outcome
from ludus.envs.open.finrl.synthetic import WINDOW, Market, Numbers, begun, next_day

__all__ = ["Params", "State", "inform", "observe", "reset", "step", "value_of"]

SUCCESS, FAILURE = Outcome.SUCCESS.code, Outcome.FAILURE.code


class Params(NamedTuple):
    """The market, what trades cost, and how much may be traded; the names are FinRL's where it has one."""

    stocks: int = 5
    """Of a synthetic market."""
    days: int = 252
    """Of an episode; of given prices a stretch is drawn, and with 0 they are all played."""
    hmax: int = 100
    """Shares that an action of 1 buys."""
    initial_amount: float = 1_000_000.0
    num_stock_shares: Numbers = np.zeros(1)
    """Shares at the beginning: one number for all stocks, or one for each."""
    buy_cost_pct: Any = np.full(1, 0.001)
    """Commissions: one for all stocks, or one for each."""
    sell_cost_pct: Any = np.full(1, 0.001)
    slippage: float = 0.0
    """The part of a price by which buyers pay more, and sellers get less."""
    cash_reserve: float = 0.0
    """Cash that no purchase touches."""
    reward_scaling: float = 1e-4
    turbulence_threshold: float = np.inf
    """From this turbulence on everything is sold and nothing bought."""
    drift: float = 0.08
    """Of a synthetic market: the mean logarithmic return of a year."""
    closes: Numbers = np.zeros((0, 1))
    """Given prices, day by day and stock by stock; without any the market is synthetic."""
    indicators: Numbers = np.zeros((0, 4, 1))
    """Of given prices: day by day, indicator by indicator, stock by stock."""
    turbulence: Numbers = np.zeros(0)


class State(NamedTuple):
    """The day, the account, and the market."""

    day: int
    last: int
    """The day on which the episode ends."""
    cash: float
    turbulence: float
    trades: int
    commission: float
    """Of the last step, as is what slippage cost."""
    slipped: float
    gained: float
    """By prices, in the last step."""
    paid: float
    """All commissions and all slippage of the episode."""
    prices: Any
    holdings: Any
    indicators: Numbers
    first: Numbers
    """Prices of the first day."""
    market: Market


class Info(NamedTuple):
    """What `info` has beside rewards."""

    outcome: int
    """Success is more than at the beginning, and more than an equal part of every stock had been worth."""
    won: bool
    portfolio_value: float
    turbulence: float
    day: int
    trades: int
    total_cost: float


def reset(rng: np.random.Generator, params: Params) -> State:
    """The first day, with the shares that one begins with."""
    given = len(params.closes)
    stocks = params.closes.shape[1] if given > 0 else params.stocks
    market, prices, indicators = begun(rng, stocks)
    day, turbulence = 0, 0.0
    if given > 0:
        indicators = np.zeros((params.indicators.shape[1], stocks))
        last = given - 1
        if 0 < params.days < last:
            day = int(rng.integers(given - params.days))
            last = day + params.days
        turbulence = read_day(params, day, prices, indicators)
    else:
        last = params.days
        for _ in range(WINDOW):
            market, turbulence = next_day(market, prices, indicators, rng, params.drift)
    holdings = np.zeros(stocks)
    for stock in range(stocks):
        holdings[stock] = float(params.num_stock_shares[min(stock, len(params.num_stock_shares) - 1)])
    cash = params.initial_amount
    return State(
        day, last, cash, turbulence, 0, 0.0, 0.0, 0.0, 0.0, prices, holdings, indicators, prices.copy(), market
    )


def read_day(params: Params, day: int, prices: Numbers, indicators: Numbers) -> float:
    """Copy a given day, and tell its turbulence."""
    for stock in range(len(prices)):
        prices[stock] = params.closes[day, stock]
        for number in range(len(indicators)):
            indicators[number, stock] = params.indicators[day, number, stock]
    return float(params.turbulence[day])


def step(
    state: State, action: Sequence[float] | Numbers, rng: np.random.Generator, params: Params
) -> tuple[State, float, bool]:
    """Sell, then buy, then let a day pass."""
    prices, holdings, market = state.prices, state.holdings, state.market
    before = value_of(state.cash, prices, holdings)
    cash, trades, commission, slipped = trade(state, action, params)
    paid = state.paid + commission + slipped
    gained = value_of(cash, prices, holdings)
    day = state.day + 1
    if len(params.closes) > 0:
        turbulence = read_day(params, day, prices, state.indicators)
    else:
        market, turbulence = next_day(market, prices, state.indicators, rng, params.drift)
    after = value_of(cash, prices, holdings)
    gained = after - gained
    moved = State(
        day,
        state.last,
        cash,
        turbulence,
        state.trades + trades,
        commission,
        slipped,
        gained,
        paid,
        prices,
        holdings,
        state.indicators,
        state.first,
        market,
    )
    return moved, (after - before) * params.reward_scaling, day >= state.last


def trade(state: State, action: Sequence[float] | Numbers, params: Params) -> tuple[float, int, float, float]:
    """Carry orders out: the largest sales first, then the largest purchases, each as far as shares and cash go."""
    prices, holdings = state.prices, state.holdings
    room = np.zeros((2, len(prices)), np.int64)
    orders, ranks = room[0], room[1]
    alarm = state.turbulence >= params.turbulence_threshold
    rank(action, -params.hmax if alarm else 0, params.hmax, orders, ranks)
    cash, trades, commission, slipped, slippage = state.cash, 0, 0.0, 0.0, params.slippage
    for stock in ranks:
        if orders[stock] >= 0:
            break
        shares = holdings[stock] if alarm else min(float(-orders[stock]), holdings[stock])
        if shares > 0.0:
            amount = prices[stock] * shares
            fee = params.sell_cost_pct[min(stock, len(params.sell_cost_pct) - 1)]
            cash += amount * (1.0 - slippage) * (1.0 - fee)
            slipped += amount * slippage
            commission += amount * (1.0 - slippage) * fee
            holdings[stock] -= shares
            trades += 1
    for place in range(len(ranks) - 1, -1, -1):
        stock = ranks[place]
        if orders[stock] <= 0:
            break
        fee = params.buy_cost_pct[min(stock, len(params.buy_cost_pct) - 1)]
        price = prices[stock] * (1.0 + slippage)
        shares, left = float(orders[stock]), max(cash - params.cash_reserve, 0.0)
        if shares * (price * (1.0 + fee)) > left:
            shares = min(shares, left // (price * (1.0 + fee)))
        if shares > 0.0:
            cash -= price * shares * (1.0 + fee)
            slipped += prices[stock] * shares * slippage
            commission += price * shares * fee
            holdings[stock] += shares
            trades += 1
    return cash, trades, commission, slipped


def rank(
    action: Sequence[float] | Numbers, forced: int, hmax: int, orders: NDArray[np.int64], ranks: NDArray[np.int64]
) -> None:
    """Write whole shares into `orders`, and stocks by their orders into `ranks`, the largest sale first."""
    for stock in range(len(orders)):
        order = forced if forced < 0 else int(float(action[stock]) * hmax)
        place = stock
        while place > 0 and orders[ranks[place - 1]] > order:
            ranks[place] = ranks[place - 1]
            place -= 1
        orders[stock], ranks[place] = order, stock


def value_of(cash: float, prices: Numbers, holdings: Numbers) -> float:
    """Cash, and shares at their prices."""
    worth = 0.0
    for stock in range(len(prices)):
        worth += prices[stock] * holdings[stock]
    return cash + worth


def observe(state: State, params: Params) -> Numbers:
    """FinRL's order: cash, prices, shares, and each indicator of all stocks."""
    stocks = len(state.prices)
    seen = np.zeros(1 + 2 * stocks + state.indicators.size)
    seen[0] = state.cash
    for stock in range(stocks):
        seen[1 + stock] = state.prices[stock]
        seen[1 + stocks + stock] = state.holdings[stock]
        for number in range(len(state.indicators)):
            seen[1 + (2 + number) * stocks + stock] = state.indicators[number, stock]
    return seen


def inform(state: State, params: Params) -> Info:
    """What the account is worth, and at the end whether that is more than holding had made of it."""
    value = value_of(state.cash, state.prices, state.holdings)
    outcome, won = 0, False
    if state.day >= state.last:
        held, start = 0.0, params.initial_amount
        for stock in range(len(state.prices)):
            shares = float(params.num_stock_shares[min(stock, len(params.num_stock_shares) - 1)])
            held += state.prices[stock] / state.first[stock] / len(state.prices)
            start += shares * state.first[stock]
        won = value > start and value > start * held
        outcome = SUCCESS if won else FAILURE
    return Info(outcome, won, value, state.turbulence, state.day, state.trades, state.paid)
