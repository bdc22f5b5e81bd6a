"""Seeds: Gymnasium's numbers draw for draw, streams that do not disturb each other, and no seed ignored."""

from copy import deepcopy

import numpy as np
import pytest
from gymnasium.utils import seeding as gymnasium_seeding
from hypothesis import given
from hypothesis import strategies as st

from ludus.errors import InvalidSeed
from ludus.seeding import as_seed, copy_generator, derived_stream, lane_seeds, np_random
from tests.core.wording import says

REFUSED = {
    "True": True,
    "np.True_": np.True_,
    "-1": -1,
    "np.int64(-5)": np.int64(-5),
    "1.0": 1.0,
    "np.float32(2.0)": np.float32(2.0),
    "'7'": "7",
    "b'7'": b"7",
    "[1]": [1],
    "array([1, 2])": np.array([1, 2]),
}


@given(st.integers(0, 2**200))
def test_a_seed_gives_the_stream_gymnasium_gives(seed):
    ours, used = np_random(seed)
    theirs, expected = gymnasium_seeding.np_random(seed)
    assert used == expected == seed
    assert ours.bit_generator.state == theirs.bit_generator.state
    assert ours.random(5).tolist() == theirs.random(5).tolist()
    assert ours.integers(1000, size=5).tolist() == theirs.integers(1000, size=5).tolist()
    assert ours.normal(size=5).tolist() == theirs.normal(size=5).tolist()


@pytest.mark.parametrize("kind", [int, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.array])
def test_every_kind_of_integer_is_the_same_seed(kind):
    assert as_seed(kind(7)) == 7
    assert type(as_seed(kind(7))) is int
    assert np_random(kind(7))[0].random() == np_random(7)[0].random()


def test_no_seed_takes_fresh_entropy_and_says_which():
    rng, seed = np_random()
    assert rng.random() == np_random(seed)[0].random()
    assert np_random()[1] != seed


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_honoured_is_refused(text):
    message = f"seed: expected an integer of at least 0, got {text}; None takes one from the system"
    with says(InvalidSeed, message):
        np_random(REFUSED[text])
    with says(InvalidSeed, message.replace("seed:", "training seed:", 1)):
        as_seed(REFUSED[text], "training seed")


@pytest.mark.parametrize("first", [0, 5, np.int64(5), np.array(5), 2**64])
def test_lane_i_of_seed_s_gets_s_plus_i(first):
    assert lane_seeds(first, 3) == [int(first), int(first) + 1, int(first) + 2]


@pytest.mark.parametrize("seeds", [[4, None, 9], (4, None, 9), [np.int64(4), None, np.uint8(9)]])
def test_a_sequence_of_seeds_is_taken_as_it_is(seeds):
    assert lane_seeds(seeds, 3) == [4, None, 9]


def test_an_array_of_seeds_is_taken_as_it_is():
    assert lane_seeds(np.array([4, 2]), 2) == [4, 2]


def test_no_seed_leaves_every_lane_to_itself():
    assert lane_seeds(None, 3) == [None, None, None]


def test_a_wrong_number_of_seeds_is_refused():
    with says(InvalidSeed, "seed: expected one seed for each of 3 lanes, got 2"):
        lane_seeds([1, 2], 3)


def test_a_wrong_seed_among_many_is_named_by_its_lane():
    with says(InvalidSeed, "seed[1]: expected an integer of at least 0, got -2; None takes one from the system"):
        lane_seeds([1, -2], 2)


def test_text_is_one_wrong_seed_not_a_sequence_of_seeds():
    with says(InvalidSeed, "seed: expected an integer of at least 0, got 'ab'; None takes one from the system"):
        lane_seeds("ab", 2)


def test_a_derived_stream_depends_on_the_seed_and_its_name_only():
    rng = np_random(3)[0]
    first = derived_stream(rng, "render").random(4).tolist()
    rng.random(100)
    assert derived_stream(rng, "render").random(4).tolist() == first
    assert derived_stream(np_random(3)[0], "render").random(4).tolist() == first
    assert derived_stream(rng, "wind").random(4).tolist() != first
    assert derived_stream(np_random(4)[0], "render").random(4).tolist() != first


def test_deriving_a_stream_draws_nothing_from_its_parent():
    rng, untouched = np_random(3)[0], np_random(3)[0]
    derived_stream(rng, "render").random(10)
    assert rng.random(5).tolist() == untouched.random(5).tolist()


def test_a_stream_of_a_stream_is_another_one():
    outer = derived_stream(np_random(3)[0], "wrapper")
    inner = derived_stream(outer, "wrapper")
    assert inner.random() != outer.random()
    assert derived_stream(derived_stream(np_random(3)[0], "wrapper"), "wrapper").random() != outer.random()


def test_a_generator_without_a_seed_sequence_cannot_be_derived_from():
    class Opaque:
        bit_generator = type("Bits", (), {"seed_seq": None})()

        def __repr__(self):
            return "Opaque()"

    message = (
        "stream 'wind': expected a generator seeded through SeedSequence, got Opaque(); "
        "use numpy.random.default_rng(seed)"
    )
    with says(InvalidSeed, message):
        derived_stream(Opaque(), "wind")


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.Philox, np.random.MT19937])
def test_a_copied_generator_goes_on_alike_and_on_its_own(bits):
    rng = np.random.Generator(bits(5))
    rng.integers(10, dtype=np.int32)  # leaves half a draw buffered
    copied, control = copy_generator(rng), deepcopy(rng)
    expected = control.integers(1000, size=6, dtype=np.int32).tolist()
    assert copied.integers(1000, size=6, dtype=np.int32).tolist() == expected
    assert rng.integers(1000, size=6, dtype=np.int32).tolist() == expected
    assert derived_stream(copied, "x").random() == derived_stream(rng, "x").random()
