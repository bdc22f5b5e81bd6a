"""Infos of batches: what a batch tells comes out the same, and nothing else is read."""

from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest

import ludus
from ludus.errors import CodecError, InvalidValue
from ludus.spaces import Box, Discrete
from ludus.wire import SpaceCodec
from ludus.wire.infos import read_infos, write_infos

FINALS = SpaceCodec(Discrete(5), "final_obs")


def carried(infos: dict[str, Any], codec: SpaceCodec, count: int) -> dict[str, Any]:
    data = msgspec.msgpack.decode(msgspec.msgpack.encode(write_infos(infos, codec.write)))
    return read_infos(data, codec, count)


def equal(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            equal(a[key], b[key])
        return
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype == object:
            for one, other in zip(a, b, strict=True):
                equal(one, other)
            return
    np.testing.assert_equal(a, b)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize(("id", "executor"), [("CartPole-v1", "serial"), ("CartPole-v1", None), ("GridWorld-v0", None)])
def test_infos_of_a_batch_come_out_as_they_were(id: str, executor: str | None, mode: str) -> None:
    with ludus.make_vec(id, 3, executor, mode, max_episode_steps=4) as envs:
        codec = SpaceCodec(envs.single_observation_space, "final_obs")
        _, infos = envs.reset(seed=0)
        equal(carried(infos, codec, 3), infos)
        for _ in range(12):
            step = envs.step(envs.action_space.sample())
            equal(carried(step.info, codec, 3), step.info)
            if mode == "Disabled" and (step.terminated | step.truncated).any():
                mask = step.terminated | step.truncated
                _, infos = envs.reset(options={"reset_mask": mask})
                equal(carried(infos, codec, 3), infos)


def test_columns_of_all_kinds_come_out() -> None:
    objects = np.array([None, {"a": (1, 2)}, "text"], dtype=object)
    infos = {
        "numbers": np.arange(3.0),
        "pixels": np.zeros((3, 2, 2), np.uint8),
        "objects": objects,
        "nested": {"inner": np.array([1, 2, 3]), "_inner": np.ones(3, np.bool_), "deep": {"x": objects}},
        "plain": 7,
        "list": [1, (2, 3)],
        "none": None,
        "empty": {},
    }
    equal(carried(infos, FINALS, 3), infos)


def test_columns_of_lists_stay_columns() -> None:
    paths = np.empty(2, dtype=object)
    paths[:] = [[1, 2], [3, 4]]
    equal(carried({"path": paths}, FINALS, 2), {"path": paths})


def test_final_observations_are_held_to_their_space() -> None:
    data = {"final_obs": [None, [9]]}
    with pytest.raises(InvalidValue, match="final_obs"):
        read_infos(data, FINALS, 2)
    box = SpaceCodec(Box(0, 1, (2,)), "final_obs")
    last = np.array([None, np.ones(2, np.float32)], dtype=object)
    equal(carried({"final_obs": last}, box, 2), {"final_obs": last})


@pytest.mark.parametrize(
    ("infos", "why"),
    [
        ({1: 2}, "for keys, got 1"),
        ({"$array": 1}, r"for keys, got '\$array'"),
        ({"hook": print}, r"info\['hook'\]: expected numbers"),
        ({"final_obs": 3}, "one observation for each lane"),
        ([], "expected a dictionary"),
    ],
)
def test_what_cannot_travel_is_named(infos: Any, why: str) -> None:
    with pytest.raises(CodecError, match=why):
        write_infos(infos, FINALS.write)


def test_infos_that_hold_themselves_are_refused() -> None:
    infos: dict[str, Any] = {}
    infos["again"] = infos
    with pytest.raises(CodecError, match="at most 24 levels"):
        write_infos(infos, FINALS.write)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {1: 2},
        {"a": {1: 2}},
        {"a": {b"x": 2}},
        {"$a": 1},
        {"a": {"$array": [None], "dtype": "object", "shape": [1]}},
        {"a": {"$array": None, "dtype": "object", "shape": [2]}},
        {"a": {"$array": [None, None], "dtype": "object", "shape": [3]}},
        {"a": {"$array": [None, None], "dtype": "object", "shape": [2], "more": 1}},
        {"a": {"b": {"$array": [None], "dtype": "object", "shape": [1]}}},
        {"final_obs": [None]},
        {"final_obs": None},
        {"final_obs": [[1, 2], None]},
        {"final_obs": [1, None]},
        {"$tuple": []},
        {"a": {"$array": bytes(8), "dtype": "int64", "shape": [1]}},
        {"a": {"$array": bytes(8), "dtype": "int64", "shape": []}},
        {"a": {"$array": bytes(8), "dtype": "object", "shape": [1]}},
        {"a": {"$unknown": 1}},
        {"a": msgspec.msgpack.Ext(5, b"")},
        {"a": [msgspec.msgpack.Ext(5, b"")]},
    ],
)
def test_other_data_is_refused(data: Any) -> None:
    with pytest.raises((CodecError, InvalidValue)):
        read_infos(data, FINALS, 2)


def test_any_data_is_infos_or_a_codec_error() -> None:
    rng = Random(5)
    leaves: list[Any] = [None, True, 1, -1.5, "x", "$array", b"", b"\0" * 16, "int64", [1], [None, [1]], float("nan")]
    keys: list[Any] = ["a", "final_obs", "$tuple", "$array", "dtype", "shape", "$tuple", "$int", 3, b"k", ""]

    def any_data(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(leaves)
        if rng.random() < 0.3:
            return [any_data(depth - 1) for _ in range(rng.randint(0, 3))]
        return {rng.choice(keys): any_data(depth - 1) for _ in range(rng.randint(0, 4))}

    for _ in range(5000):
        with suppress(CodecError, InvalidValue):
            read_infos(any_data(4), FINALS, 2)
