"""FinRL: trades as FinRL makes them, features as stockstats has them, and markets with the statistics of real ones."""

import json

import numpy as np
import pandas as pd
import pytest
from stockstats import StockDataFrame

import ludus
from ludus.core import Outcome
from ludus.envs.open.finrl import FinRL, FinRLAction, FinRLMarket
from ludus.envs.open.finrl.data import read_prices
from ludus.envs.open.finrl.policies import POLICIES
from ludus.envs.open.finrl.synthetic import INDICATORS, begun, next_day
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from tests.envs.open_play import mean_returns, play

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, about stockstats


def bars(days, stocks=3, seed=0):
    """Prices of a synthetic market from its first day on, as FinRL's CSV has them."""
    rng, rows = np.random.default_rng(seed), []
    market, prices, indicators = begun(rng, stocks)
    calendar = np.busday_offset("2019-01-01", np.arange(days), roll="forward")
    for day in range(days):
        opened = prices.copy()
        if day:
            market, _ = next_day(market, prices, indicators, rng, 0.05)
        for stock in range(stocks):
            high, low = market.each[stock, :2]
            rows.append((str(calendar[day]), f"T{stock}", opened[stock], high, low, prices[stock], 1000))
    return pd.DataFrame(rows, columns=["date", "tic", "open", "high", "low", "close", "volume"]), indicators


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("prices") / "prices.csv"
    bars(300)[0].to_csv(path, index=False)
    return str(path)


def finrl_features(frame, names):
    """Indicators by stockstats, called as FinRL's FeatureEngineer calls it, day by day, name by name."""
    frame = frame.sort_values(["tic", "date"])
    stock = StockDataFrame.retype(frame.copy())
    each = [[stock[stock.tic == tic][name].to_numpy() for tic in sorted(frame.tic.unique())] for name in names]
    features = np.array(each, float).transpose(2, 0, 1)
    rows = features.transpose(0, 2, 1).reshape(-1, len(names))  # in order of date and stock, as FinRL fills gaps
    filled = pd.DataFrame(rows).ffill().bfill().to_numpy()
    return filled.reshape(len(features), -1, len(names)).transpose(0, 2, 1)


def finrl_turbulence(frame):
    """As FinRL's FeatureEngineer computes it."""
    returns = frame.pivot(index="date", columns="tic", values="close").pct_change()
    found, seen = [0.0] * 252, 0
    for day in range(252, len(returns)):
        year = returns.iloc[day - 252 : day]
        year = year.iloc[year.isna().sum().min() :]
        apart = returns.iloc[day].to_numpy() - year.mean().to_numpy()
        distance = apart @ np.linalg.pinv(year.cov()) @ apart
        seen += distance > 0
        found.append(distance if seen > 2 and distance > 0 else 0.0)
    return np.array(found)


# --- features ---


def test_features_of_a_file_are_finrls(csv):
    frame = pd.read_csv(csv)
    table = read_prices(csv, INDICATORS)
    np.testing.assert_allclose(table.indicators, finrl_features(frame, INDICATORS), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(table.turbulence, finrl_turbulence(frame), rtol=1e-7)
    assert table.tickers == ("T0", "T1", "T2")
    assert len(table.dates) == 300
    assert (table.turbulence[:254] == 0).all()
    assert (table.turbulence[255:] > 0).all()


def test_other_indicators_are_stockstats_own(csv):
    names = ("boll_ub", "close_30_sma", "macd")
    expected = finrl_features(pd.read_csv(csv), names)
    found = read_prices(csv, names).indicators
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(InvalidArgument, match="names that stockstats knows, got 'moon_phase'"):
        read_prices(csv, ("moon_phase",))


def test_indicators_of_a_synthetic_market_are_finrls():
    frame, indicators = bars(80)
    np.testing.assert_allclose(indicators, finrl_features(frame, INDICATORS)[-1], rtol=1e-9, atol=1e-9)


def test_a_column_of_the_file_is_taken_and_a_stock_that_lacks_a_day_left_out(tmp_path):
    frame = bars(5)[0].assign(macd=7.0)
    frame.drop(index=4).to_csv(tmp_path / "a.csv", index=False)
    table = read_prices(str(tmp_path / "a.csv"), ("macd",))
    assert table.tickers == ("T0", "T2")
    assert (table.indicators == 7.0).all()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("date,close\n2020-01-01,3\n", "got no tic"),
        ("date,tic,close\n2020-01-01,A,three\n", "line 2: expected a number as close, got 'three'"),
        ("date,tic,close\n2020-01-01,A,3\n", "at least two days"),
        ("date,tic,close\n2020-01-01,A,3\n2020-01-02,A,-3\n", "closing prices above 0"),
        ("date,tic,close\n2020-01-01,A,3\n2020-01-02,A,3\n", "high and low to compute it"),
    ],
)
def test_a_file_that_is_none_says_where(tmp_path, text, match):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InvalidArgument, match=match):
        FinRL(data_path=str(tmp_path / "bad.csv"))


