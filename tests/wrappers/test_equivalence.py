"""Every wrapper, in every autoreset mode: a batch does, lane by lane, what the single environment does."""

import numpy as np
import pytest

from ludus import wrappers as w
from ludus.core import AutoresetMode
from ludus.spaces import Box, Discrete
from ludus.vector import SerialVectorEnv
from tests.wrappers.walk import Walk

MODES = list(AutoresetMode)
CASES = {
    "bare": (w.Transform.using(), {}),
    "clip-reward": (w.ClipReward.using(-0.5, 0.5), {}),
    "clip-reward-one-end": (w.ClipReward.using(max_reward=0.2), {}),
    "transform-reward": (w.TransformReward.using(lambda reward: reward * 2 + 1), {}),
    "transform-observation": (w.TransformObservation.using(lambda seen: seen[:2] * 2, Box(-20, 20, (2,))), {}),
    "vectorized-observation": (
        w.TransformObservation.using(lambda seen: seen * 2, Box(-20, 20, (3,)), vectorized=True),
        {},
    ),
    "filter-dict": (w.FilterObservation.using(["b"]), {"kind": "dict"}),
    "filter-tuple": (w.FilterObservation.using([1]), {"kind": "tuple"}),
    "flatten": (w.FlattenObservation.using(), {"kind": "dict"}),
    "flatten-box": (w.FlattenObservation.using(), {"kind": "image"}),
    "flatten-discrete": (w.FlattenObservation.using(), {"kind": "discrete"}),
    "grayscale": (w.GrayscaleObservation.using(), {"kind": "image"}),
    "grayscale-dim": (w.GrayscaleObservation.using(keep_dim=True), {"kind": "image"}),
    "reshape": (w.ReshapeObservation.using((3, 1)), {}),
    "rescale": (w.RescaleObservation.using(0.0, 1.0), {}),
    "dtype": (w.DtypeObservation.using(np.float64), {}),
    "dtype-discrete": (w.DtypeObservation.using(np.int32), {"kind": "discrete"}),
    "discretize-observation": (w.DiscretizeObservation.using(4), {}),
    "discretize-observation-multi": (w.DiscretizeObservation.using((2, 3, 4), multidiscrete=True), {}),
    "discretize-action": (w.DiscretizeAction.using(3), {"actions": "box"}),
    "discretize-action-multi": (w.DiscretizeAction.using((2, 5), multidiscrete=True), {"actions": "box"}),
    "clip-action": (w.ClipAction.using(), {"actions": "box"}),
    "rescale-action": (w.RescaleAction.using(0.0, 4.0), {"actions": "box"}),
    "transform-action": (w.TransformAction.using(lambda action: 2 - action, Discrete(3)), {}),
    "sticky-action": (w.StickyAction.using(0.4, (1, 3)), {}),
    "repeat-action": (w.RepeatAction.using(3), {}),
    "max-and-skip": (w.MaxAndSkipObservation.using(3), {}),
    "time-limit": (w.TimeLimit.using(4), {}),
    "frame-stack": (w.FrameStackObservation.using(3), {}),
    "frame-stack-zero": (w.FrameStackObservation.using(3, padding_type="zero"), {}),
    "frame-stack-custom": (w.FrameStackObservation.using(2, padding_type=np.ones(3, np.float32)), {}),
    "frame-stack-dict": (w.FrameStackObservation.using(3), {"kind": "dict"}),
    "frame-stack-tuple": (w.FrameStackObservation.using(3), {"kind": "tuple"}),
    "delay-0": (w.DelayObservation.using(0), {}),
    "delay-1": (w.DelayObservation.using(1), {}),
    "delay-3": (w.DelayObservation.using(3), {"kind": "dict"}),
    "delay-12": (w.DelayObservation.using(12), {"kind": "tuple"}),
    "statistics": (w.RecordEpisodeStatistics.using(), {}),
    "order": (w.OrderEnforcing.using(), {}),
    "checker": (w.PassiveEnvChecker.using(), {}),
}
TIMED = {
    "time-aware": w.TimeAwareObservation.using(),
    "time-aware-share": w.TimeAwareObservation.using(normalize_time=True),
    "time-aware-dict": w.TimeAwareObservation.using(flatten=False),
}
CASES |= {name: (wrapper, {"limit": 5}) for name, wrapper in TIMED.items()}
CASES |= {f"{name}-in-dict": (wrapper, {"limit": 5, "kind": "dict"}) for name, wrapper in TIMED.items()}
CASES |= {f"{name}-in-tuple": (wrapper, {"limit": 5, "kind": "tuple"}) for name, wrapper in TIMED.items()}


