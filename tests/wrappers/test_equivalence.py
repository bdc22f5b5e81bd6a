"""Every wrapper, in every autoreset mode: a batch does, lane by lane, what the single environment does."""

from functools import partial

import numpy as np
import pytest

from ludus import wrappers as w
from ludus.core import AutoresetMode
from ludus.spaces import Box, Discrete
from ludus.vector import SerialVectorEnv
from tests.sampling import covering
from tests.wrappers.equivalence import Lane, Trial, check_equivalence
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


PICTURES = {
    "pictures": w.AddRenderObservation.using(),
    "pictures-beside": w.AddRenderObservation.using(render_only=False),
}


def lane(limit=None, **kwargs):
    env = Walk(**kwargs)
    return env if limit is None else w.TimeLimit(env, limit)


@covering("name, mode", list(CASES), MODES, strength=1, ids=lambda one: getattr(one, "value", one))
def test_a_batch_is_its_lanes(name, mode):
    wrapper, kwargs = CASES[name]
    make = partial(lane, **kwargs)
    trial = Trial(mode, steps=60, resets={4: [0], 20: [1, 2]})
    check_equivalence(wrapper, make, lambda: SerialVectorEnv([make] * 4, autoreset_mode=mode), trial)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize("kind", ["box", "dict"])
@pytest.mark.parametrize("name", PICTURES)
def test_a_batch_shows_the_pictures_of_its_lanes(name, kind, mode):
    make = partial(Walk, kind=kind, render_mode="rgb_array")
    batch = partial(SerialVectorEnv, [make] * 4, autoreset_mode=mode)
    check_equivalence(PICTURES[name], make, batch, Trial(mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "wrapper", [w.NormalizeObservation.using(), w.NormalizeReward.using()], ids=lambda one: one.name
)
def test_a_batch_of_one_normalises_as_the_single_environment(wrapper, mode):
    one = Lane(wrapper(Walk()), 0, Trial(mode))
    first = one.reset(5)
    batch = wrapper(SerialVectorEnv([Walk], autoreset_mode=mode))
    observations, _ = batch.reset(seed=5)
    assert np.allclose(observations[0], first[0])
    ended = np.zeros(1, bool)
    for step in range(40):
        if mode is AutoresetMode.DISABLED and ended.any():
            observations, _ = batch.reset(options={"reset_mask": ended})
            assert np.allclose(observations[0], one.reset()[0])
        action = step % 3
        observations, rewards, terminated, truncated, _ = batch.step(np.array([action]))
        ended = terminated | truncated
        expected = one.step(action)
        if (
            mode is not AutoresetMode.SAME_STEP
        ):  # a batch learns first and last observation at once, one after the other here
            assert np.allclose(observations[0], expected[0], atol=1e-5)
        assert np.allclose(rewards[0], expected[1], atol=1e-5)
