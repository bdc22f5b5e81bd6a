"""Typed actions: a dataclass is a space, sampled, validated field by field, and written as JSON."""

from dataclasses import dataclass
from typing import Annotated, Literal

import ludus
from ludus.spaces import Discrete, Record, dumps, loads


@dataclass
class Trade:
    side: Literal["buy", "sell", "hold"]
    amount: Annotated[int, Discrete(10, start=1)]
    note: str | None = None


class Market(ludus.Env):
    action_space, observation_space = Record(Trade), Discrete(1000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.price = 100
        return 100, {}

    def step(self, trade: Trade):
        self.action_space.check(trade, "action", ludus.errors.InvalidAction)
        change = int(self.np_random.integers(-9, 10))
        self.price += change
        held = {"buy": trade.amount, "sell": -trade.amount, "hold": 0}[trade.side]
        return ludus.Step.transition(self.price, float(held * change))


env = Market()
env.reset(seed=1)
trade = loads(env.action_space, b'{"side": "sell", "amount": 3}')  # checked on the way in
print(trade, dumps(env.action_space, trade).decode(), env.step(trade), sep="\n")
try:
    env.step(Trade("borrow", 99))
except ludus.errors.InvalidAction as error:
    print(error)
