"""Compiled streams draw what NumPy draws, to the last bit."""

import numba
import numpy as np
import pytest

from ludus.kernels.random import Stream
from ludus.kernels.stream import generator_of, stream_rows
from tests.sampling import FULL

pytestmark = pytest.mark.no_cover  # a million steps: what they run is measured by shorter tests

DRAWS = 1_000_000 if FULL else 100_000


@numba.njit
def random(stream, out):
    for i in range(len(out)):
        out[i] = stream.random()


@numba.njit
def uniform(stream, out):
    for i in range(len(out)):
        out[i] = stream.uniform(-0.3, 1.7)


@numba.njit
def small_integers(stream, out):
    for i in range(len(out)):
        out[i] = stream.integers(6)


@numba.njit
def odd_integers(stream, out):
    for i in range(len(out)):
        out[i] = stream.integers(-3, 3_000_000_000)


@numba.njit
def wide_integers(stream, out):
    for i in range(len(out)):
        out[i] = stream.integers(-(2**40), 2**61)


@numba.njit
def word_integers(stream, out):
    for i in range(len(out)):
        out[i] = stream.integers(0, 2**32)


@numba.njit
def standard_normal(stream, out):
    for i in range(len(out)):
        out[i] = stream.standard_normal()


@numba.njit
def normal(stream, out):
    for i in range(len(out)):
        out[i] = stream.normal(2.0, 0.5)


@numba.njit
def exponential(stream, out):
    for i in range(len(out)):
        out[i] = stream.exponential(3.0)


@numba.njit
def mixed(stream, out):
    for i in range(len(out)):
        out[i] = stream.integers(7) + stream.random() + stream.integers(100)


EXPECTED = {
    random: lambda rng, n: rng.random(n),
    uniform: lambda rng, n: rng.uniform(-0.3, 1.7, n),
    small_integers: lambda rng, n: np.array([rng.integers(6) for _ in range(n)]),
    odd_integers: lambda rng, n: np.array([rng.integers(-3, 3_000_000_000) for _ in range(n)]),
    wide_integers: lambda rng, n: np.array([rng.integers(-(2**40), 2**61) for _ in range(n)]),
    word_integers: lambda rng, n: np.array([rng.integers(0, 2**32) for _ in range(n)]),
    standard_normal: lambda rng, n: rng.standard_normal(n),
    normal: lambda rng, n: rng.normal(2.0, 0.5, n),
    exponential: lambda rng, n: rng.exponential(3.0, n),
    mixed: lambda rng, n: np.array([rng.integers(7) + rng.random() + rng.integers(100) for _ in range(n)]),
}


@pytest.mark.one_of(2)
@pytest.mark.parametrize("draw", EXPECTED, ids=lambda draw: draw.__name__)
def test_draws_equal_numpys(draw):
    rng = np.random.default_rng(11)
    loops = draw.__name__.endswith("integers") or draw is mixed
    count = DRAWS // 10 if loops else DRAWS
    expected = EXPECTED[draw](rng, count)
    rows, out = stream_rows([5, 11]), np.zeros(count, expected.dtype)
    draw(Stream(rows, 1), out)
    assert np.array_equal(out, expected)
    assert generator_of(rows, 1).bit_generator.state == rng.bit_generator.state
    assert generator_of(rows, 0).bit_generator.state == np.random.default_rng(5).bit_generator.state


@numba.njit
def shuffled(stream, row):
    stream.shuffle(row)
    return stream.permutation(9), stream.permutation(row)


@numba.njit
def chosen(stream, row, chances):
    return stream.choice(5), stream.choice(row), stream.choice(4, p=chances), stream.choice(row, p=chances)


def test_shuffles_and_choices_equal_numpys():
    rng, rows = np.random.default_rng(3), stream_rows([3])
    chances = np.array([0.1, 0.0, 0.6, 0.3])
    for _ in range(500):
        row, mine = np.arange(4) * 10, np.arange(4) * 10
        rng.shuffle(row)
        expected = rng.permutation(9), rng.permutation(row)
        found = shuffled(Stream(rows, 0), mine)
        assert np.array_equal(mine, row)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
        expected = rng.choice(5), rng.choice(row), rng.choice(4, p=chances), rng.choice(row, p=chances)
        assert chosen(Stream(rows, 0), row, chances) == expected


@numba.njit
def between(stream, low, high):
    return stream.uniform(low, high)


@numba.njit
def around(stream, scale):
    return stream.normal(0.0, scale) + stream.exponential(scale)


def result(call, *args):
    """What a draw gives, or the kind of error it raises."""
    try:
        return call(*args)
    except (ValueError, OverflowError) as error:
        return type(error)


def test_ranges_that_numpy_refuses_are_errors_and_single_precision_is_widened_first():
    rng, stream = np.random.default_rng(3), Stream(stream_rows([3]), 0)
    third, most = np.float32(1.0) / np.float32(3.0), np.float32(3e5)
    for low, high in ((2.0, 1.0), (0.0, np.inf), (-1e308, 1e308), (0.0, -0.0), (1.0, 1.0), (third, most)):
        assert result(between, stream, low, high) == result(rng.uniform, low, high)
    for scale in (-1.0, -0.0, 0.0):
        expected = result(lambda scale=scale: rng.normal(0.0, scale) + rng.exponential(scale))
        assert result(around, stream, scale) == expected
