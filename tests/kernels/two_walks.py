"""Two sets of rules in one file, alike but for what they do."""

from typing import Any, NamedTuple

from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Discrete


class State(NamedTuple):
    place: int


class Params(NamedTuple):
    goal: int = 3


def reset(rng: Any, params: Params) -> State:
    return State(10)


def forward(state: State, action: int, rng: Any, params: Params) -> tuple[State, float, bool]:
    return State(state.place + 1), 1.0, False


def backward(state: State, action: int, rng: Any, params: Params) -> tuple[State, float, bool]:
    return State(state.place - 1), 1.0, False


def observe(state: State, params: Params) -> int:
    return state.place


class Forward(RuleEnv):
    observation_space, action_space = Discrete(99), Discrete(2)
    rules = Rules(State, Params, reset, forward, observe)


class Backward(RuleEnv):
    observation_space, action_space = Discrete(99), Discrete(2)
    rules = Rules(State, Params, reset, backward, observe)
