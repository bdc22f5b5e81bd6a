"""Masks of actions that are made of several choices: in one environment, in a batch, and in the space's sampling."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.errors import ContractViolation, InvalidAction
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete, MultiDiscrete, Tuple
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit

LANES = 5


class Shelf(NamedTuple):
    stock: Any


class Shop(NamedTuple):
    most: int = 4


def stocked(rng, params):
    return Shelf(rng.permutation(3) + 1)


def sold(state, action, rng, params):
    """What is bought (or nothing, 3), and how many."""
    stock = state.stock
    thing, count = action[0], action[1]
    if thing < 3:
        stock[thing] -= min(stock[thing], count)
    return Shelf(stock), float(count), stock[0] + stock[1] + stock[2] == 0


def looked(state, params):
    return state.stock


def by_arrays(state, params):
    things = np.zeros(4, np.bool_)
    counts = np.zeros(params.most, np.bool_)
    for thing in range(3):
        if state.stock[thing] > 0:
            things[thing] = True
        counts[thing] = state.stock[0] >= thing
    things[3] = True
    return things, counts


def by_tuples(state, params):
    stock = state.stock
    return (stock[0] > 0, stock[1] > 0, stock[2] > 0, True), (True, stock[0] >= 1, stock[0] >= 2, False)


def shop(legal, acts, illegal="refuse"):
    class Made(RuleEnv):
        observation_space, action_space = MultiDiscrete([9, 9, 9]), acts
        rules = Rules(Shelf, Shop, stocked, sold, looked, legal=legal, illegal=illegal)

    return Made


KINDS = {
    "arrays, MultiDiscrete": shop(by_arrays, MultiDiscrete([4, 4])),
    "tuples, MultiDiscrete": shop(by_tuples, MultiDiscrete([4, 4])),
    "arrays, Tuple": shop(by_arrays, Tuple((Discrete(4), Discrete(4)))),
}


def joined(kind, actions):
    return np.array(actions) if isinstance(kind.action_space, MultiDiscrete) else tuple(np.array(actions).T)


@pytest.mark.in_turns("name")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_masks_of_several_choices_are_one_in_a_batch_and_alone(name, mode):
    kind = KINDS[name]
    compiled = KernelVectorEnv(kind, LANES, autoreset_mode=mode, max_episode_steps=7)
    serial = SerialVectorEnv([lambda: TimeLimit(kind(), 7)] * LANES, autoreset_mode=mode)
    found, expected = compiled.reset(seed=4), serial.reset(seed=4)
    ended, masks = np.zeros(LANES, np.bool_), found[1]["action_mask"]
    kind.action_space.seed(4)
    for _ in range(25):
        assert data_equal(found[0], expected[0])
        assert data_equal(found[-1]["action_mask"].tolist(), expected[-1]["action_mask"].tolist())
        masks = np.where(found[-1]["_action_mask"], found[-1]["action_mask"], masks)
        if mode is AutoresetMode.DISABLED and ended.any():
            options = {"reset_mask": ended.copy()}
            found, expected = (one.reset(options=options) for one in (compiled, serial))
            ended[:] = False
            continue
        actions = joined(kind, [kind.action_space.sample(mask=one) for one in masks])
        found, expected = compiled.step(actions), serial.step(actions)
        ended = found.terminated | found.truncated
        if "final_info" in found.info:
            final = [one.info["final_info"]["action_mask"].tolist() for one in (found, expected)]
            assert data_equal(*final)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", KINDS)
def test_an_illegal_choice_is_named_alone_and_in_a_batch(name):
    kind = KINDS[name]
    alone, batch = kind(), KernelVectorEnv(kind, 2)
    alone.reset(seed=0)
    batch.reset(seed=0)
    with pytest.raises(InvalidAction, match=r"action\[1\]: expected one of the legal actions \[0, 1.*\], got 3; see"):
        alone.step((0, 3) if isinstance(kind.action_space, Tuple) else np.array([0, 3]))
    with pytest.raises(InvalidAction, match=r"action\[1\]\[1\]: expected one of the legal actions \[0.*\], got 3; see"):
        batch.step(joined(kind, [(3, 0), (0, 3)]))


def test_a_mask_that_no_space_takes_is_told_with_what_to_do():
    with pytest.raises(ContractViolation, match="expected actions of a Discrete, a MultiDiscrete of one axis or"):
        KernelVectorEnv(shop(by_arrays, Box(0, 3, (2,), np.int64), "allow"), 2)
    with pytest.raises(ContractViolation, match=r"expected a tuple of 2 masks, of \(4, 3\) bools, got"):
        KernelVectorEnv(shop(by_tuples, MultiDiscrete([4, 3])), 2)
