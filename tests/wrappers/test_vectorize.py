"""Wrappers named for batches are the wrappers themselves, around a batch."""

import numpy as np
import pytest

import ludus
from ludus.errors import InvalidType
from ludus.spaces import Box
from ludus.testing import data_equal
from ludus.wrappers import ClipReward, OrderEnforcing, RescaleAction, TransformObservation, TransformReward
from ludus.wrappers.vectorize import (
    VectorizeTransformAction,
    VectorizeTransformObservation,
    VectorizeTransformReward,
)

CASES = [
    ("CartPole-v1", VectorizeTransformObservation, TransformObservation, {"func": lambda seen: seen[:2] * 2,
     "observation_space": Box(-np.inf, np.inf, (2,), np.float32)}),
    ("MountainCarContinuous-v0", VectorizeTransformAction, RescaleAction, {"min_action": 0.0, "max_action": 1.0}),
    ("CartPole-v1", VectorizeTransformReward, TransformReward, {"func": lambda reward: reward - 1}),
    ("CartPole-v1", VectorizeTransformReward, ClipReward, {"min_reward": 0.0, "max_reward": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("id", "vectorize", "wrapper", "arguments"), CASES)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_it_does_what_the_wrapper_does(id, vectorize, wrapper, arguments, mode):
    one = vectorize(ludus.make_vec(id, 3, autoreset_mode=mode), wrapper, **arguments)
    other = wrapper(ludus.make_vec(id, 3, autoreset_mode=mode), **arguments)
    assert one.observation_space == other.observation_space
    assert one.single_action_space == other.single_action_space
    assert data_equal(one.reset(seed=1), other.reset(seed=1))
    for _ in range(40):
        actions = other.action_space.sample()
        assert data_equal(one.step(actions), other.step(actions))


def test_its_spec_is_that_of_the_wrapper():
    envs = VectorizeTransformReward(ludus.make_vec("CartPole-v1", 2), ClipReward, min_reward=0.0)
    assert [one.name for one in envs.spec.additional_wrappers] == ["ClipReward"]
    assert envs.wrapper is ClipReward


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidType, match="VectorizeTransformReward: expected a batch, got one environment"):
        VectorizeTransformReward(ludus.make("CartPole-v1"), ClipReward, min_reward=0.0)
    with pytest.raises(InvalidType, match="VectorizeTransformReward wrapper: expected a Transform class, got"):
        VectorizeTransformReward(ludus.make_vec("CartPole-v1", 2), OrderEnforcing)
