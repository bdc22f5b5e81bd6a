"""A server's quick way to begin a request does what the long way does, or nothing."""

from random import Random
from typing import Any

import pytest

from ludus.wire.dialogue import MAX_UNCONFIRMED_BYTES, RequestVerdict, ServerDialogue
from ludus.wire.frame import FrameLimits
from ludus.wire.messages import NumberedRequest, RenderRequest, StepRequest, write_message


@pytest.mark.parametrize("seed", range(20))
def test_a_request_that_is_accepted_leaves_what_judging_and_beginning_it_leaves(seed: int) -> None:
    rng = Random(seed)
    quick, slow = ServerDialogue(), ServerDialogue()
    limits, kinds = FrameLimits(), frozenset({StepRequest})
    for _ in range(300):
        number = slow.begun + rng.choice((1, 1, 1, 1, 0, 2))
        request: Any = StepRequest(1) if rng.random() < 0.9 else RenderRequest()
        received = max(0, slow.last - rng.choice((0, 0, 0, 1, 3)))
        asked = NumberedRequest(number, request, rng.choice((None, None, 0.01, 5.0)), received)
        hurried = asked.seconds is not None and asked.seconds < 0.5
        runs = slow.judge(number) is RequestVerdict.RUN and slow.is_idle and type(request) in kinds and not hurried
        accepted = quick.accept(write_message(asked), limits, kinds, 0.5)
        assert (accepted is not None) == runs
        if runs:
            slow.begin(number, asked.received)
            restricted, reply = rng.random() < 0.2, rng.randbytes(rng.choice((5, 5, MAX_UNCONFIRMED_BYTES)))
            for one in (quick, slow):
                one.finish(number, reply, restricted=restricted)
        for name in ServerDialogue.__slots__:
            assert getattr(quick, name) == getattr(slow, name), name


def test_bytes_that_are_no_message_are_not_accepted() -> None:
    ours = ServerDialogue()
    for data in (b"", b"\xc1", b"\x93", write_message(NumberedRequest(0, RenderRequest()))):
        assert ours.accept(data, FrameLimits(), frozenset({RenderRequest}), 0.5) is None
    assert ours.is_idle