def lane(limit=None, **kwargs):
    env = Walk(**kwargs)
    return env if limit is None else w.TimeLimit(env, limit)


class Lane:
    """One wrapped environment, driven as a lane of a batch would be."""

    def __init__(self, wrapper, kwargs, seed, mode):
        self.env, self.mode, self.ended = wrapper(lane(**kwargs)), mode, False
        self.first = self.env.reset(seed=seed)

    def step(self, action):
        if self.ended:
            (observation, _), self.ended = self.env.reset(), False
            if self.mode is AutoresetMode.NEXT_STEP:
                return observation, 0.0, False, False, None
        observation, reward, terminated, truncated, _ = self.env.step(action)
        final = None
        self.ended = bool(terminated or truncated)
        if self.mode is AutoresetMode.SAME_STEP and self.ended:
            final, (observation, _), self.ended = observation, self.env.reset(), False
        return observation, reward, terminated, truncated, final


def close(a, b):
    """Equal to the last bit; only a Python int may stand for NumPy's."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b) and (isinstance(b, int) or np.asarray(a).dtype == np.asarray(b).dtype)


def row(space, batch, lane):
    return list(space.iterate(batch))[lane]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_its_lanes(name, mode):
    wrapper, kwargs = CASES[name]
    lanes = [Lane(wrapper, kwargs, seed, mode) for seed in range(10, 14)]
    batch = wrapper(SerialVectorEnv([lambda: lane(**kwargs)] * 4, autoreset_mode=mode))
    assert batch.single_observation_space == lanes[0].env.observation_space
    assert batch.single_action_space == lanes[0].env.action_space
    observations, _ = batch.reset(seed=10)
    assert observations in batch.observation_space
    for i, one in enumerate(lanes):
        assert close(row(batch.observation_space, observations, i), one.first[0])
    batch.action_space.seed(3)
    ended = np.zeros(4, bool)
    for _ in range(60):
        if mode is AutoresetMode.DISABLED and ended.any():
            observations, _ = batch.reset(options={"reset_mask": ended})
            for i in np.flatnonzero(ended):
                expected, _ = lanes[i].env.reset()
                lanes[i].ended = False
                assert close(row(batch.observation_space, observations, i), expected)
        actions = batch.action_space.sample()
        observations, rewards, terminated, truncated, infos = batch.step(actions)
        ended = terminated | truncated
        each = list(batch.action_space.iterate(actions))
        for i, one in enumerate(lanes):
            observation, reward, over, cut, final = one.step(each[i])
            assert close(row(batch.observation_space, observations, i), observation)
            assert (rewards[i], terminated[i], truncated[i]) == (reward, over, cut)
            if final is not None:
                assert close(infos["final_obs"][i], final)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "wrapper", [w.NormalizeObservation.using(), w.NormalizeReward.using()], ids=lambda one: one.name
)
def test_a_batch_of_one_normalises_as_the_single_environment(wrapper, mode):
    one = Lane(wrapper, {}, 5, mode)
    batch = wrapper(SerialVectorEnv([Walk], autoreset_mode=mode))
    observations, _ = batch.reset(seed=5)
    assert np.allclose(observations[0], one.first[0])
    ended = np.zeros(1, bool)
    for step in range(40):
        if mode is AutoresetMode.DISABLED and ended.any():
            observations, _ = batch.reset(options={"reset_mask": ended})
            assert np.allclose(observations[0], one.env.reset()[0])
            one.ended = False
        action = step % 3
        observations, rewards, terminated, truncated, _ = batch.step(np.array([action]))
        ended = terminated | truncated
        if mode is AutoresetMode.NEXT_STEP and one.ended:
            expected = one.step(action)  # the single environment is asked for nothing but a reset here
        else:
            expected = one.step(action)
        if (
            mode is not AutoresetMode.SAME_STEP
        ):  # a batch learns first and last observation at once, one after the other here
            assert np.allclose(observations[0], expected[0], atol=1e-5)
        assert np.allclose(rewards[0], expected[1], atol=1e-5)
