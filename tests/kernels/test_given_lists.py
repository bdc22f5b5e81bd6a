"""A list where an array is wanted: one environment makes an array of it, a batch says which rule gives it."""

from typing import NamedTuple

import numpy as np
import pytest

from ludus.errors import KernelError
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete


class State(NamedTuple):
    x: float


class Params(NamedTuple):
    goal: float = 1.0


def reset(rng, params):
    return State(0.5)


def step(state, action, rng, params):
    return State(state.x + action), 0.0, False


def row(state, params):
    return np.array([state.x, params.goal])


def row_as_list(state, params):
    return [state.x + k for k in range(2)]


def mask_as_list(state, params):
    return [state.x > k for k in range(3)]


GIVEN = {
    "observation: expected a number, a tuple of numbers or an array": (
        Rules(State, Params, reset, step, row_as_list),
        row_as_list,
    ),
    "action_mask: expected an array or a tuple": (
        Rules(State, Params, reset, step, row, legal=mask_as_list),
        mask_as_list,
    ),
}


@pytest.mark.parametrize("what", GIVEN)
def test_a_list_is_refused_with_the_line_of_the_rule_that_gives_it(what):
    rules, rule = GIVEN[what]

    class Listed(RuleEnv):
        observation_space, action_space = Box(-9, 99, (2,), np.float64), Discrete(3)

    listed = type("Listed", (Listed,), {"rules": rules})
    listed().reset(seed=0)
    with pytest.raises(KernelError, match=rf"{what}.*, got .*list.*; write np.array") as found:
        KernelVectorEnv(listed, 2)
    assert f"test_given_lists.py:{rule.__code__.co_firstlineno} " in str(found.value)
