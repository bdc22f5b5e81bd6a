"""Codecs of environments elsewhere: what they announce is checked, and what they give is held to it."""

from dataclasses import dataclass

import msgspec
import numpy as np
import pytest

from ludus import AutoresetMode
from ludus.core import Episode
from ludus.core.info import lane_info
from ludus.errors import ContractViolation, InvalidAction, InvalidArgument
from ludus.remote.codec import BatchCodec, EnvCodec, travelling
from ludus.remote.columns import Columns
from ludus.remote.plans import EpisodePlans
from ludus.spaces import Box, Discrete, Record, Tuple
from ludus.wire import write_space
from ludus.wire.messages import PROTOCOL, BatchStepReply, MakeReply, ResetReply, StepReply, ValueReply


def made(observed=None, acted=None, metadata=None, mode=None, name="Somewhere"):
    observed, acted = observed or Box(0, 1, (2,), np.float32), acted or Discrete(3)
    return MakeReply(PROTOCOL, write_space(observed), write_space(acted), metadata or {}, mode, name)


def sent(data):
    """What the other side gets."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(data))


@dataclass
class Order:
    item: str
    count: int = 1


@dataclass
class Wish:
    """Another program's class for the same."""

    item: str
    count: int = 1


def test_an_action_is_written_whatever_class_it_is_of():
    codec = EnvCodec(made(acted=Record(Order)))
    for action in (Order("tea"), Wish("tea"), {"item": "tea"}, {"item": "tea", "count": 1.0}):
        assert sent(codec.write_action(action)) == {"item": "tea", "count": 1}
    with pytest.raises(InvalidAction, match=r"action\.count: expected int, got 1\.5"):
        codec.write_action({"item": "tea", "count": 1.5})
    with pytest.raises(InvalidAction, match=r"action\.item"):
        codec.write_action({})


def test_an_observation_is_of_the_class_that_this_process_has():
    codec = EnvCodec(made(observed=Record(Order)))
    found, info = codec.read_reset(ResetReply({"item": "tea", "count": 2}, {}))
    assert (type(found), found, info) == (Order, Order("tea", 2), {})


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (StepReply(b"short", 0.0, False, False, {}), "expected 8 bytes"),
        (
            StepReply(np.full(2, 7, np.float32).tobytes(), 0.0, False, False, {}),
            r"\[0\]: expected 0.0 to 1.0",
        ),
        (StepReply(bytes(8), float("inf"), False, False, {}), "expected a finite number"),
        (StepReply(bytes(8), {"$scalar": b"\1", "dtype": "bool"}, False, False, {}), "expected a finite number"),
        (StepReply(bytes(8), 0.0, False, False, {"a": {"$object": 1}}), "tags"),
        (StepReply(bytes(8), 0.0, False, False, {"mine": 1}), "expected another name"),
    ],
)
def test_a_step_that_breaks_its_word_is_the_other_sides_fault(reply, words):
    with pytest.raises(ContractViolation, match=words):
        EnvCodec(made(), reserved="mine").read_step(reply)


@pytest.mark.parametrize(
    "announced",
    [
        {"metadata": {"render_modes": 5}},
        {"metadata": {"x": {"$object": 1}}},
        {"mode": "rgb\x1b[31m"},
        {"mode": "r" * 1000},
    ],
)
def test_what_is_announced_is_looked_at(announced):
    with pytest.raises(ContractViolation):
        EnvCodec(made(**announced))


def test_names_are_bounded_and_clean():
    assert EnvCodec(made(name="\x1b]0;x" + "n" * 10_000)).name == "\ufffd]0;x" + "n" * 75


def test_pictures_and_states_are_what_they_have_to_be():
    codec = EnvCodec(made())
    assert codec.read_picture(ValueReply("text")) == "text"
    with pytest.raises(ContractViolation, match=r"render: expected an array, text or a list"):
        codec.read_picture(ValueReply(5))
    with pytest.raises(ContractViolation, match=r"state: expected a dictionary"):
        codec.read_state(ValueReply([1]))


def test_what_cannot_travel_is_an_argument_that_cannot_be_used():
    with pytest.raises(InvalidArgument, match=r"options\['hook'\]: expected numbers"):
        travelling({"hook": print}, "options")


# --- batches ---


def batch(count=2, **announced):
    return BatchCodec(made(**announced), count, AutoresetMode.NEXT_STEP)


def test_actions_of_a_batch_are_an_array_or_what_becomes_one():
    codec = batch()
    assert codec.write_action([1, 2]) == codec.write_action(np.array([1, 2])) == codec.write_action((1, 2))
    for wrong, kind in (([1], InvalidArgument), ([[1], [2, 3]], InvalidArgument), ([0.5, 1.0], InvalidAction)):
        with pytest.raises(kind):
            codec.write_action(wrong)


def test_actions_of_typed_lanes_are_a_list_or_a_tuple():
    codec = batch(acted=Record(Order))
    both = [["tea", "milk"], [1, 2]]  # column by column
    assert msgspec.msgpack.decode(codec.write_action([Order("tea"), {"item": "milk", "count": 2}])) == both
    assert msgspec.msgpack.decode(codec.write_action((Wish("tea"), Order("milk", 2)))) == both
    with pytest.raises(InvalidArgument, match="one for each of 2 lanes"):
        codec.write_action([Order("tea")])
    with pytest.raises(InvalidAction, match=r"action\[1\]\.item"):
        codec.write_action([Order("tea"), {}])


def test_composite_actions_stay_batches():
    codec = batch(acted=Tuple((Discrete(2), Discrete(3))))
    assert codec.write_action((np.array([0, 1]), np.array([2, 2])))


@pytest.mark.parametrize(
    ("rewards", "terminated", "truncated", "words"),
    [
        (bytes(8), b"\0\0", b"\0\0", "rewards: expected 2 of them, got 8 bytes"),
        (np.array([0, np.nan]).tobytes(), b"\0\0", b"\0\0", "expected finite numbers"),
        (bytes(16), b"\0", b"\0\0", "terminated: expected 2 of them"),
        (bytes(16), b"\0\0", b"\0\3", "truncated: expected bytes of 0 and 1"),
    ],
)
def test_columns_of_a_step_are_counted(rewards, terminated, truncated, words):
    with pytest.raises(ContractViolation, match=words):
        batch().read_step_columns(BatchStepReply(bytes(16), rewards, terminated, truncated, {}))


def test_the_info_of_one_lane_is_found_in_the_columns():
    every, first = np.array([True, True]), np.array([True, False])
    infos = {"n": np.array([3, 4]), "_n": every, "deep": {"x": np.array([1.5, 0.0]), "_x": first}, "_deep": first}
    assert lane_info(infos, 0) == {"n": 3, "deep": {"x": 1.5}}
    assert lane_info(infos, 1) == {"n": 4}


def test_plans_are_told_once_and_again_after_a_snapshot():
    columns, plans = Columns(3, lambda lane, number: Episode(10 * lane + number)), EpisodePlans()
    assert columns.take_plans(0, 3) == []
    columns.seeded(np.ones(3, np.bool_), [None] * 3)
    told = columns.take_plans(1, 3)
    assert told == [(0, 11, None), (1, 21, None)]
    assert columns.take_plans(1, 3) == []
    plans.take(told)
    assert (plans(0, 1).seed, plans(0, 2).seed) == (11, None)
    columns.take_state(columns.state())
    assert columns.take_plans(1, 3) == told
