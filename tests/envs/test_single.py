"""Single precision by double arithmetic is NumPy's, bit for bit."""

import numpy as np
import pytest

from ludus.envs.classic.single import cosine, is_single, sine, single


@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 4.0, 100.0, 1e6])
def test_rounding_is_numpys(scale):
    numbers = np.random.default_rng(0).uniform(-scale, scale, 20_000)
    assert [single(x) for x in numbers.tolist()] == numbers.astype(np.float32).tolist()
    assert not any(is_single(x) for x in numbers.tolist())
    assert all(is_single(x) for x in numbers.astype(np.float32).tolist())


def test_ties_go_to_even_as_the_hardware_rounds_them():
    ties = np.random.default_rng(1).integers(2**23, 2**24, 20_000) + 0.5
    assert [single(x) for x in ties.tolist()] == ties.astype(np.float32).tolist()


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0, 100.0])
def test_sine_and_cosine_are_numpys_in_single_precision(scale):
    numbers = np.random.default_rng(2).uniform(-scale, scale, 20_000).astype(np.float32)
    assert [sine(x) for x in numbers.tolist()] == np.sin(numbers).tolist()
    assert [cosine(x) for x in numbers.tolist()] == np.cos(numbers).tolist()
