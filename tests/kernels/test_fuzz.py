"""Random small rules out of the allowed operations: a compiled batch is the single environment, bit for bit."""

import warnings

import numpy as np
import pytest

from ludus.kernels.batch import KernelVectorEnv
from tests.kernels.random_rules import load

RULES, FEW, STEPS, SEED = 20, 10, 150, 4


def outcome(call):
    """What a call gives, or the kind of error it raises."""
    try:
        return call()
    except (ArithmeticError, ValueError, IndexError) as error:
        return error


def played_beside(kind, seed, rules=RULES):
    """Play every rule compiled and interpreted; where they part, in words."""
    batch = KernelVectorEnv(kind, rules, params=[kind(kind=k).params for k in range(rules)])
    singles = [kind(kind=k) for k in range(rules)]
    first, _ = batch.reset(seed=seed)
    for k, one in enumerate(singles):
        if not np.array_equal(one.reset(seed=seed + k)[0], first[k]):
            return f"seed {seed}, rule {k}: another first state"
    rng, ended = np.random.default_rng(seed), np.zeros(rules, bool)
    for number in range(STEPS):
        actions = rng.integers(3, size=rules)
        found = outcome(lambda given=actions: batch.step(given))
        if isinstance(found, Exception):
            lane = int(str(found).split(",")[0].removeprefix("lane "))
            alone = outcome(lambda lane=lane, given=int(actions[lane]): singles[lane].step(given))
            assert type(alone) is type(found), f"seed {seed}, rule {lane}, step {number}: {alone!r} and {found!r}"
            return None
        for k, one in enumerate(singles):
            if ended[k]:
                observation, reward = one.reset()[0], 0.0
            else:
                observation, reward, over, _, _ = one.step(int(actions[k]))
                assert over == found.terminated[k]
            expected, got = np.append(observation, reward), np.append(found.observation[k], found.reward[k])
            if (np.where(expected != expected, np.nan, expected).view(np.int64) != got.view(np.int64)).any():
                return f"seed {seed}, rule {k}, step {number}: {expected} alone, {got} in the batch"
        ended = found.terminated
    return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_rules_are_the_same_alone_and_in_a_batch(tmp_path):
    assert played_beside(load(tmp_path, SEED, FEW), SEED, FEW) is None


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(100, 200))
def test_two_thousand_random_rules_are_the_same_alone_and_in_a_batch(tmp_path, seed):
    warnings.simplefilter("ignore", RuntimeWarning)
    assert played_beside(load(tmp_path, seed, RULES), seed) is None
