"""Spaces to test: each case builds the same space from Ludus's or from Gymnasium's module."""

from collections import OrderedDict

import numpy as np

INF = np.inf

ARRAYS = {
    "box": lambda s: s.Box(0.0, 1.0, (3,)),
    "box-scalar-shape": lambda s: s.Box(0.0, 1.0),
    "box-0d": lambda s: s.Box(-1.0, 1.0, shape=()),
    "box-2d": lambda s: s.Box(-1.0, 2.0, (2, 3), np.float64),
    "box-arrays": lambda s: s.Box(np.array([-1.0, 0.0]), np.array([2.0, 4.0]), dtype=np.float64),
    "box-mixed": lambda s: s.Box(np.array([-INF, 0.0, -INF, -1.0]), np.array([INF, INF, 3.0, 1.0]), dtype=np.float64),
    "box-unbounded": lambda s: s.Box(-INF, INF, (2, 2), np.float32),
    "box-below": lambda s: s.Box(0.5, INF, (3,), np.float32),
    "box-above": lambda s: s.Box(-INF, -0.5, (3,), np.float32),
    "box-f16": lambda s: s.Box(0.0, 1.0, (3,), np.float16),
    "box-u8-image": lambda s: s.Box(0, 255, (4, 5, 3), np.uint8),
    "box-i8": lambda s: s.Box(-128, 127, (6,), np.int8),
    "box-i64": lambda s: s.Box(-(2**63), 2**63 - 2, (4,), np.int64),
    "box-i32-half": lambda s: s.Box(-INF, 5, (3,), np.int32),
    "box-i64-free": lambda s: s.Box(-INF, INF, (3,), np.int64),
    "box-bool": lambda s: s.Box(0, 1, (4,), np.bool_),
    "box-point": lambda s: s.Box(2.0, 2.0, (2,), np.float64),
    "discrete": lambda s: s.Discrete(5),
    "discrete-one": lambda s: s.Discrete(1),
    "discrete-start": lambda s: s.Discrete(4, start=-2),
    "discrete-i32": lambda s: s.Discrete(4, dtype=np.int32),
    "discrete-u8": lambda s: s.Discrete(200, dtype=np.uint8, start=3),
    "multi-discrete": lambda s: s.MultiDiscrete([5, 2, 4]),
    "multi-discrete-2d": lambda s: s.MultiDiscrete([[2, 3], [4, 5]]),
    "multi-discrete-start": lambda s: s.MultiDiscrete([5, 2], start=[-1, 10]),
    "multi-discrete-i8": lambda s: s.MultiDiscrete([5, 2], dtype=np.int8),
    "multi-binary": lambda s: s.MultiBinary(5),
    "multi-binary-2d": lambda s: s.MultiBinary([2, 3]),
}
OTHERS = {
    "text": lambda s: s.Text(6),
    "text-digits": lambda s: s.Text(10, min_length=3, charset="9876543210"),
    "text-empty": lambda s: s.Text(3, min_length=0, charset=frozenset("abc")),
    "tuple": lambda s: s.Tuple((s.Discrete(5), s.Box(-1.0, 1.0, (2,), np.float64))),
    "tuple-nested": lambda s: s.Tuple((s.Tuple((s.Discrete(2), s.MultiBinary(2))), s.Text(4))),
    "dict": lambda s: s.Dict({"b": s.Discrete(5), "a": s.Box(0.0, 1.0, (2, 2))}),
    "dict-ordered": lambda s: s.Dict(OrderedDict([("b", s.Discrete(5)), ("a", s.MultiDiscrete([3, 2]))])),
    "dict-unsorted": lambda s: s.Dict({"b": s.Discrete(5), "a": s.Discrete(2)}, sort_keys=False),
    "dict-kwargs": lambda s: s.Dict(x=s.Discrete(3), inner=s.Dict(y=s.MultiBinary(2), z=s.Discrete(2, start=7))),
    "dict-mixed-keys": lambda s: s.Dict({1: s.Discrete(2), "a": s.Discrete(3)}),
    "sequence": lambda s: s.Sequence(s.Box(0.0, 1.0, (2,))),
    "sequence-stack": lambda s: s.Sequence(s.Box(0.0, 1.0, (2,)), stack=True),
    "sequence-text": lambda s: s.Sequence(s.Text(3)),
    "sequence-stack-dict": lambda s: s.Sequence(s.Dict(a=s.Discrete(3), b=s.Box(0, 1, (2,))), stack=True),
    "sequence-nested": lambda s: s.Sequence(s.Sequence(s.Discrete(3))),
    "graph": lambda s: s.Graph(s.Box(-1.0, 1.0, (3,)), s.Discrete(4)),
    "graph-nodes": lambda s: s.Graph(s.Discrete(3), None),
    "graph-dict": lambda s: s.Graph(
        s.Dict(a=s.Discrete(3), b=s.Box(0, 1, (2,))), s.Tuple((s.Discrete(2), s.MultiBinary(3)))
    ),
    "one-of": lambda s: s.OneOf((s.Discrete(3), s.Box(0.0, 1.0, (4,)))),
    "one-of-text": lambda s: s.OneOf((s.Text(3), s.MultiBinary(2), s.Discrete(4))),
    "one-of-bool": lambda s: s.OneOf([s.Box(0, 1, (2,), np.bool_)] * 3),
    "deep": lambda s: s.Dict(
        seen=s.Tuple((s.Sequence(s.Dict(kind=s.Discrete(3), at=s.Box(-1, 1, (2,)))), s.Text(5))),
        choice=s.OneOf((s.Discrete(2), s.Tuple((s.Discrete(3), s.MultiBinary(2))))),
    ),
}
CASES = ARRAYS | OTHERS
