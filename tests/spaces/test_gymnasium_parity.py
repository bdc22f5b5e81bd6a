"""The same seeds give the same samples, the same values the same verdicts, the same flat forms, as in Gymnasium 1.4."""

import warnings

import gymnasium
import gymnasium.vector.utils as gym_vector
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ludus import spaces
from tests.sampling import examples
from tests.spaces.cases import ARRAYS, CASES

pytestmark = pytest.mark.no_cover  # a million steps: what they run is measured by shorter tests

gym = gymnasium.spaces
cases = pytest.mark.parametrize("name", CASES)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="gymnasium")
        yield


def both(name):
    return CASES[name](spaces), CASES[name](gym)


def same(ours, theirs):
    """Equal to the last bit and dtype; only the class of a graph, and of a 0-d integer array, may differ."""
    if isinstance(theirs, gym.GraphInstance):
        return all(same(a, b) for a, b in zip(ours, theirs, strict=True))
    if isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs, strict=True))
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(ours, np.ndarray) and ours.shape == () and isinstance(theirs, np.generic):
        theirs = np.asarray(theirs)
    if isinstance(theirs, np.ndarray | np.generic):
        return type(ours) is type(theirs) and ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    return type(ours) is type(theirs) and ours == theirs


def same_space(ours, theirs):
    if isinstance(
        theirs, gym.Dict
    ):  # Gymnasium sorts the keys of a batched or flattened Dict again; ours keep their order
        return ours.keys() == theirs.keys() and all(same_space(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, gym.Tuple):
        return len(ours) == len(theirs) and all(same_space(a, b) for a, b in zip(ours, theirs, strict=True))
    return repr(ours) == repr(theirs) and (
        not isinstance(theirs, gym.Box) or same((ours.low, ours.high), (theirs.low, theirs.high))
    )


@cases
@pytest.mark.parametrize("seed", [0, 1, 123456789])
def test_the_same_seed_gives_the_same_seeds_and_samples(name, seed):
    ours, theirs = both(name)
    assert ours.seed(seed) == theirs.seed(seed)
    for _ in range(20):
        sample, expected = ours.sample(), theirs.sample()
        assert same(sample, expected)
        assert not isinstance(expected, dict) or list(sample) == list(expected)


@cases
def test_text_and_flattened_space_are_the_same(name):
    ours, theirs = both(name)
    assert repr(ours) == repr(theirs)
    assert ours.is_np_flattenable == theirs.is_np_flattenable
    if ours.is_np_flattenable:
        assert spaces.flatdim(ours) == gym.utils.flatdim(theirs)
    assert same_space(spaces.flatten_space(ours), gym.utils.flatten_space(theirs))


@cases
def test_flattening_and_back_gives_the_same(name):
    ours, theirs = both(name)
    ours.seed(5)
    theirs.seed(5)
    for _ in range(10):
        a, b = ours.sample(), theirs.sample()
        flat, expected = spaces.flatten(ours, a), gym.utils.flatten(theirs, b)
        assert same(flat, expected)
        assert same(spaces.unflatten(ours, flat), gym.utils.unflatten(theirs, expected))


@cases
def test_batches_sample_iterate_and_join_the_same(name):
    ours, theirs = both(name)
    ours.seed(7)
    theirs.seed(7)
    batch, expected = spaces.batch_space(ours, 3), gym_vector.batch_space(theirs, 3)
    assert same_space(batch, expected)
    for _ in range(5):
        a, b = batch.sample(), expected.sample()
        assert same(a, b)
        for one, other in zip(spaces.iterate(batch, a), gym_vector.iterate(expected, b), strict=True):
            assert same(one, other)
    mine, other = [ours.sample() for _ in range(3)], [theirs.sample() for _ in range(3)]
    empty, hollow = spaces.create_empty_array(ours, 3), gym_vector.create_empty_array(theirs, 3)
    assert same(empty, hollow)
    assert same(spaces.concatenate(ours, mine, empty), gym_vector.concatenate(theirs, other, hollow))


@cases
def test_layouts_agree_and_differ_alike(name):
    ours, theirs = both(name)
    for other in CASES:
        mine, their = CASES[other](spaces), CASES[other](gym)
        assert spaces.is_space_dtype_shape_equiv(ours, mine) == gym.utils.is_space_dtype_shape_equiv(theirs, their), (
            other
        )
        assert (ours == mine) == (theirs == their), other


@pytest.mark.parametrize("name", ARRAYS)
def test_values_in_json_are_the_same(name):
    ours, theirs = both(name)
    ours.seed(1)
    theirs.seed(1)
    a, b = [ours.sample() for _ in range(3)], [theirs.sample() for _ in range(3)]
    assert ours.to_jsonable(a) == theirs.to_jsonable(b)


MASKED = {
    "discrete": (np.array([0, 1, 1, 0, 0], np.int8), np.array([0.25, 0, 0.25, 0.5, 0])),
    "discrete-start": (np.zeros(4, np.int8), np.array([0, 0, 0, 1.0])),
    "multi-discrete": (
        (np.array([0, 1, 1, 0, 0], np.int8), np.array([1, 0], np.int8), np.zeros(4, np.int8)),
        (np.array([0, 0.5, 0.5, 0, 0]), np.array([0, 1.0]), np.full(4, 0.25)),
    ),
    "multi-binary": (np.array([0, 1, 2, 2, 1], np.int8), np.array([0.0, 1.0, 0.5, 0.2, 0.9])),
    "text-empty": ((2, np.array([1, 0, 1], np.int8)), (None, np.array([0.5, 0.5, 0.0]))),
    "tuple-nested": (
        ((np.array([0, 1], np.int8), None), (2, None)),
        ((np.array([0.5, 0.5]), np.array([0.1, 0.9])), (None, None)),
    ),
    "dict-kwargs": (
        {"x": np.array([0, 1, 1], np.int8), "inner": {"y": np.array([2, 1], np.int8), "z": None}},
        {"x": np.array([0, 0.5, 0.5]), "inner": {"y": None, "z": np.array([1.0, 0.0])}},
    ),
    "sequence-nested": (
        (3, (np.array([1, 2, 5]), np.array([0, 1, 1], np.int8))),
        (np.array([2, 4]), (None, np.array([0.2, 0.0, 0.8]))),
    ),
    "one-of-text": (
        (None, np.array([0, 2], np.int8), np.array([0, 1, 1, 0], np.int8)),
        (None, np.array([0.5, 1.0]), None),
    ),
    "graph": ((None, np.array([0, 1, 1, 0], np.int8)), (None, np.array([0, 0.5, 0.5, 0]))),
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("kind", ["mask", "probability"])
def test_masks_and_probabilities_restrict_alike(name, kind):
    ours, theirs = both(name)
    ours.seed(3)
    theirs.seed(3)
    given = MASKED[name][kind == "probability"]
    for _ in range(20):
        sample = ours.sample(**{kind: given})
        assert same(sample, theirs.sample(**{kind: given}))
        assert sample in ours


DIFFERING = {
    "box": lambda s: [s.Box(0, 1, (2,)), s.Box(-1, 5, (2,))],
    "discrete": lambda s: [s.Discrete(3), s.Discrete(5, start=2), s.Discrete(4, dtype=np.int32)],
    "multi-discrete": lambda s: [s.MultiDiscrete([3, 2]), s.MultiDiscrete([5, 9], start=[1, 2])],
    "multi-binary": lambda s: [s.MultiBinary(3), s.MultiBinary(3)],
    "tuple": lambda s: [s.Tuple((s.Discrete(3), s.Box(0, 1))), s.Tuple((s.Discrete(5), s.Box(0, 2)))],
    "dict": lambda s: [s.Dict(a=s.Discrete(3)), s.Dict(a=s.Discrete(4))],
    "text": lambda s: [s.Text(3), s.Text(5)],
    "graph": lambda s: [s.Graph(s.Discrete(2), None), s.Graph(s.Discrete(3), None)],
}


@pytest.mark.parametrize("name", DIFFERING)
def test_differing_spaces_batch_alike(name):
    ours = spaces.batch_differing_spaces(DIFFERING[name](spaces))
    theirs = gym_vector.batch_differing_spaces(DIFFERING[name](gym))
    assert same_space(ours, theirs)


numbers = st.one_of(
    st.integers(-300, 300), st.integers(), st.floats(), st.booleans(), st.none(), st.text(max_size=4),
    st.integers(-5, 260).map(np.int64), st.integers(0, 200).map(np.uint8), st.floats(width=32).map(np.float32),
)  # fmt: skip
shapes = st.sampled_from([(), (1,), (2,), (3,), (5,), (2, 2), (2, 3), (4, 5, 3)])
dtypes = st.sampled_from([np.int8, np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64, np.bool_])


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(dtypes))
    small = {"f": st.floats(-2, 2, width=16), "b": st.booleans()}.get(dtype.kind, st.integers(0, 5))
    wide = hnp.from_dtype(dtype)
    return draw(hnp.arrays(dtype, draw(shapes), elements=draw(st.sampled_from([small, wide]))))


values = st.recursive(
    st.one_of(numbers, arrays()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(st.sampled_from(["a", "b", "x", "y", "z", "inner", "choice", "seen", 1]), inner, max_size=4),
    ),
    max_leaves=8,
)


def verdict_of_gymnasium(space, value):
    """What Gymnasium says; None where it crashes instead of answering."""
    try:
        return bool(space.contains(value))
    except Exception:
        return None


@cases
@settings(max_examples=examples(60))
@given(value=values)
def test_the_same_values_are_contained(name, value):
    ours, theirs = both(name)
    verdict = ours.contains(value)
    expected = verdict_of_gymnasium(theirs, value)
    assert verdict == (not ours.validate(value))
    assert verdict == expected or expected is None


def _changed(value, draw):
    """A value near a valid one: one part replaced, dropped or nudged."""
    if isinstance(value, spaces.GraphInstance):
        parts = list(value)
        at = draw(st.integers(0, 2))
        parts[at] = draw(st.one_of(st.none(), st.just(parts[0]), arrays()))
        return spaces.GraphInstance(*parts)
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(list(value)))
        return {**value, key: _changed(value[key], draw)}
    if isinstance(value, tuple) and value:
        at = draw(st.integers(0, len(value) - 1))
        return (*value[:at], _changed(value[at], draw), *value[at + 1 :])
    if isinstance(value, np.ndarray):
        nudge = draw(st.sampled_from(["add", "cast", "list", "shape", "keep"]))
        with np.errstate(all="ignore"):
            changes = {"add": lambda: value + 1, "cast": lambda: value.astype(draw(dtypes)), "list": value.tolist,
                       "shape": lambda: value[None], "keep": lambda: value}  # fmt: skip
            return changes[nudge]()
    return draw(st.one_of(st.just(value), values))


@cases
@settings(max_examples=examples(60))
@given(data=st.data())
def test_values_near_the_space_get_the_same_verdict(name, data):
    ours, theirs = both(name)
    ours.seed(data.draw(st.integers(0, 50)))
    value = _changed(ours.sample(), data.draw)
    verdict = ours.contains(value)
    assert verdict == (not ours.validate(value))
    expected = verdict_of_gymnasium(
        theirs, gym.GraphInstance(*value) if isinstance(value, spaces.GraphInstance) else value
    )
    assert verdict == expected or expected is None
