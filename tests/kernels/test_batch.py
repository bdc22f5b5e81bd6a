"""A compiled batch is its lanes: bit for bit the single environment, for every set of rules and autoreset mode."""

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode
from ludus.core.spec import load_entry_point
from ludus.kernels import RuleEnv
from ludus.kernels.batch import KernelVectorEnv
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit

LANES, STEPS = 4, 150
RULED = [spec.id for spec in ludus.list_envs() if issubclass(load_entry_point(spec.entry_point), RuleEnv)]


def pair(name, mode):
    spec = ludus.registry[name]
    limit = min(spec.max_episode_steps or 40, 40)
    kind = load_entry_point(spec.entry_point)
    compiled = KernelVectorEnv(lambda: kind(**spec.kwargs), LANES, autoreset_mode=mode, max_episode_steps=limit)
    serial = SerialVectorEnv([lambda: TimeLimit(kind(**spec.kwargs), limit)] * LANES, autoreset_mode=mode)
    return compiled, serial


def same_infos(a, b):
    """Equal where both say something; the column of a lane that says nothing is filler."""
    assert a.keys() == b.keys()
    for key in a:
        if isinstance(a[key], dict):
            same_infos(a[key], b[key])
        elif key == "final_obs":
            for lane in np.flatnonzero(a["_final_obs"]):
                assert np.array_equal(a[key][lane], b[key][lane])
        else:
            assert np.array_equal(a[key], b[key]), key


@pytest.mark.parametrize("name", RULED)
def test_a_compiled_batch_is_its_lanes_in_every_mode(name):
    for mode in AutoresetMode:
        compiled, serial = pair(name, mode)
        first, infos = compiled.reset(seed=7)
        expected, told = serial.reset(seed=7)
        assert data_equal(first, expected)
        same_infos(infos, told)
        compiled.action_space.seed(5)
        ended = np.zeros(LANES, bool)
        for _ in range(STEPS):
            if mode is AutoresetMode.DISABLED and ended.any():
                options = {"reset_mask": ended}
                first, expected = compiled.reset(options=options), serial.reset(options=options)
                assert data_equal(first[0], expected[0])
                same_infos(first[1], expected[1])
            actions = compiled.action_space.sample()
            mine, theirs = compiled.step(actions), serial.step(actions)
            assert data_equal(mine.observation, theirs.observation)
            for a, b in zip(mine[1:4], theirs[1:4], strict=True):
                assert np.array_equal(a, b)
            same_infos(mine.info, theirs.info)
            ended = mine.terminated | mine.truncated
