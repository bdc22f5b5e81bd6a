"""Messages over a network: each comes out as it went in, and nothing else is one."""

from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest

from ludus.errors import CodecError
from ludus.wire import FrameLimits
from ludus.wire import messages as wire
from ludus.wire.messages import (
    CloseRequest,
    DoneReply,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SnapshotReply,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)

LIMITS = FrameLimits()
REQUESTS: list[Any] = [
    StepRequest({"x": [1, 2.5, b"bytes", None]}),
    wire.BatchStepRequest(b"\0\1"),
    ResetRequest(7, {"options": True}),
    wire.BatchResetRequest([1, 2], None),
    RenderRequest(),
    wire.AutoresetRequest(b"\1", [(0, 7, None)]),
    wire.GetRequest("gravity"),
    wire.HasRequest("gravity"),
    wire.SetRequest("gravity", 9.8, True),
    wire.CallRequest("hint", [1], {"depth": 2}),
    StateRequest(True),
    SnapshotRequest([1, 2, 3]),
    RestoreRequest(4),
    wire.ForkRequest(0, [1, 0]),
    CloseRequest(),
    wire.HelloRequest(
        env="CartPole-v1", lanes=4, compression="zstd", arguments={"size": 3}, client="me", takeover=True
    ),
    wire.CancelRequest(9),
]
REPLIES: list[Any] = [
    StepReply(b"\0" * 16, 1.0, False, True, {"a": 1}),
    wire.BatchStepReply(b"", b"", b"", b"", {}),
    ResetReply(None, {}),
    wire.BatchReply([], {"x": {"$objects": [None]}}),
    ValueReply([1]),
    SnapshotReply(3),
    DoneReply(),
    wire.WelcomeReply(1, "0.x", "e", 0, "", {}, {}, {}, None, "E", "", 0, "agent", {"size": 1}, "none"),
    wire.ForkReply("0.y"),
    wire.FailedReply("InvalidAction", "no", infrastructure=True, retry_after=1.5),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: type(one).__name__)
def test_requests_come_out_as_they_went_in(request_: Any) -> None:
    asked = wire.NumberedRequest(5, request_, 2.5, 4)
    assert wire.read_asked(wire.write_message(asked), LIMITS) == asked


@pytest.mark.parametrize("reply", REPLIES, ids=lambda one: type(one).__name__)
def test_replies_come_out_as_they_went_in(reply: Any) -> None:
    answered = wire.NumberedReply(5, reply)
    assert wire.read_answered(wire.write_message(answered), LIMITS) == answered


def test_every_message_is_tried_here() -> None:
    assert {type(one) for one in REQUESTS} == set(wire.NetworkRequest.__args__)
    assert {type(one) for one in REPLIES} == set(wire.NetworkReply.__args__)


def test_fields_with_defaults_may_be_left_out() -> None:
    assert wire.read_asked(msgspec.msgpack.encode([0, [20]]), LIMITS).request == wire.HelloRequest()
    assert wire.read_asked(msgspec.msgpack.encode([3, [1, 0]]), LIMITS) == wire.NumberedRequest(3, StepRequest(0))


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        [],
        [1],
        [1, [99]],
        [1, [1]],
        [1, [1, 2, 3]],
        ["1", [1, 0]],
        [1.5, [1, 0]],
        [1, [1, 0], "soon"],
        [1, [1, 0], 1.0, None],
        [1, [1, 0], 1.0, 0, 0],
        [1, {"tag": 1}],
        [1 << 64 - 1, [21, "x"]],
        [0, [20, 1, 7]],
        [0, [20, 1, "e", "", 0, "NextStep", {}, "jpeg"]],
        [0, [20, 1, "e", "", 0, "NextStep", [], "none"]],
        [1, [7, ["x"]]],
    ],
)
def test_other_data_is_refused(data: Any) -> None:
    with pytest.raises(CodecError, match="expected a message, got"):
        wire.read_asked(msgspec.msgpack.encode(data), LIMITS)


def test_a_message_beyond_the_limit_is_refused() -> None:
    data = wire.write_message(wire.NumberedRequest(1, StepRequest(bytes(100))))
    for read in (wire.read_asked, wire.read_answered):
        with pytest.raises(CodecError, match="expected at most 50 bytes, got 10"):
            read(data, FrameLimits(size=50))


def test_replies_are_no_requests() -> None:
    with pytest.raises(CodecError):
        wire.read_asked(wire.write_message(wire.NumberedReply(1, wire.FailedReply("a", "b"))), LIMITS)


def test_any_bytes_are_a_message_or_a_codec_error() -> None:
    rng = Random(11)
    good = [wire.write_message(wire.NumberedRequest(1, one)) for one in REQUESTS]
    for _ in range(20_000):
        torn = bytearray(rng.choice(good))
        for _ in range(rng.randint(0, 3)):
            torn[rng.randrange(len(torn))] = rng.randrange(256)
        with suppress(CodecError):
            wire.read_asked(bytes(torn[: rng.randint(0, len(torn) + 1)]), LIMITS)
