"""Gymnasium's names of executors: whoever writes one is told the line to write instead, and that line works."""

import re

import numpy as np
import pytest

import ludus
from ludus.envs.classic import CartPole

NAMES = {"SyncVectorEnv": "serial", "AsyncVectorEnv": "process", "VectorEnv": None, "VectorWrapper": None}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spelling", ["from ludus.vector import {}", "import ludus; ludus.vector.{}"])
def test_a_name_of_gymnasium_is_answered_with_what_to_write(name, spelling):
    with pytest.raises(ImportError) as raised:
        exec(spelling.format(name), {})
    assert re.fullmatch(
        rf"ludus\.vector: expected a name of Ludus, got '{name}', which is Gymnasium's; write .+", str(raised.value)
    )
    executor = NAMES[name]
    assert executor is None or f"executor='{executor}'" in str(raised.value)


@pytest.mark.parametrize("spelling", ["from ludus.wrappers import vector", "import ludus; ludus.wrappers.vector"])
def test_wrappers_of_batches_are_the_wrappers(spelling):
    with pytest.raises(ImportError, match=r"got 'vector', which is Gymnasium's; write ludus\.wrappers\.NAME\(envs\)"):
        exec(spelling, {})
    envs = ludus.wrappers.RecordEpisodeStatistics(ludus.make_vec("CartPole-v1", 2, executor="serial"))
    assert envs.num_envs == 2


def test_a_compiled_batch_says_where_its_environments_are():
    envs = ludus.make_vec("CartPole-v1", 2, executor="kernel")
    assert not hasattr(envs, "envs")
    with pytest.raises(AttributeError, match=r"write make_vec\(…, executor='serial'\)"):
        print(envs.envs)
    assert len(ludus.make_vec("CartPole-v1", 2, executor="serial").envs) == 2


def test_other_names_are_missing_as_usual():
    assert not hasattr(ludus.vector, "SyncVectorEnvs")


def test_what_is_told_works():
    envs = ludus.vector.SerialVectorEnv([CartPole, CartPole])
    one = envs.reset(seed=0)[0]
    two = ludus.make_vec("CartPole-v1", 2, executor="serial").reset(seed=0)[0]
    assert np.array_equal(one, two)
