"""FinRL: portfolio trading with typed actions, in OpenEnv's words."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.envs.open.finrl import rules
from ludus.envs.open.finrl.data import PriceTable, read_prices
from ludus.envs.open.finrl.market import checked_params
from ludus.envs.open.finrl.picture import HEIGHT, WIDTH, button_places, finrl_picture
from ludus.envs.open.finrl.synthetic import INDICATORS
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, did_you_mean, shorten
from ludus.kernels.parameters import coerce_parameters
from ludus.kernels.state_arrays import own_copy
from ludus.rendering import Canvas, Drawn
from ludus.seeding import Seed
from ludus.spaces import Box, Record
from ludus.spaces.kinds import is_dict, is_list_or_tuple

__all__ = ["FinRL", "FinRLAction", "FinRLObservation", "FinRLState"]

VARIABLE = "FINRL_CONFIG_PATH"
DERIVED = ("stock_dim", "state_space", "action_space")
"""What OpenEnv's configuration repeats although it follows from the data."""
INNER = ("closes", "indicators", "turbulence")
FIRST_DATE = "2020-01-01"


@dataclass
class FinRLAction:
    """A number for each stock from -1 to 1: the part of `hmax` shares to buy, or to sell below 0."""

    __tool__: ClassVar[str] = "trade"

    actions: list[float]


@dataclass
class FinRLObservation:
    """Cash, prices, shares and indicators in FinRL's order; what all is worth; and the day."""

    state: list[float]
    portfolio_value: float
    date: str


@dataclass
class FinRLState:
    """What is shown of the account."""

    day: int = 0
    date: str = ""
    portfolio_value: float = 0.0
    cash: float = 0.0
    holdings: dict[str, int] = field(default_factory=dict[str, int])
    trades: int = 0
    total_cost: float = 0.0
    turbulence: float = 0.0


@cache
def action_model(stocks: int) -> type[FinRLAction]:
    """The class of actions for so many stocks, so that a client learns how many numbers there are."""
    share = Annotated[float, Box(-1.0, 1.0, (), np.float64)]
    length = msgspec.Meta(min_length=stocks, max_length=stocks)
    made = make_dataclass("FinRLAction", [("actions", Annotated[list[share], length])], bases=(FinRLAction,))
    made.__doc__, made.__module__, made.__qualname__ = FinRLAction.__doc__, __name__, f"FinRLAction_{stocks}"
    return made