# --- trades ---


class Account:
    """FinRL's StockTradingEnv, written down once more: lists, sorted orders, no slippage."""

    def __init__(self, table, hmax=100, cash=1e5, cost=0.001, threshold=np.inf):
        self.table, self.hmax, self.cost, self.threshold = table, hmax, cost, threshold
        self.day, self.cash, self.held = 0, cash, np.zeros(table.closes.shape[1])

    def worth(self):
        return self.cash + float(sum(self.table.closes[self.day] * self.held))

    def step(self, action):
        prices, before = self.table.closes[self.day], self.worth()
        orders = (np.array(action) * self.hmax).astype(int)
        alarm = self.table.turbulence[self.day] >= self.threshold
        if alarm:
            orders = np.array([-self.hmax] * len(orders))
        order = np.argsort(orders)
        for stock in order[: (orders < 0).sum()]:
            shares = self.held[stock] if alarm else min(abs(orders[stock]), self.held[stock])
            self.cash += prices[stock] * shares * (1 - self.cost)
            self.held[stock] -= shares
        for stock in order[::-1][: (orders > 0).sum()]:
            shares = min(self.cash // (prices[stock] * (1 + self.cost)), orders[stock])
            self.cash -= prices[stock] * shares * (1 + self.cost)
            self.held[stock] += shares
        self.day += 1
        return (self.worth() - before) * 1e-4


@pytest.mark.parametrize("threshold", [None, 4.0])
def test_trades_are_finrls(csv, threshold):
    table = read_prices(csv, INDICATORS)
    env = FinRL(data_path=csv, initial_amount=1e5, turbulence_threshold=threshold)
    account = Account(table, threshold=np.inf if threshold is None else threshold)
    observation, _ = env.reset(seed=0)
    rng, alarms = np.random.default_rng(1), 0
    for day in range(299):
        expected = [account.cash, *table.closes[day], *account.held, *table.indicators[day].ravel()]
        assert observation.state == pytest.approx(expected, rel=1e-12, abs=1e-9)
        assert observation.date == table.dates[day]
        action = (rng.uniform(-0.6, 1.0, 3)).tolist()
        step = env.step(FinRLAction(action))
        alarms += step.info["facts"]["turbulent"]
        assert step.reward == pytest.approx(account.step(action), abs=1e-9)
        observation = step.observation
        assert observation.portfolio_value == pytest.approx(account.worth())
    assert step.terminated
    assert (alarms > 3) is (threshold is not None)
    assert account.cash < 2e4 or threshold  # cash had run out, so that the order of purchases counted


def test_slippage_and_reserves_and_commissions_are_paid():
    env = FinRL(stocks=1, slippage=0.01, buy_cost_pct=0.02, sell_cost_pct=[0.05], initial_amount=1e4, cash_reserve=5e3)
    observation, _ = env.reset(seed=2)
    price = observation.state[1]
    step = env.step(FinRLAction([1.0]))
    shares = step.observation.state[2]
    assert shares == 5000 // (price * 1.01 * 1.02)
    assert step.observation.state[0] == pytest.approx(1e4 - price * shares * 1.01 * 1.02)
    assert step.info["reward_components"]["commissions"] == pytest.approx(-price * shares * 1.01 * 0.02 * 1e-4)
    assert step.info["reward_components"]["slippage"] == pytest.approx(-price * shares * 0.01 * 1e-4)
    assert sum(step.info["reward_components"].values()) == pytest.approx(step.reward)
    price, cash = step.observation.state[1], step.observation.state[0]
    step = env.step(FinRLAction([-1.0]))
    assert step.observation.state[0] == pytest.approx(cash + price * shares * 0.99 * 0.95)
    assert step.observation.state[2] == 0


# --- the environment ---


def test_a_seed_is_a_market():
    def history(seed):
        env, rng = FinRL(days=12), np.random.default_rng(0)
        told = [env.reset(seed=seed)]
        told += [env.step(POLICIES["random"](env, None, rng)) for _ in range(12)]
        assert told[-1].terminated
        return told

    assert history(3) == history(3)
    assert history(3) != history(4)


def test_a_stretch_of_given_prices_is_drawn_by_the_seed(csv):
    env = FinRL(data_path=csv, days=50)
    dates = {env.reset(seed=seed)[0].date for seed in range(20)}
    assert len(dates) > 10
    env.reset(seed=1)
    assert [env.step(FinRLAction([0, 0, 0])).terminated for _ in range(50)] == [False] * 49 + [True]


@pytest.mark.parametrize("seeds", [4, pytest.param(20, marks=pytest.mark.full)])
def test_who_knows_tomorrow_earns_more_and_nonsense_is_refused(seeds):
    means, winners = mean_returns(lambda: ludus.make("open/FinRL-v0", days=120), POLICIES, range(seeds), most=130)
    assert means["oracle"] > means["random"] >= means["nop"] == 0.0
    assert "oracle" in winners
    assert not winners & {"nop", "garbage"}
    assert play(ludus.make("open/FinRL-v0"), POLICIES["garbage"], 0, most=30)[2] == 30


def test_a_win_is_more_than_holding_all_stocks():
    env = FinRL(stocks=2, days=40)
    env.reset(seed=5)
    first = np.array(env._position.prices)
    while True:
        step = env.step(POLICIES["oracle"](env, None, None))
        if step.done:
            break
    held = 1e6 * float(np.mean(env._position.prices / first))
    assert step.info["facts"]["won"] is (step.observation.portfolio_value > max(1e6, held))
    assert step.info["outcome"] is (Outcome.SUCCESS if step.info["facts"]["won"] else Outcome.FAILURE)
    with pytest.raises(ResetNeeded):
        env.step(FinRLAction([0.0, 0.0]))


@pytest.mark.parametrize("wrong", [[], [0.1], [0.1] * 6, [float("nan")] * 5, [2.0] * 5, "all", None])
def test_what_is_no_order_is_refused_and_the_episode_goes_on(wrong):
    env = ludus.make("open/FinRL-v0")
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match="action"):
        env.step({"actions": wrong})
    assert env.step({"actions": [0.5] * 5}).info["trades"] == 5


