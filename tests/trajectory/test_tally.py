"""The compiled way to take rows, and the plain one, leave the same file."""

from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete
from ludus.trajectory import Recorder, Run, replay
from tests.trajectory.conftest import play


class Bag(NamedTuple):
    weight: float


class Limits(NamedTuple):
    most: float = 3.0


class Told(NamedTuple):
    outcome: int


def reset(rng, params):
    return Bag(rng.random())


def step(state, action, rng, params):
    weight = state.weight + rng.random() * action
    return Bag(weight), -0.0 if weight < 1.0 else weight, weight > params.most


def observe(state, params):
    return (state.weight, 2.0 * state.weight)


def inform(state, params):
    return Told(1 if state.weight > 3.3 else 2)


class Packing(RuleEnv):
    """Outcomes by codes."""

    rules = Rules(Bag, Limits, reset, step, observe, inform=inform)
    observation_space, action_space = Box(0, 99, (2,), np.float64), Discrete(4)


def files_of(path, make, level, count=80):
    found = []
    for compiled in (True, False):
        target = path.with_name(f"{compiled}.ludus")
        with Recorder(make(), target, level) as envs:
            assert envs._tally is not None
            if not compiled:
                envs._tally = None
            play(envs, count)
        found.append(Run.open(target))
    return found


@pytest.mark.parametrize("level", ["seeds", "steps"])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("target", [Packing, "Pendulum-v1", "CartPole-v1"])
def test_both_ways_leave_the_same_columns_and_the_same_table(path, target, mode, level):
    make = lambda: ludus.make_vec(  # noqa: E731
        target, 6, executor="kernel", autoreset_mode=mode, **({"max_episode_steps": 9} if target != Packing else {})
    )
    fast, plain = files_of(path, make, level)
    for name in fast.table.columns:
        assert np.array_equal(fast.table[name], plain.table[name]), name
    assert len(fast) > 12
    columns = ["action"] + ["reward", "terminated", "truncated"] * (level == "steps") + ["seen"]
    for name in columns:
        parts = [
            np.concatenate([run.chunks.array(number, f"steps/{name}") for number in range(len(run.chunks.heads))])
            for run in (fast, plain)
        ]
        assert parts[0].tobytes() == parts[1].tobytes(), name
    assert replay(fast, isolation="none")


def test_outcomes_that_rules_tell_are_in_the_table(path):
    fast, _ = files_of(path, lambda: ludus.make_vec(Packing, 6, executor="kernel"), "seeds")
    assert {Outcome.SUCCESS, Outcome.FAILURE} <= set(fast.table.outcomes())


def test_whole_rewards_take_a_byte_and_come_back_with_their_signs(path):
    from ludus.trajectory.npy_column import decode_column, encode_column

    odd = ([0.5, 1.0], [-0.0, 0.0], [np.nan], [np.inf, 1.0], [2.0**31], [1e300])
    for values in ([1.0, 0.0], [1.0, -3.0, 200.0], *odd):
        for dtype in (np.float64, np.float32):
            with np.errstate(over="ignore"):
                column = np.array(values).astype(dtype)
            head, data = encode_column(column)
            again = decode_column(head, data)
            assert again.tobytes() == column.tobytes()
            assert again.dtype == dtype
    assert encode_column(np.array([1.0, -3.0, 100.0]))[0].stored == "|i1"
    assert encode_column(np.array([-0.0, 1.0]))[0].stored == ""
