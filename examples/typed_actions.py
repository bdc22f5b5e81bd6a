"""Typed actions: a dataclass is a space. It is sampled, validated field by field, written as JSON, and has a schema."""

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
    def __init__(self) -> None:
        self.action_space, self.observation_space = Record(Trade), Discrete(1000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.price = 100
        return self.price, {}

    def step(self, trade: Trade):
        self.action_space.check(trade, "action", ludus.errors.InvalidAction)
        before, self.price = self.price, int(self.price + self.np_random.integers(-9, 10))
        sign = {"buy": 1, "sell": -1, "hold": 0}[trade.side]
        return ludus.Step.transition(self.price, float(sign * trade.amount * (self.price - before)))


env = Market()
env.reset(seed=1)
print(env.step(Trade("buy", 3)))
message = dumps(env.action_space, Trade("sell", 5, note="enough"))
print(message, "→", loads(env.action_space, message))
try:
    env.step(Trade("borrow", 99))
except ludus.errors.InvalidAction as error:
    print(str(error).replace("; ", "\n"))
