"""Ways to trade: knowing tomorrow's prices, at random, not at all, and with what is no order."""

from copy import deepcopy

import numpy as np

from ludus.envs.open.finrl import rules
from ludus.envs.open.finrl.finrl import FinRL, FinRLAction, FinRLObservation

__all__ = ["POLICIES"]


def oracle(env: FinRL, observation: FinRLObservation, rng: np.random.Generator) -> FinRLAction:
    """Buy what will rise by more than trading costs, and sell what will fall by more."""
    del observation, rng
    now: rules.State = env.get_wrapper_attr("_position")
    ahead, _, _ = rules.step(deepcopy(now), [0.0] * len(now.prices), deepcopy(env.np_random), env.params)
    costs = 2 * (env.params.buy_cost_pct.max() + env.params.slippage)
    change = ahead.prices / now.prices - 1.0
    return FinRLAction([1.0 if one > costs else -1.0 if one < -costs else 0.0 for one in change.tolist()])


def random(env: FinRL | None, observation: FinRLObservation, rng: np.random.Generator) -> FinRLAction:
    """Any orders; away from its environment, for the five stocks of a market that was not asked for otherwise."""
    del observation
    return FinRLAction(rng.uniform(-1.0, 1.0, 5 if env is None else env.params.stocks).tolist())


def nop(env: FinRL, observation: FinRLObservation, rng: np.random.Generator) -> FinRLAction:
    """Keep what there is."""
    del observation, rng
    return FinRLAction([0.0] * env.params.stocks)


def garbage(env: FinRL, observation: FinRLObservation, rng: np.random.Generator) -> object:
    """What is no order."""
    del observation
    stocks = env.params.stocks
    wrong: list[object] = [
        FinRLAction([]), FinRLAction([0.5] * (stocks + 1)), FinRLAction([float("nan")] * stocks),
        FinRLAction([1e9] * stocks), {"actions": "all in"}, {"buy": 1}, None, 3,
    ]  # fmt: skip
    return wrong[int(rng.integers(len(wrong)))]


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
