"""Payloads, boxes and semaphores: what workers and their batch tell each other arrives as it was."""

import enum
import platform
from dataclasses import dataclass
from mmap import mmap

import numpy as np
import pytest

from ludus.errors import InvalidType
from ludus.spaces import Box, Discrete, GraphInstance
from ludus.testing import data_equal
from ludus.vector import semaphore
from ludus.vector.block import LANE_BOX, SharedBlock
from ludus.vector.channel import WorkerChannel
from ludus.vector.payload import pack, unpack
from ludus.vector.semaphore import SEMAPHORE_BYTES, Semaphore
from ludus.vector.spin_policy import LATE_NS, MAX_SLEPT_WAITS, MIN_SLEPT_WAITS, SpinPolicy


class Colour(enum.Enum):
    RED = 1


@dataclass
class Point:
    x: int


VALUES = [
    *(None, True, 1, -(2**63), 2**64 - 1, 2**64, -(2**70), 0.5, float("inf"), "text", "\ud800", b"bytes", 1 + 2j),
    *((), (1, (2, [3])), [], [1, (2,)], {}, {"a": {"b": (1,)}}, {1: "a", (2, 3): None}, {"a": 1, 2: 3}),
    *(
        np.float64(2),
        np.float32(0.1),
        np.int8(-3),
        np.bool_(True),
        np.str_("hi"),
        np.str_(""),
        np.datetime64("2020-01-01"),
    ),
    *(np.arange(6).reshape(2, 3), np.asfortranarray(np.eye(3)), np.zeros((0, 3)), np.array(3), np.zeros((2, 3), ">f4")),
    *(np.array(["a", "bcd"]), np.array(""), np.array([1, None], object), np.zeros(2, [("a", int), ("b", float)])),
    *(Colour.RED, Point(3), {"deep": [Point(1), np.zeros(2)]}, {1, 2}, range(3)),
    GraphInstance(np.zeros((2, 1), np.float32), np.array([1]), np.array([[0, 1]], np.int16)),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_arrives_as_it_was(value):
    found = unpack(pack(value))
    assert type(found) is type(value)
    assert data_equal(found, value) or found == value


def test_arrays_that_arrive_are_the_receivers():
    found = unpack(pack([np.zeros(3), np.zeros(3)]))
    found[0][0] = 1
    assert found[1].tolist() == [0, 0, 0]


def test_a_list_that_holds_itself_arrives():
    value = [1]
    value.append(value)
    found = unpack(pack(value))
    assert found[1] is found


def test_what_cannot_be_sent_is_told():
    with pytest.raises(InvalidType, match=r"value: expected what can be pickled, .* got <unlocked _thread.lock"):
        pack({"a": __import__("threading").Lock()})


def test_long_messages_go_beside_the_boxes_in_any_order():
    block = SharedBlock(Discrete(2), Discrete(2), [(0, 2), (2, 4)])
    twin = SharedBlock(Discrete(2), Discrete(2), [(0, 2), (2, 4)], block.file)
    (ours, theirs), (also_ours, also_theirs) = WorkerChannel.pair(), WorkerChannel.pair()
    long = [f"{lane}" * LANE_BOX for lane in range(4)]
    for lane, channel in enumerate([theirs, theirs, also_theirs, also_theirs]):
        twin.mailboxes.put(lane, long[lane], channel)
    for lane, channel in [(3, also_ours), (1, ours), (0, ours), (2, also_ours)]:
        assert block.mailboxes.take(lane, channel) == long[lane]
        assert block.mailboxes.take(lane, channel) is None
    twin.mailboxes.put(0, "short", theirs)
    assert block.mailboxes.take(0, ours) == "short"
    for one in (ours, theirs, also_ours, also_theirs):
        one.close()
    block.release()


def test_the_other_end_may_be_gone():
    ours, theirs = WorkerChannel.pair()
    assert ours.receive(0.0) is None
    theirs.close()
    with pytest.raises(EOFError):
        ours.receive(1.0)
    ours.close()


def test_a_bell_rings_across_memory_that_is_shared():
    memory = memoryview(mmap(-1, SEMAPHORE_BYTES))
    ours, theirs = Semaphore(memory, new=True), Semaphore(memory)
    theirs.post()
    theirs.post()
    assert ours.wait(60)
    ours.try_wait()
    assert not ours.wait(0.001)
    theirs.post()
    ours.drain()
    ours.try_wait()
    assert not ours.wait(0.0)


def test_memory_is_ordered_by_a_pair_of_atomic_operations_where_the_processor_does_not():
    before = bytes(semaphore._fence)
    semaphore._real_fence()
    assert bytes(semaphore._fence) == before
    assert semaphore.fence is (semaphore._no_fence if platform.machine() == "x86_64" else semaphore._real_fence)


def test_whoever_was_late_by_yielding_sleeps_for_longer_each_time(monkeypatch):
    monkeypatch.setattr("ludus.vector.spin_policy.monotonic_ns", lambda: 10**9)
    patience, waits = SpinPolicy(), []
    for _ in range(9):
        assert patience.until() > 10**9
        patience.learn(10**9 - 2 * LATE_NS)
        slept = 0
        while not patience.until():
            slept += 1
        waits.append(slept)
    assert waits == [min(MAX_SLEPT_WAITS, MIN_SLEPT_WAITS * 2**number) for number in range(9)]
    for _ in range(MAX_SLEPT_WAITS):
        patience.learn(10**9)
    patience.learn(10**9 - 2 * LATE_NS)
    assert [patience.until() for _ in range(MIN_SLEPT_WAITS)] == [0] * MIN_SLEPT_WAITS
    assert patience.until()


def test_a_value_that_does_not_fit_its_space_is_refused_as_by_the_serial_executor():
    block = SharedBlock(Box(0, 1, (2,), np.float32), Discrete(2), [(0, 2)])
    column = block.observations
    column.write(1, np.array([0.5, 0.25]), [])
    assert column.read(1).tolist() == [0.5, 0.25]
    for wrong in (np.zeros(3, np.float32), np.float32(1), None):
        with pytest.raises((ValueError, TypeError)):
            column.write(0, wrong, [])
    block.release()
