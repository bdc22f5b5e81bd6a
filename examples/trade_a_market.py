"""Trade a synthetic market by its momentum, against holding all stocks: `python examples/trade_a_market.py`."""

import numpy as np

import ludus
from ludus.envs.open import FinRLAction

for seed in range(3):
    env = ludus.make("open/FinRL-v0", days=120)
    observation, info = env.reset(seed=seed)
    first = np.array(observation.state[1:6])
    while True:
        macd = observation.state[11:16]  # cash, five prices, five holdings, then MACD
        step = env.step(FinRLAction([1.0 if one > 0 else -1.0 for one in macd]))
        observation = step.observation
        if step.done:
            break
    held = 1e6 * float(np.mean(np.array(observation.state[1:6]) / first))
    print(f"seed {seed}: {observation.portfolio_value:,.0f} by momentum, {held:,.0f} by holding")