def __getattr__(name: str) -> type[FinRLAction]:
    """The classes that `action_model` makes, so that pickles of snapshots find them in any process."""
    stem, _, number = name.rpartition("_")
    if stem == "FinRLAction" and number.isdecimal():
        return action_model(int(number))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class FinRL(Drawn, Env[FinRLObservation, FinRLAction]):
    """Trade stocks day by day, with commissions, slippage, limits of cash and a guard against turbulence.

    Prices come from a CSV with FinRL's columns, or are drawn from the seed. Sales come before purchases, shares are
    whole, and nobody borrows. `trading` are the parameters of FinRL's `StockTradingEnv` by their names.

    >>> env = FinRL(stocks=2, days=20)
    >>> observation, info = env.reset(seed=0)
    >>> observation.portfolio_value, observation.date
    (1000000.0, '2020-01-01')
    >>> step = env.step(FinRLAction([1.0, 0.5]))
    >>> step.observation.state[3:5], step.observation.date
    ([100.0, 50.0], '2020-01-02')
    """

    metadata = Drawn.metadata | {"render_fps": 8}

    def __init__(
        self,
        data_path: str | None = None,
        indicators: tuple[str, ...] | None = None,
        *,
        render_mode: str | None = None,
        **trading: object,
    ) -> None:
        settings = _configured() | trading
        path: object = data_path or settings.pop("data_path", None)
        names = _names(indicators or settings.pop("tech_indicator_list", None) or INDICATORS)
        if path is not None and not isinstance(path, str | Path):
            raise InvalidArgument(f"FinRL data_path: expected the path of a CSV file, got {shorten(path)}")
        table = None if path is None else read_prices(str(path), names)
        if table is None and names != INDICATORS:
            raise InvalidArgument(f"FinRL indicators: expected {list(INDICATORS)} without data_path, got {list(names)}")
        params = _params(settings, table, len(names))
        self.params: rules.Params = coerce_parameters("FinRL", rules.Params, params)
        self._table = table
        stocks = self.params.stocks
        self.tickers = tuple(f"S{number}" for number in range(stocks)) if table is None else table.tickers
        self.action_space, self.observation_space = Record(action_model(stocks)), Record(FinRLObservation)
        self.metadata = self.metadata | {"regions": _regions(stocks)}
        self.render_mode = render_mode
        self._position: rules.State | None = None
        self._needs = "no episode under way"
        self._prices: list[list[float]] = []
        self._values: list[float] = []

    @property
    def state(self) -> FinRLState | None:
        """The account; None before the first reset."""
        position = self._position
        if position is None:
            return None
        held = {name: int(shares) for name, shares in zip(self.tickers, position.holdings.tolist(), strict=True)}
        facts = rules.inform(position, self.params)
        return FinRLState(
            position.day, self._date(position), float(facts.portfolio_value), float(position.cash), held, facts.trades,
            float(facts.total_cost), float(facts.turbulence),
        )  # fmt: skip

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[FinRLObservation, Info]:
        """The first day; a synthetic market is drawn anew."""
        if options:
            raise InvalidArgument(f"options: expected none, since FinRL has no reset options, got {shorten(options)}")
        super().reset(seed=seed)
        self._position = rules.reset(self.np_random, self.params)
        self._needs, self._prices, self._values = "", [], []
        return self._seen(self._position), {"tickers": list(self.tickers)}

    def step(self, action: FinRLAction) -> Step[FinRLObservation]:
        """Trade, and let a day pass."""
        if self._needs or self._position is None:
            raise ResetNeeded(f"step: expected reset() first, got {self._needs}")
        orders = self.action_space.coerce(action, "action", InvalidAction).actions
        # A copy: rules change arrays in place, and a snapshot may hold the last ones.
        moved, reward, ended = rules.step(own_copy(self._position), orders, self.np_random, self.params)
        self._position = moved
        if ended:
            self._needs = "an episode that has ended"
        scale = self.params.reward_scaling
        facts = rules.inform(moved, self.params)
        info: Info = {
            "reward_components": {
                "prices": float(moved.gained * scale),
                "commissions": float(-moved.commission * scale),
                "slippage": float(-moved.slipped * scale),
            },
            "facts": {"won": bool(facts.won), "turbulent": bool(moved.turbulence >= self.params.turbulence_threshold)},
            "turbulence": float(facts.turbulence),
            "trades": facts.trades,
            "total_cost": float(facts.total_cost),
        }
        if facts.outcome:
            info["outcome"] = Outcome.of(facts.outcome)
        return Step(self._seen(moved), float(reward), bool(ended), False, info)

    def _seen(self, position: rules.State) -> FinRLObservation:
        value = rules.value_of(position.cash, position.prices, position.holdings)
        self._prices = [*self._prices, position.prices.tolist()]
        self._values = [*self._values, float(value)]
        return FinRLObservation(rules.observe(position, self.params).tolist(), float(value), self._date(position))

    def _date(self, position: rules.State) -> str:
        if self._table is not None:
            return self._table.dates[position.day]
        return str(np.busday_offset(FIRST_DATE, position.day, roll="forward"))

    def get_keys_to_action(self) -> dict[str, FinRLAction]:
        """Space waits; 1 to 9 buy a stock, and the keys below them sell it."""
        stocks = self.params.stocks
        keys = {" ": FinRLAction([0.0] * stocks)}
        for stock, (up, down) in enumerate(zip("123456789"[:stocks], "qwertyuio"[:stocks], strict=True)):
            keys[up], keys[down] = FinRLAction(_only(stock, 1, stocks)), FinRLAction(_only(stock, -1, stocks))
        return keys

    def draw(self) -> Canvas:
        """Prices and the account since the first day, and what there is to click."""
        position = self._position
        if position is None:
            return finrl_picture((), np.zeros((0, 0)), (), (), self.params.initial_amount)
        return finrl_picture(
            self.tickers, np.array(self._prices), self._values, position.holdings, position.cash,
            date=self._date(position), buttons=True,
        )  # fmt: skip


def _configured() -> dict[str, object]:
    """What the file of OpenEnv's variable says."""
    path = os.environ.get(VARIABLE)
    if not path:
        return {}
    try:
        found: object = json.loads(Path(path).read_text(encoding="utf8"))
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"{VARIABLE}: expected a JSON file, got {shorten(path)}: {error}") from None
    if not is_dict(found):
        raise InvalidArgument(f"{VARIABLE}: expected a JSON object in {path}, got {shorten(found)}")
    return dict(found)


def _names(given: object) -> tuple[str, ...]:
    names = tuple([one for one in given if isinstance(one, str)]) if is_list_or_tuple(given) else ()
    if not is_list_or_tuple(given) or len(names) < len(given):
        raise InvalidArgument(f"FinRL indicators: expected a list of names, got {shorten(given)}")
    return names


def _params(settings: Mapping[str, object], table: PriceTable | None, kinds: int) -> dict[str, object]:
    known = [name for name in rules.Params._fields if name not in INNER]
    unknown = [name for name in settings if name not in (*known, *DERIVED)]
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise InvalidArgument(f"FinRL: expected parameters out of {known}, got {unknown[0]!r}{meant}")
    found, stocks = checked_params("FinRL", table, {name: one for name, one in settings.items() if name in known})
    follows = dict(zip(DERIVED, (stocks, 1 + (2 + kinds) * stocks, stocks), strict=True))
    for name, expected in follows.items():
        if settings.get(name, expected) != expected:
            raise InvalidArgument(f"FinRL {name}: expected {expected}, as the data has it, got {settings[name]!r}")
    return found


def _only(stock: int, sign: int, stocks: int) -> list[float]:
    return [float(sign) if number == stock else 0.0 for number in range(stocks)]


def _regions(stocks: int) -> list[dict[str, object]]:
    """The buttons of the picture."""
    return [
        {"x": x / WIDTH, "y": y / HEIGHT, "width": width / WIDTH, "height": height / HEIGHT,
         "action": {"actions": _only(stock, sign, stocks)}}
        for x, y, width, height, stock, sign in button_places(stocks)
    ]  # fmt: skip
