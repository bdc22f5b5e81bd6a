"""Rules compiled as they are give the interpreted bits, over enough steps to meet the rare ones."""

import random
import types

import numba
import numpy as np
import pytest

from ludus.envs.classic import Acrobot, CartPole, MountainCar, MountainCarContinuous, Pendulum
from ludus.envs.toy_text import Blackjack, CliffWalking, FrozenLake, Taxi
from ludus.kernels.random import Stream
from ludus.kernels.stream import stream_rows
from tests.sampling import SEED

pytestmark = pytest.mark.no_cover  # a million steps: what they run is measured by shorter tests

# `x**2` and `x * x` differ once in a thousand, a single from a double less often: the classic ones run long.
CASES = [
    (CartPole, {}, 3_000),
    (MountainCar, {}, 3_000),
    (MountainCarContinuous, {}, 10_000),
    (Pendulum, {}, 20_000),
    (Acrobot, {}, 10_000),
    (FrozenLake, {"reward_schedule": (1, -0.5, 0)}, 2_000),
    (CliffWalking, {"is_slippery": True}, 2_000),
    (Taxi, {"is_rainy": True, "fickle_passenger": True, "fickle_probability": 1.0}, 3_000),
    (Blackjack, {"natural": True}, 2_000),
]


def compiled(rule, seen):
    """A rule, with the functions it calls compiled as well."""
    if rule not in seen:
        scope = dict(rule.__globals__)
        for name in rule.__code__.co_names:
            if isinstance(scope.get(name), types.FunctionType):
                scope[name] = compiled(scope[name], seen)
        seen[rule] = numba.njit(types.FunctionType(rule.__code__, scope, rule.__name__, rule.__defaults__))
    return seen[rule]


def bits(values):
    return b"".join(np.asarray(value).tobytes() for value in (values if isinstance(values, tuple) else (values,)))


def cases():
    """A third of them, chosen by the seed of the samples; our own compiler is held to every one, in tests/kernels."""
    tried = random.Random(SEED).sample(CASES, len(CASES) // 3)
    return [
        pytest.param(*case, id=case[0].__name__, marks=[] if case in tried else [pytest.mark.full]) for case in CASES
    ]


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("make", "kwargs", "steps"), cases())
def test_compiled_rules_give_the_interpreted_bits(make, kwargs, steps):
    env, seen = make(**kwargs), {}
    rules, params = env.rules, env.params
    reset, step, observe = (compiled(rule, seen) for rule in (rules.reset, rules.step, rules.observe))
    rng, stream = np.random.default_rng(3), Stream(stream_rows([3]), 0)
    env.action_space.seed(3)
    mine, theirs = reset(stream, params), rules.reset(rng, params)
    for number in range(steps):
        assert bits(mine) == bits(theirs), number
        assert bits(observe(mine, params)) == bits(rules.observe(theirs, params)), number
        action = env.action_space.sample()
        action = action if isinstance(action, np.ndarray) else int(action)
        mine, reward, ended = step(mine, action, stream, params)
        theirs, expected, over = rules.step(theirs, action, rng, params)
        assert (float(reward).hex(), ended) == (float(expected).hex(), over), number
        if over or number % 300 == 299:
            mine, theirs = reset(stream, params), rules.reset(rng, params)
