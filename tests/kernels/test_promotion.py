"""An integer that compiled code has as a float: exact where no operation can tell, refused where one can."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.errors import KernelError
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete


class Ball(NamedTuple):
    height: float
    bounces: int


class Ground(NamedTuple):
    side: int = -1


def drop(rng: Any, params: Ground) -> Ball:
    return Ball(0.5, 1)


def look(state: Ball, params: Ground) -> tuple[float]:
    return (state.height,)


def made_of(step: Any, reset: Any = drop) -> type[RuleEnv]:
    class Made(RuleEnv):
        observation_space = Box(-np.inf, np.inf, (1,), np.float64)
        action_space = Discrete(2)
        rules = Rules(Ball, Ground, reset, step, look)

    return Made


def negated(state, action, rng, params):
    speed = 0 if action == 1 else state.height
    return state, -speed, False


def turned(state, action, rng, params):
    speed = 0
    if action == 0:
        speed = state.height
    return state, speed * params.side, False


def larger(state, action, rng, params):
    return state, -max(0, -state.height), False


def above_ground(height):
    if height > 0.0:
        return 0
    return height


def returned(state, action, rng, params):
    return state, -above_ground(state.height), False


def remembered(state, action, rng, params):
    height = state.height
    if action == 1:
        height = 0
    return Ball(height, 1), -state.height, False


def laid_out(state, action, rng, params):
    speed = 0 if action == 1 else state.height
    row = np.array([speed, 1])
    return state, -row[0], False


def listed(state, action, rng, params):
    row = [state.height]
    row.append(0)
    return state, -row[1], False


def begun_at_zero(rng: Any, params: Ground) -> Ball:
    return Ball(0, 1)


def falling(state, action, rng, params):
    return state, state.height % -3, False


def inverse(state, action, rng, params):
    return state, np.reciprocal(state.bounces + 1), False


REFUSED = {
    negated: "got - of speed, an integer in one case (from",
    turned: "got * of speed, an integer in one case (from",
    larger: "got - of a value, an integer in one case and a float in another; write a float in both: 0.0 for 0",
    returned: "(return 0)) and a float in another; write a float in both: 0.0 for 0",
    remembered: "got - of state.height, an integer in one case (from",
    laid_out: "got an array of",
    listed: "got - of a value, an integer",
    inverse: "got numpy.reciprocal of integers, of which NumPy makes int64; write float(x)",
}


@pytest.mark.one_of(2)
@pytest.mark.parametrize("step", REFUSED, ids=lambda step: step.__name__)
def test_an_integer_that_would_be_another_float_is_refused_with_line_and_cure(step):
    with pytest.raises(KernelError) as raised:
        KernelVectorEnv(made_of(step), 2)
    assert "test_promotion.py:" in str(raised.value)
    assert REFUSED[step] in str(raised.value)


def test_an_integer_from_reset_counts_as_well():
    with pytest.raises(KernelError, match=r"got % of state\.height, an integer in one case"):
        KernelVectorEnv(made_of(falling, begun_at_zero), 2)


def harmless(state, action, rng, params):
    """What gives one number for 0 and for 0.0, and one for 3 and 3.0."""
    speed = 0 if action == 1 else state.height
    weight = 3 if action == 1 else 2.5
    total = 0
    for k in range(3):
        total += state.height * (0.5 * k)
    found = speed + 1.5 - speed * 2 + abs(speed) + math.sin(speed) + math.copysign(1.0, speed) + total + -weight
    found += min(0, state.height) * -0.5 + max(speed, weight) + speed / -3 + weight**2 + float(speed) * -1
    row = np.array([speed, found])
    row[0] = -row[0]
    found += round(speed) + np.sqrt(speed) + (1.0 if speed == 0 else 2.0) + row[0] + weight // 2 + weight % 2
    return Ball(0 if found > 5.0 else found * 0.1, state.bounces), found, False


def test_an_integer_that_no_operation_can_tell_from_a_float_gives_the_same_bits():
    kind = made_of(harmless, begun_at_zero)
    batch, alone = KernelVectorEnv(kind, 1), kind()
    batch.reset(seed=0)
    alone.reset(seed=0)
    for number in range(60):
        action = number * 7 % 3 % 2
        one, lane = alone.step(action), batch.step(np.array([action]))
        assert np.float64(one.reward).tobytes() == lane.reward[0].tobytes()
        assert one.observation.tobytes() == lane.observation[0].tobytes()


def ordered(state, action, rng, params):
    limit, large = 9007199254740992.0, 9007199254740993
    found = (large == limit, large > limit, large <= limit, limit < large, limit != large)
    count = 0
    for one in found:
        count = 2 * count + (1 if one else 0)
    return Ball(state.height, large), 1.0 if state.bounces > limit else float(count), False


def test_an_integer_and_a_float_are_compared_as_the_numbers_they_are():
    kind = made_of(ordered)
    batch, alone = KernelVectorEnv(kind, 1), kind()
    batch.reset(seed=0)
    alone.reset(seed=0)
    for _ in range(2):
        assert alone.step(0).reward == batch.step(np.array([0])).reward[0]
