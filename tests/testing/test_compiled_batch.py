"""The contract finds a compiled batch that parts from single environments: by the last bit, in any part of a step."""

from typing import NamedTuple

import numpy as np
import pytest

from ludus.errors import ContractViolation
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete
from ludus.testing import EnvContract

LANE = 41


class State(NamedTuple):
    height: float
    speed: float


class Params(NamedTuple):
    push: float = 12.0


def reset(rng, params):
    return State(rng.uniform(4.0, 6.0), 0.0)


def step(state, action, rng, params):
    speed = state.speed + ((params.push if action == 1 else 0.0) - 9.8) * 0.05
    height = state.height + speed * 0.05
    return State(height, speed), 1.0 - 0.1 * abs(speed), height < 0.0 or height > 10.0


def observe(state, params):
    return state.height, state.speed


def inform(state, params):
    return {"distance": 10.0 - state.height}


class Hover(RuleEnv):
    """Stay between floor and ceiling."""

    rules = Rules(State, Params, reset, step, observe, inform=inform)
    observation_space = Box(-np.inf, np.inf, (2,), np.float64)
    action_space = Discrete(2)


def examine():
    """As the contract's own test does; a class of its own for each time, since what one has found stays."""

    class HoverContract(EnvContract):
        make = Hover
        steps = 10

    HoverContract().test_a_compiled_batch_is_its_lanes()


def last_bit(numbers):
    numbers[LANE] = np.nextafter(numbers[LANE], np.inf)


def turned(flags):
    flags[LANE] = ~flags[LANE]


PLANTED = {
    "observation": ("step", lambda told: last_bit(told[0])),
    "reward": ("step", lambda told: last_bit(told[1])),
    "terminated": ("step", lambda told: turned(told[2])),
    "truncated": ("step", lambda told: turned(told[3])),
    "info": ("step", lambda told: last_bit(told[4]["distance"])),
    "first observation": ("reset", lambda told: last_bit(told[0])),
    "first info": ("reset", lambda told: last_bit(told[1]["distance"])),
}


@pytest.mark.parametrize("part", PLANTED)
def test_one_lane_that_differs_is_found_and_named(part, monkeypatch):
    call, plant = PLANTED[part]
    plain = getattr(KernelVectorEnv, call)

    def planted(self, *arguments, **options):
        told = plain(self, *arguments, **options)
        plant(told)
        return told

    monkeypatch.setattr(KernelVectorEnv, call, planted)
    with pytest.raises(ContractViolation, match=rf"compiled batch.*{call}.*{part.removeprefix('first ')}.*\b{LANE}\b"):
        examine()


def test_a_batch_that_is_its_lanes_passes():
    examine()
