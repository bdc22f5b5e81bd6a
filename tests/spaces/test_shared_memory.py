"""Shared memory: every space's values through memory that another process writes."""

import multiprocessing

import msgspec
import numpy as np
import pytest

from ludus.errors import CodecError
from ludus.spaces import (
    Box,
    Discrete,
    Sequence,
    Text,
    Tuple,
    create_shared_memory,
    dumps,
    read_from_shared_memory,
    to_json,
    write_to_shared_memory,
)
from ludus.spaces.slot import SLOT_BYTES
from tests.core.wording import says
from tests.spaces.models import EVERY, any_samples, any_space
from tests.spaces.shared_child import copy_lane, serve
from tests.spaces.values import same

LANES = 3


def batched(space, values):
    """The values as the batch that reading gives."""
    return space.concatenate(values, space.empty(len(values)))


def written(name, values, memory=None):
    space = any_space(name)
    memory = create_shared_memory(space, len(values)) if memory is None else memory
    for lane, value in enumerate(values):
        write_to_shared_memory(space, lane, value, memory)
    return space, memory


@pytest.mark.parametrize("name", EVERY)
def test_every_value_comes_back_exactly(name):
    _, values = any_samples(name, LANES)
    space, memory = written(name, values)
    read = read_from_shared_memory(space, memory, LANES)
    expected = batched(space, values)
    assert same(read, expected) or read == expected


@pytest.mark.parametrize("name", EVERY)
def test_a_lane_can_be_written_again_and_others_stay(name):
    space, values = any_samples(name, LANES + 1)
    _, memory = written(name, values[:LANES])
    write_to_shared_memory(space, 1, values[LANES], memory)
    expected = batched(space, [values[0], values[LANES], values[2]])
    read = read_from_shared_memory(space, memory, LANES)
    assert same(read, expected) or read == expected


@pytest.fixture(scope="module")
def child():
    """One spawned process that has written the samples of every space."""
    context = multiprocessing.get_context("spawn")
    memories, jobs = {}, []
    for name in EVERY:
        space, values = any_samples(name, LANES)
        memories[name] = create_shared_memory(space, LANES, context)
        jobs.append((to_json(space), memories[name], [dumps(space, one, format="msgpack") for one in values]))
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, jobs))
    process.start()
    theirs.close()
    assert ours.poll(60)
    assert ours.recv() == "written"
    yield memories
    ours.send("done")
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("name", EVERY)
def test_what_a_child_process_writes_is_read_here(name, child):
    space, values = any_samples(name, LANES)
    # The child knows only the description: its records are equal by their plain data.
    read = space.batch(LANES).iterate(read_from_shared_memory(space, child[name], LANES))
    assert [space.encode(one) for one in read] == [space.encode(one) for one in values]


def test_a_child_reads_what_was_written_here():
    context = multiprocessing.get_context("spawn")
    space = Tuple((Box(0, 9, (2,), np.int64), Discrete(5)))
    memory, out = create_shared_memory(space, 2, context), create_shared_memory(space, 2, context)
    for lane in range(2):
        write_to_shared_memory(space, lane, (np.full(2, lane), lane), memory)
    process = context.Process(target=copy_lane, args=(space, memory, out, 2))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert [part.tolist() for part in read_from_shared_memory(space, out, 2)] == [[[1, 1], [0, 0]], [1, 0]]


def test_arrays_are_views_that_change_with_the_memory():
    space = Box(0, 9, (2,), np.int64)
    memory = create_shared_memory(space, 2)
    view = read_from_shared_memory(space, memory, 2)
    write_to_shared_memory(space, 1, np.array([3, 4]), memory)
    assert view.tolist() == [[0, 0], [3, 4]]


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_arrays_without_elements_need_no_memory(shape):
    space = Box(0, 1, shape)
    memory = create_shared_memory(space, 2)
    write_to_shared_memory(space, 1, np.zeros(shape, np.float32), memory)
    assert read_from_shared_memory(space, memory, 2).shape == (2, *shape)


def test_a_value_that_does_not_fit_its_slot_names_the_limit():
    space = Text(10**6, charset="a")
    memory = create_shared_memory(space, 2)
    longest = "a" * (SLOT_BYTES - 3)
    assert len(msgspec.msgpack.encode(longest)) == SLOT_BYTES
    write_to_shared_memory(space, 0, longest, memory)
    message = (
        f"Text(1, 1000000, charset=a): expected at most 65536 bytes in shared memory, got {SLOT_BYTES + 1}; "
        "bound the space, or run without shared memory"
    )
    with says(CodecError, message):
        write_to_shared_memory(space, 1, longest + "a", memory)
    write_to_shared_memory(space, 1, "a", memory)
    assert read_from_shared_memory(space, memory, 2) == (longest, "a")


def test_a_shorter_value_leaves_nothing_of_a_longer_one():
    space = Sequence(Discrete(5))
    memory = create_shared_memory(space)
    write_to_shared_memory(space, 0, (np.int64(1),) * 50, memory)
    write_to_shared_memory(space, 0, (np.int64(2),), memory)
    assert read_from_shared_memory(space, memory) == ((np.int64(2),),)


def test_a_slot_never_written_holds_no_value():
    with pytest.raises(CodecError, match="expected a string, got None"):
        read_from_shared_memory(Text(3), create_shared_memory(Text(3)))
