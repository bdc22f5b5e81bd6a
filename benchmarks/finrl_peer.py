"""`open/FinRL-v0` beside FinRL's own `StockTradingEnv`: whether both give the same numbers, and steps a second.

    pip install --no-deps finrl && pip install gymnasium pandas     # into a virtual environment of its own
    PYTHON=that/bin/python .venv/bin/python benchmarks/finrl_peer.py

FinRL's class is loaded from its file: what its package imports beside it (trainers, plots) is not needed for trading.
It is given our indicators and our turbulence, so that trading alone is compared; that features are equal, a test holds.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

TICKERS, DAYS, RUNS = ("AAA", "BBB", "CCC", "DDD", "EEE"), 600, 5


def actions() -> Any:
    """The same for both."""
    return np.random.default_rng(1).uniform(-1, 1, (DAYS, len(TICKERS))).astype(np.float32)


def write_prices(path: Path) -> None:
    """Random walks of business days."""
    rng, lines = np.random.default_rng(0), ["date,tic,open,high,low,close,volume"]
    days = np.busday_offset("2018-01-01", np.arange(DAYS), roll="forward")
    for ticker in TICKERS:
        close = rng.uniform(20, 200) * np.exp(np.cumsum(rng.normal(0, 0.02, DAYS)))
        for day, one in zip(days, close, strict=True):
            lines.append(f"{day},{ticker},{one:.6f},{one * 1.01:.6f},{one * 0.99:.6f},{one:.6f},1000")
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def ours(path: Path, threshold: float | None) -> tuple[list[Any], float]:
    """States and rewards, and steps per second of the processor."""
    from ludus.envs.open.finrl import FinRL, FinRLAction  # not in FinRL's interpreter

    env = FinRL(str(path), days=0, turbulence_threshold=threshold)
    orders = [FinRLAction(one.tolist()) for one in actions()[: DAYS - 2]]
    history, best = [], 0.0
    for _ in range(RUNS):
        env.reset(seed=0)
        begun = time.process_time()
        steps = [env.step(one) for one in orders]
        best = max(best, len(steps) / (time.process_time() - begun))
        history = [[list(step.observation.state), step.reward] for step in steps]
    return history, best


def theirs(path: str, threshold: float | None) -> tuple[list[Any], float]:
    """The same of FinRL's class, in the interpreter that has it."""
    import pandas as pd  # type: ignore[import-not-found]

    trainers = ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.vec_env")
    for name in (*trainers, "matplotlib", "matplotlib.pyplot"):
        sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[trainers[-1]])["DummyVecEnv"] = object
    vars(sys.modules["matplotlib"])["use"] = str
    found: Any = importlib.util.find_spec("finrl")
    file = Path(found.submodule_search_locations[0]) / "meta" / "env_stock_trading" / "env_stocktrading.py"
    spec: Any = importlib.util.spec_from_file_location("env_stocktrading", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    frame = pd.read_csv(path).sort_values(["date", "tic"])
    frame.index = frame.date.factorize()[0]
    stocks, kinds = len(TICKERS), ["macd", "rsi_30", "cci_30", "dx_30"]
    env = module.StockTradingEnv(
        df=frame, stock_dim=stocks, hmax=100, initial_amount=1_000_000, num_stock_shares=[0] * stocks,
        buy_cost_pct=[0.001] * stocks, sell_cost_pct=[0.001] * stocks, reward_scaling=1e-4,
        state_space=1 + (2 + len(kinds)) * stocks, action_space=stocks, tech_indicator_list=kinds,
        turbulence_threshold=threshold, print_verbosity=10**9,
    )  # fmt: skip
    history, best = [], 0.0
    for _ in range(RUNS):
        env.reset()
        begun = time.process_time()
        steps: list[tuple[list[Any], float]] = []
        for one in actions()[: DAYS - 2]:
            state, reward, *_ = env.step(one.copy())
            steps.append((list(state), reward))  # it changes the list that it gave
        best = max(best, len(steps) / (time.process_time() - begun))
        history = [[[float(one) for one in state], float(reward)] for state, reward in steps]
    return history, best


def featured(path: Path, target: Path) -> list[float]:
    """The file with our indicators and turbulence in it, as FinRL's own preparation leaves one; the turbulence."""
    import pandas as pd

    from ludus.envs.open.finrl.data import read_prices
    from ludus.envs.open.finrl.synthetic import INDICATORS

    table = read_prices(str(path), INDICATORS)
    frame = pd.read_csv(path).sort_values(["date", "tic"])
    for number, name in enumerate(INDICATORS):
        frame[name] = table.indicators[:, number, :].reshape(-1)
    frame["turbulence"] = np.repeat(table.turbulence, len(TICKERS))
    frame.to_csv(target, index=False, float_format="%.17g")
    return table.turbulence.tolist()


def main() -> None:
    """Without a threshold of turbulence, and with one that some days reach."""
    python = os.environ.get("PYTHON")
    if not python:
        print("not measured: expected PYTHON=an/interpreter that has finrl, got none (see the top of this file)")
        return
    with tempfile.TemporaryDirectory() as folder:
        path, features = Path(folder, "prices.csv"), Path(folder, "features.csv")
        write_prices(path)
        turbulence = featured(path, features)
        for threshold in (None, float(np.quantile(turbulence, 0.95))):
            code = f"import json, finrl_peer; print(json.dumps(finrl_peer.theirs({str(features)!r}, {threshold!r})))"
            path_of = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
            done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, env=path_of, check=True)
            (states, speed), (own, own_speed) = json.loads(done.stdout.splitlines()[-1]), ours(path, threshold)
            far = max(max(map(abs, np.subtract(a[0], b[0]))) for a, b in zip(states, own, strict=True))
            apart = max(abs(a[1] - b[1]) for a, b in zip(states, own, strict=True))
            print(f"threshold {threshold}: {len(own)} steps, states differ by at most {far:g}, rewards by {apart:g}")
            print(
                f"steps a second of the processor: FinRL {speed:,.0f}, ours {own_speed:,.0f}: {own_speed / speed:.1f}×"
            )


if __name__ == "__main__":
    main()
