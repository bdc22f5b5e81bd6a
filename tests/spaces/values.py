"""Values to test with: samples of every case, whether two are the same to the last bit, and garbage."""

import datetime as dt
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ludus import spaces
from tests.spaces.cases import CASES


def space_of(name, seed=None):
    space = CASES[name](spaces)
    space.seed(seed)
    return space


def samples(name, n=5, seed=3):
    space = space_of(name, seed)
    return space, [space.sample() for _ in range(n)]


def same(a, b):
    """Equal to the last bit, dtype and type, whatever the nesting; NaN is itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and np.shape(a) == np.shape(b) and np.asarray(a).tobytes() == np.asarray(b).tobytes()
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return a == b or (a != a and b != b)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-5, 300),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.text(st.characters(), max_size=3),
    st.just("\ud800"),
    st.binary(max_size=4),
    st.sampled_from([10**400, Fraction(1, 3), dt.date(2020, 1, 1), int, len, object(), {1, 2}, range(3)]),
    st.integers(-5, 5).map(np.int64),
    st.floats(width=16).map(np.float16),
    st.sampled_from([np.str_("a"), np.bool_(True), np.datetime64("2020"), np.timedelta64(3, "s"), np.complex64(1)]),
)
shapes = st.sampled_from([(), (0,), (1,), (2,), (3,), (5,), (2, 2), (2, 3), (0, 2)])
arrays = st.one_of(
    hnp.arrays(
        st.one_of(
            hnp.boolean_dtypes(),
            hnp.integer_dtypes(),
            hnp.unsigned_integer_dtypes(),
            hnp.floating_dtypes(),
            hnp.complex_number_dtypes(),
            hnp.datetime64_dtypes(),
            hnp.timedelta64_dtypes(),
            hnp.unicode_string_dtypes(max_len=3),
            hnp.byte_string_dtypes(max_len=3),
            st.just(np.dtype([("a", int), ("b", float)])),
            st.just(np.dtype(object)),
        ),
        shapes,
    ),
    st.builds(lambda shape, value: np.full(shape, value, dtype=object), shapes, st.sampled_from([None, 0, 1, "a", {}])),
)
keys = st.sampled_from(["a", "b", "x", "y", "z", "inner", "choice", "seen", 1, None])
garbage = st.recursive(
    scalars | arrays,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.builds(spaces.GraphInstance, inner, inner, inner),
    ),
    max_leaves=8,
)
