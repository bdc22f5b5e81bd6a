"""Descriptions of spaces: what a stranger's may cost, and that real ones are not refused for it."""

import pickle
import subprocess
import sys
import tracemalloc
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ludus.errors import CodecError
from ludus.spaces import Box, Dict, Graph, Record, Sequence, Space, Text, Tuple
from ludus.wire import read_space, write_space

MOST = 64 << 20
SLACK = 1.15
"""For what a space takes beside its numbers."""
IMAGES = [(84, 84, 4), (480, 640, 3), (64, 84, 84, 4), (4, 480, 640, 3), (1080, 1920, 3), (2160, 3840, 3)]


def box(numbers: int, dtype: str) -> dict:
    return {"type": "Box", "low": 0, "high": 1, "shape": [numbers], "dtype": dtype}


def inside(kind: str, part: dict) -> dict:
    words = {"Sequence": {"space": {"$space": part}}, "Graph": {"node_space": {"$space": part}, "edge_space": None}}
    return {"type": kind, **words[kind]}


def many(part: dict, count: int) -> dict:
    return {"type": "Tuple", "spaces": {"$tuple": [{"$space": part}] * count}}


def peak(data: dict) -> int | None:
    """The bytes that reading it takes at most; None where it is refused."""
    tracemalloc.start()
    try:
        read_space(data)
    except CodecError:
        return None
    finally:
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize(("dtype", "size"), [("uint8", 1), ("float32", 4), ("float64", 8), ("int64", 8)])
@pytest.mark.parametrize("kind", ["Box", "Sequence", "Graph"])
def test_no_box_costs_more_than_it_may(dtype, size, kind):
    """The largest that is read has values of 64 MiB, or of half that where a copy is kept; its bounds cost nothing."""
    most = (MOST - (16 << 10)) // ((1 if kind == "Box" else 2) * size)
    made = [box(numbers, dtype) for numbers in (most, most + 20_000)]
    allowed, refused = made if kind == "Box" else (inside(kind, one) for one in made)
    found = peak(allowed)
    assert found is not None
    assert found < 1 << 20
    assert peak(refused) is None


@pytest.mark.no_cover
def test_bounds_that_are_written_out_cost_what_they_take():
    """Two bounds and where they are finite, and what passes; of these most are zeros that `low` is not."""
    numbers = MOST // 16
    written = {"$array": [0] * 4, "dtype": "float64", "shape": [numbers]}
    assert peak(box(4, "float64") | {"shape": [numbers], "low": written}) is None


@pytest.mark.no_cover
def test_no_crowd_of_small_spaces_costs_more_than_it_may():
    assert (peak(many(write_space(Text(3)), 7000)) or 0) <= MOST * SLACK
    assert peak(many(write_space(Text(3)), 12_000)) is None


def test_letters_cost_too():
    read_space({"type": "Text", "max_length": 3, "charset": "".join(map(chr, range(65, 1065)))})
    with pytest.raises(CodecError, match="expected one of at most 64 MiB"):
        read_space({"type": "Text", "max_length": 3, "charset": "".join(map(chr, range(65, 600_000)))})


@pytest.mark.parametrize("shape", IMAGES)
@pytest.mark.parametrize(
    "wrap", [lambda part: part, Sequence, lambda part: Graph(part, None)], ids=["", "Seq", "Graph"]
)
def test_images_are_read(shape, wrap):
    space = wrap(Box(0, 255, shape, np.uint8))
    assert read_space(write_space(space)) == space


@pytest.mark.parametrize(
    "space",
    [
        Box(-np.inf, np.inf, (480, 640, 3), np.float32),
        Sequence(Box(0, 1, (480, 640, 3), np.float32)),
        Dict({name: Box(0, 255, (480, 640, 3), np.uint8) for name in ("left", "right", "front", "back")}),
        Tuple([Box(0, 255, (84, 84, 4), np.uint8) for _ in range(16)]),
    ],
    ids=["floats", "Sequence of floats", "four cameras", "sixteen frames"],
)
def test_what_real_environments_have_is_read(space: Space):
    assert read_space(write_space(space)) == space


@pytest.mark.parametrize("ends", [(0, 255, np.uint8), (-np.inf, 7, np.int32), (-np.inf, np.inf, np.float32)], ids=str)
def test_large_boxes_hold_their_bounds_once_and_are_boxes_like_any_other(ends):
    low, high, dtype = ends
    space = Box(low, high, (300, 400, 3), dtype, seed=4)
    full = Box(np.full((300, 400, 3), low), np.full((300, 400, 3), high), dtype=dtype, seed=4)
    assert space == full
    assert full == space
    assert repr(space) == repr(full)
    assert write_space(space) == write_space(full)
    assert space.json_schema() == full.json_schema()
    drawn = space.sample()
    assert np.array_equal(drawn, full.sample())
    assert np.array_equal(space.default(), full.default())
    assert drawn in space
    assert (np.zeros((300, 400, 2), dtype) in space) is False
    for other in (deepcopy(space), pickle.loads(pickle.dumps(space)), read_space(write_space(space))):
        assert other == space
        assert other.low.strides == (0, 0, 0)
        assert other.is_bounded("below") is space.is_bounded("below")
    assert np.array_equal(deepcopy(space).sample(), full.sample())
    assert len(pickle.dumps(space)) < 2000
    assert space.batch(2) == full.batch(2)
    assert space.flat_space() == full.flat_space()
    assert np.array_equal(space.low, full.low)


def test_an_element_out_of_a_large_box_is_named():
    value = np.zeros((300, 400, 3), np.float32)
    value[1, 2, 0] = 7
    assert [str(one) for one in Box(0, 1, (300, 400, 3)).validate(value, "x")] == [
        "x[1][2][0]: expected 0.0 to 1.0, got 7.0"
    ]


def test_data_that_looks_like_a_space_is_data_where_a_default_is_meant():
    @dataclass
    class Event:
        payload: dict[str, Any] = field(default_factory=dict)
        kind: dict[str, Any] = field(default_factory=lambda: {"type": "mcp:call", "low": 0})

    space = Record(Event)
    assert read_space(write_space(space)) == space


def test_calls_of_tools_are_read_though_nobody_imported_tools():
    code = (
        "import sys, ludus; from ludus.wire import read_space; assert 'ludus.tools' not in sys.modules;"
        "buy = ['buy', '', [['n', ['int', 0, 5], True, None, '']], None];"
        "data = {'type': 'ludus.tools.calls:Calls', 'tools': [buy]};"
        "print(read_space(data).coerce({'tool': 'buy', 'arguments': {'n': 3.0}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Call(tool='buy', arguments={'n': 3})\n"


def test_sixty_bytes_do_not_make_gigabytes():
    with pytest.raises(CodecError, match="observation: expected one of at most 64 MiB, got one of 128 MiB"):
        read_space(box((1 << 24) - 1, "float64"), "observation")
