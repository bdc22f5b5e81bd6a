"""What cannot be compiled exactly is refused, with the user's line and what to write."""

import warnings

import numpy as np
import pytest

import ludus
from ludus.errors import KernelError
from ludus.kernels.batch import KernelVectorEnv
from tests.kernels.refused import CONTRACTS, STEPS, hypot, made_of, still

ELSEWHERE = ("recursion", "none_or_number", "small_or_wide_returned", "own_order")
"""The line is that of a function which the step calls, or of a class."""


@pytest.mark.one_of(2)
@pytest.mark.parametrize("name", STEPS)
def test_a_rule_that_cannot_be_compiled_names_its_line_and_the_cure(name):
    step, text = STEPS[name]
    with pytest.raises(KernelError) as raised:
        KernelVectorEnv(made_of(step), 2)
    assert text in str(raised.value)
    if not text.startswith("State."):
        first = step.__code__.co_firstlineno
        told = str(raised.value)
        assert "refused.py:" in told
        line = int(told.split("refused.py:")[1].split(" ")[0].rstrip(":"))
        assert name in ELSEWHERE or first < line < first + 10


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_that_is_not_kept_is_told(name):
    make, text = CONTRACTS[name]
    with pytest.raises(KernelError) as raised:
        KernelVectorEnv(make(), 2)
    assert text in str(raised.value)


def test_what_numba_says_is_the_cause():
    step, _ = STEPS["replacing"]
    with pytest.raises(KernelError) as raised:
        KernelVectorEnv(made_of(step), 2)
    assert "Unknown attribute '_replace'" in str(raised.value.__cause__)


def test_make_vec_warns_once_and_runs_serially():
    kind = made_of(hypot)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        envs = ludus.make_vec(kind, 2)
    assert envs.executor == "serial"
    assert [str(one.message).endswith("; running serially") for one in told] == [True]
    assert "refused.py" in str(told[0].message)
    envs.reset(seed=0)
    assert envs.step(np.zeros(2, int)).reward[0] == 1.118033988749895
    with pytest.raises(KernelError, match=r"math\.hypot"):
        ludus.make_vec(kind, 2, executor="kernel")


def test_rules_without_a_fault_compile():
    envs = KernelVectorEnv(made_of(still), 2)
    envs.reset(seed=0)
    assert envs.step(np.zeros(2, int)).reward.tolist() == [0.0, 0.0]


def test_a_rule_that_raises_when_it_is_tried_names_its_line():
    def observe(state, params):
        seen = np.zeros(1, np.int8)
        seen[0] = 340
        return seen

    line = observe.__code__.co_firstlineno + 2
    with pytest.raises(KernelError, match=rf"test_errors\.py:{line} .*got OverflowError: .*; mend the rule") as caught:
        KernelVectorEnv(made_of(still, observe=observe), 2)
    assert isinstance(caught.value.__cause__, OverflowError)
