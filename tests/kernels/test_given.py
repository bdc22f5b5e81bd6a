"""What rules are given to read, actions, options and parameters, they cannot write into."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.core import Env
from ludus.errors import KernelError
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Dict, Discrete
from ludus.testing import check_env


class Tank(NamedTuple):
    levels: Any


class Pump(NamedTuple):
    rates: Any = np.array([1.0, 2.0])


class Filling(NamedTuple):
    levels: Any = np.zeros(2)


def empty(rng: Any, params: Pump, options: Filling) -> Tank:
    return Tank(options.levels)


def look(state: Tank, params: Pump) -> Any:
    return state.levels


def scaled(state, action, rng, params):
    action *= 2.0
    return Tank(state.levels + action), 0.0, False


def emptied(state, action, rng, params):
    action[0] = 0.0
    return Tank(state.levels + action), 0.0, False


def worn(state, action, rng, params):
    params.rates[0] *= 0.5
    return Tank(state.levels + action), 0.0, False


def by_name(state, action, rng, params):
    action.flow[1] = 0.0
    return state, 0.0, False


def overfull(rng: Any, params: Pump, options: Filling) -> Tank:
    options.levels[0] += 1.0
    return Tank(options.levels)


def filled(state, action, rng, params):
    state.levels[:] = state.levels + action * params.rates
    return Tank(state.levels), 0.0, False


FLOW = Box(-1.0, 1.0, (2,), np.float64)


def made_of(step: Any, reset: Any = empty, acts: Any = FLOW, clips: bool = False) -> type[RuleEnv]:
    class Made(RuleEnv):
        observation_space = Box(-np.inf, np.inf, (2,), np.float64)
        action_space = acts
        clips_actions = clips
        rules = Rules(Tank, Pump, reset, step, look, options=Filling)

    return Made


WRITES = {
    "action *= 2": (made_of(scaled), FLOW),
    "action[0] = 0": (made_of(emptied), FLOW),
    "params.rates[0] *= 0.5": (made_of(worn), FLOW),
    "action.flow[1] = 0": (made_of(by_name, acts=Dict(flow=FLOW, open=Discrete(2))), None),
    "options.levels[0] += 1": (made_of(filled, overfull), None),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_rule_that_writes_into_what_it_is_given_is_refused_when_compiled(name):
    with pytest.raises(KernelError, match=r"test_given\.py:\d+ .* got a write into an array that was given; copy it"):
        KernelVectorEnv(WRITES[name][0], 2)


@pytest.mark.parametrize("name", [name for name, (_, acts) in WRITES.items() if acts is not None])
def test_one_environment_lets_no_rule_write_into_what_belongs_to_others(name):
    env = WRITES[name][0]()
    env.reset(seed=0)
    action = np.array([0.5, -0.5])
    with pytest.raises(ValueError, match="read-only"):
        env.step(action)
    assert action.tolist() == [0.5, -0.5]
    assert Pump().rates.tolist() == [1.0, 2.0]


def test_rules_that_only_read_keep_one_history():
    kind = made_of(filled)
    batch, alone = KernelVectorEnv(kind, 2), kind()
    batch.reset(seed=0, options={"levels": [3.0, 4.0]})
    alone.reset(seed=0, options={"levels": [3.0, 4.0]})
    for _ in range(3):
        one, lanes = alone.step(np.array([0.25, -0.5])), batch.step(np.array([[0.25, -0.5]] * 2))
        assert (one.observation == lanes.observation).all()


class Careless(Env[Any, Any]):
    """Writes into its action, as a class of a stranger may."""

    observation_space, action_space = Box(-9.0, 9.0, (2,), np.float64), FLOW

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2), {}

    def step(self, action):
        action *= 0.5
        return action.copy(), 0.0, False, False, {}


@pytest.mark.parametrize("kind", [Careless, made_of(scaled, clips=True)])
def test_check_finds_a_step_that_writes_into_its_action(kind):
    rules = {finding.rule: finding.message for finding in check_env(kind, steps=4).findings}
    assert "expected it unchanged, got step 1, action" in rules["actions-are-the-callers"]
