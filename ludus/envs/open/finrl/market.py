"""The market as arrays: what a batch compiles."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ludus.envs.open.finrl.data import PriceTable, read_prices
from ludus.envs.open.finrl.picture import finrl_picture
from ludus.envs.open.finrl.rules import Params, State, inform, observe, reset, step, value_of
from ludus.envs.open.finrl.synthetic import INDICATORS, WINDOW, Numbers
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import RuleEnv, Rules
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Box

__all__ = ["FinRLMarket", "checked_params"]

MAX_STOCKS = 1000
POSITIVE = ("hmax", "initial_amount", "reward_scaling")
PARTS = ("slippage", "buy_cost_pct", "sell_cost_pct")
PER_STOCK = ("num_stock_shares", "buy_cost_pct", "sell_cost_pct")


class MarketParams(NamedTuple):
    """Parameters that were given, checked, and the number of stocks."""

    values: dict[str, object]
    stocks: int


def checked_params(owner: str, table: PriceTable | None, given: Mapping[str, object]) -> MarketParams:
    """Parameters as the rules take them: prices in, numbers for each stock as arrays, None as no limit."""
    found = dict(given)
    if table is not None:
        found |= {"closes": table.closes, "indicators": table.indicators, "turbulence": table.turbulence}
        found |= {"stocks": len(table.tickers), "days": given.get("days", 0)}
    stocks = found.get("stocks", Params().stocks)
    if not isinstance(stocks, int) or not 1 <= stocks <= MAX_STOCKS:
        raise InvalidArgument(f"{owner} stocks: expected a number from 1 to {MAX_STOCKS}, got {shorten(stocks)}")
    days = found.get("days", 252)
    if not isinstance(days, int) or days < (0 if table is not None else 1):
        raise InvalidArgument(f"{owner} days: expected a number of trading days, got {shorten(days)}")
    if found.get("turbulence_threshold", 0.0) is None:
        found["turbulence_threshold"] = np.inf
    for name in PER_STOCK:
        if name in found:
            found[name] = _for_stocks(owner, name, found[name], stocks)
    for name in POSITIVE:
        if not _is_positive(found.get(name, 1)):
            raise InvalidArgument(f"{owner} {name}: expected a positive number, got {shorten(found[name])}")
    for name in PARTS:
        if not _are_parts(found.get(name, 0.0)):
            raise InvalidArgument(f"{owner} {name}: expected a part from 0 to 1, got {shorten(found[name])}")
    return MarketParams(found, stocks)


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(value > 0)


def _are_parts(value: object) -> bool:
    numbers = np.asarray(value)
    return numbers.dtype.kind in "biuf" and bool(np.all((numbers >= 0.0) & (numbers < 1.0)))


def _for_stocks(owner: str, name: str, given: object, stocks: int) -> Numbers:
    try:
        numbers = np.atleast_1d(np.asarray(given, np.float64))
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape not in ((1,), (stocks,)) or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise InvalidArgument(f"{owner} {name}: expected one number, or one for each of {stocks} stocks, got {given!r}")
    return numbers


class FinRLMarket(Drawn, RuleEnv):
    """Buy (above 0) and sell (below 0) up to `hmax` shares of each stock; the reward is what the account gained.

    An observation is FinRL's state: cash, prices, shares, and MACD, RSI, CCI and DX of each stock. The market is drawn
    from the seed, or comes from `data_path`, a CSV with FinRL's columns.

    >>> env = FinRLMarket(stocks=2, days=20)
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, float(info["portfolio_value"])
    ((13,), 1000000.0)
    >>> step = env.step(np.array([1.0, -1.0], np.float32))
    >>> step.observation[3:5]
    array([100.,   0.])
    """

    rules = Rules(State, Params, reset, step, observe, inform)
    metadata = Drawn.metadata | {"render_fps": 8}

    def __init__(
        self,
        data_path: str | None = None,
        indicators: tuple[str, ...] = INDICATORS,
        *,
        render_mode: str | None = None,
        **params: object,
    ) -> None:
        self.table = None if data_path is None else read_prices(data_path, tuple(indicators))
        checked, stocks = checked_params("FinRLMarket", self.table, params)
        kinds = len(indicators) if self.table is not None else len(INDICATORS)
        self.action_space = Box(-1.0, 1.0, (stocks,), np.float32)
        self.observation_space = Box(-np.inf, np.inf, (1 + (2 + kinds) * stocks,), np.float64)
        super().__init__(render_mode=render_mode, **checked)

    def draw(self) -> Canvas:
        """The last thirty days of prices, shares and cash."""
        state = self._state
        if state is None:
            return finrl_picture((), np.zeros((0, 0)), (), (), 0.0)
        if self.table is None:
            order = [(state.market.days + at) % WINDOW for at in range(WINDOW)]
            tickers, history = tuple(f"S{number}" for number in range(len(state.prices))), state.market.typical.T[order]
        else:
            tickers, history = self.table.tickers, self.table.closes[max(0, state.day - WINDOW + 1) : state.day + 1]
        value = value_of(state.cash, state.prices, state.holdings)
        return finrl_picture(tickers, history, (value,), state.holdings, state.cash)
