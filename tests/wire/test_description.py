"""Descriptions of spaces: what a stranger's may cost, and that real ones are not refused for it."""

import tracemalloc

import numpy as np
import pytest

from ludus.errors import CodecError
from ludus.spaces import Box, Dict, Graph, Sequence, Space, Text, Tuple
from ludus.wire import read_space, write_space

MOST = 64 << 20
SLACK = 1.15
"""For what a space takes beside its numbers."""
IMAGES = [(84, 84, 4), (480, 640, 3), (64, 84, 84, 4), (4, 480, 640, 3)]


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
    """The largest that is read: two bounds and where they are finite, twice where a copy is kept, and what passes."""
    most = (MOST - (16 << 10)) // ((2 if kind == "Box" else 4) * (size + 1) + max(9, 2 * size + 1))
    made = [box(numbers, dtype) for numbers in (most, most + 10_000)]
    allowed, refused = made if kind == "Box" else (inside(kind, one) for one in made)
    assert MOST // 3 < (peak(allowed) or 0) <= MOST * SLACK
    assert peak(refused) is None


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


def test_sixty_bytes_do_not_make_gigabytes():
    with pytest.raises(CodecError, match="observation: expected one of at most 64 MiB, got one of 560 MiB"):
        read_space(box((1 << 24) - 1, "float64"), "observation")
