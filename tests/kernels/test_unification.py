"""NumPy's small numbers beside Python's: what rules may do with them is the same alone and in a batch."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete
from ludus.vector import SerialVectorEnv
from tests.kernels.test_shapes import same


class Point(NamedTuple):
    x: float
    weight: float = 0.5
    kind: int = 3


class Field(NamedTuple):
    cells: Any
    speed: Any
    total: float
    count: int


class Size(NamedTuple):
    scale: int = 100


def clear(rng, params):
    return Field(np.zeros(4, np.int8), np.ones(2, np.float32), 0.0, 0)


def advance(state, action, rng, params):
    cells, speed = state.cells, state.speed
    cells[action] = cells[action] | 5
    cells[3] = cells[action] ^ 3
    best = 0
    for k in range(4):
        if int(cells[k]) > best:
            best = int(cells[k])
    odd = (cells[action] & 1) == 1
    signs = np.where(cells > 0, np.int8(1), np.int8(0))
    force = float(speed[action % 2]) if state.count < 9 else 0.25
    speed[0] = np.float32(force)
    small = np.int8(state.count)
    row = np.zeros(3, int)
    row[0] = best * params.scale
    whole = (np.array([force, 7.5, 2.5]) * 2.0).astype(int)
    row += whole
    row[1:] += row[:-1].copy()
    point = Point(force, kind=best)
    gain = point.x * point.weight + float(point.kind + row[2]) + (1.0 if odd else 0.5)
    over = small > 6
    return Field(cells, speed, gain, int(signs.sum()) + state.count), gain, over


def look(state, params):
    return state.total, float(state.count), float(state.cells[3])


class Small(RuleEnv):
    rules = Rules(Field, Size, clear, advance, look)
    observation_space, action_space = Box(-np.inf, np.inf, (3,), np.float64), Discrete(3)


def test_small_numbers_that_say_their_type_go_on_alike():
    mode = AutoresetMode.SAME_STEP
    batches = KernelVectorEnv(Small, 4, autoreset_mode=mode), SerialVectorEnv([Small] * 4, autoreset_mode=mode)
    same(*(one.reset(seed=3) for one in batches))
    rng = np.random.default_rng(5)
    for _ in range(40):
        actions = rng.integers(3, size=4)
        same(*(one.step(actions) for one in batches))


class Growing(RuleEnv):
    rules = Rules(
        Size,
        Size,
        lambda rng, params: Size(100),
        lambda state, action, rng, params: (Size(state.scale + 20), float(np.int8(state.scale)), False),
        lambda state, params: (float(state.scale),),
    )
    observation_space, action_space = Box(-np.inf, np.inf, (1,), np.float64), Discrete(2)


def test_a_number_that_a_small_type_does_not_hold_is_an_error_alone_and_in_a_batch():
    alone, batch = Growing(), KernelVectorEnv(Growing, 2)
    alone.reset(seed=0)
    batch.reset(seed=0)
    for _ in range(2):
        alone.step(0)
        batch.step([0, 0])
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        alone.step(0)
    with pytest.raises(OverflowError, match=r"lane 0, step 3: an integer does not fit int8 at .*test_unification\.py"):
        batch.step([0, 0])