def test_the_variable_of_the_original_is_read(csv, tmp_path, monkeypatch):
    config = {
        "data_path": csv,
        "stock_dim": 3,
        "hmax": 7,
        "buy_cost_pct": [0.0, 0.0, 0.0],
        "tech_indicator_list": ["dx_30"],
    }
    (tmp_path / "config.json").write_text(json.dumps(config | {"state_space": 10, "action_space": 3}))
    monkeypatch.setenv("FINRL_CONFIG_PATH", str(tmp_path / "config.json"))
    env = FinRL()
    observation, _ = env.reset(seed=0)
    assert len(observation.state) == 10
    assert env.step(FinRLAction([1.0, 1.0, 1.0])).observation.state[4:7] == [7.0, 7.0, 7.0]
    (tmp_path / "config.json").write_text(json.dumps(config | {"stock_dim": 4}))
    with pytest.raises(InvalidArgument, match="FinRL stock_dim: expected 3"):
        FinRL()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"hmx": 3}, "did you mean 'hmax'"),
        ({"hmax": 0}, "hmax: expected a positive number"),
        ({"stocks": 0}, "stocks: expected a number from 1"),
        ({"buy_cost_pct": [0.1, 0.2]}, "one for each of 5 stocks"),
        ({"slippage": 1.5}, "slippage: expected a part"),
        ({"indicators": ("boll",)}, "without data_path"),
        ({"data_path": "/nowhere.csv"}, "expected a CSV file"),
        ({"data_path": 5}, "data_path: expected the path of a CSV file, got 5"),
        ({"indicators": 5}, "indicators: expected a list of names, got 5"),
        ({"hmax": "many"}, "hmax: expected a positive number, got 'many'"),
        ({"slippage": "some"}, "slippage: expected a part from 0 to 1, got 'some'"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        FinRL(**arguments)


def test_a_snapshot_goes_on_alike():
    env = FinRL(stocks=2)
    env.reset(seed=5)
    env.step(FinRLAction([1.0, 1.0]))
    before = env.snapshot()
    first = [env.step(FinRLAction([0.5, -0.5])) for _ in range(4)]
    env.restore(before)
    assert [env.step(FinRLAction([0.5, -0.5])) for _ in range(4)] == first


def test_a_button_is_an_order():
    env = FinRL(stocks=3)
    assert [one["action"]["actions"] for one in env.metadata["regions"]] == [
        [-1.0, 0, 0], [1.0, 0, 0], [0, -1.0, 0], [0, 1.0, 0], [0, 0, -1.0], [0, 0, 1.0], [0, 0, 0],
    ]  # fmt: skip
    assert env.get_keys_to_action()["w"].actions == [0.0, -1.0, 0.0]


def test_arrays_and_typed_orders_are_one_market(csv):
    for arguments in ({"stocks": 3, "days": 30}, {"data_path": csv, "days": 30}):
        typed, arrays = FinRL(**arguments), FinRLMarket(**arguments)
        observation, _ = typed.reset(seed=5)
        seen, info = arrays.reset(seed=5)
        rng = np.random.default_rng(0)
        for _ in range(30):
            assert seen.tolist() == observation.state
            assert info["portfolio_value"] == observation.portfolio_value
            action = np.round(rng.uniform(-1, 1, 3) * 64) / 64
            step = typed.step(FinRLAction(action.tolist()))
            seen, reward, over, _, info = arrays.step(action.astype(np.float32))
            observation = step.observation
            assert (reward, over) == (step.reward, step.terminated)
        assert over
        assert Outcome.told(info["outcome"]) is step.info["outcome"]


# --- a compiled batch of markets ---


@pytest.fixture(scope="module")
def markets():
    """Closing prices of 48 markets over 1,000 days: lane by lane, stock by stock."""
    envs = ludus.make_vec("open/FinRLMarket-v0", 48, days=1000, max_episode_steps=2000)
    assert envs.executor == "kernel"
    seen, _ = envs.reset(seed=100)
    idle, closes = np.zeros((48, 5), np.float32), [seen[:, 1:6]]
    closes.extend(envs.step(idle)[0][:, 1:6] for _ in range(999))
    return np.array(closes)


def test_a_lane_is_the_environment_of_its_seed(markets):
    env = FinRLMarket(days=1000)
    seen, _ = env.reset(seed=107)
    for day in range(20):
        assert (markets[day, 7] == seen[1:6]).all()
        seen = env.step(np.zeros(5, np.float32)).observation


def test_returns_have_the_statistics_of_real_ones(markets):
    returns = np.diff(np.log(markets), axis=0)
    apart = returns - returns.mean(axis=0)
    kurtosis = (apart**4).mean(axis=0) / (apart**2).mean(axis=0) ** 2 - 3.0
    assert np.median(kurtosis) > 1.5  # fat tails
    assert (kurtosis > 0).mean() > 0.95
    squares = apart**2 - (apart**2).mean(axis=0)
    clusters = [(squares[lag:] * squares[:-lag]).mean(axis=0) / (squares**2).mean(axis=0) for lag in (1, 5, 10)]
    assert all(np.median(one) > 0.05 for one in clusters)  # volatility comes in clusters
    plain = [(apart[lag:] * apart[:-lag]).mean(axis=0) / (apart**2).mean(axis=0) for lag in (1, 5)]
    assert all(abs(np.mean(one)) < 0.02 for one in plain)  # returns themselves do not repeat
    crossed = np.array([np.corrcoef(returns[:, lane].T)[np.triu_indices(5, 1)] for lane in range(48)])
    assert 0.15 < crossed.mean() < 0.7
    assert (crossed > 0).mean() > 0.95
    yearly = returns.std() * np.sqrt(252)
    assert 0.15 < yearly < 0.45
    assert 0.0 < returns.mean() * 252 < 0.16
