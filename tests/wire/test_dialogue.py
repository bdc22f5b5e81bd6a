"""Both ends of a session, without I/O."""

import random

import pytest

from ludus.errors import ChannelError
from ludus.wire.dialogue import MAX_UNCONFIRMED_BYTES, WINDOW_REQUESTS, ClientDialogue, RequestVerdict, ServerDialogue
from ludus.wire.messages import (
    DoneReply,
    NumberedReply,
    RenderRequest,
)


def test_each_number_is_carried_out_once_and_in_order() -> None:
    ours = ServerDialogue()
    assert ours.judge(2) is RequestVerdict.REFUSE
    assert ours.judge(0) is RequestVerdict.REFUSE
    ours.begin(1)
    assert ours.judge(1) is RequestVerdict.WAIT
    assert ours.judge(2) is RequestVerdict.RUN
    with pytest.raises(ChannelError, match="expected request 2, got 1"):
        ours.begin(1)
    ours.finish(1, b"one")
    assert ours.judge(1) is RequestVerdict.REPEAT
    assert ours.reply(1) == b"one"


def test_replies_are_kept_until_they_are_confirmed() -> None:
    ours = ServerDialogue()
    for number in range(1, 6):
        ours.begin(number)
        ours.finish(number, bytes(100))
    assert ours.kept == 5
    ours.begin(6, received=3)
    assert [ours.judge(number) for number in (3, 4, 5)] == [
        RequestVerdict.REFUSE,
        RequestVerdict.REPEAT,
        RequestVerdict.REPEAT,
    ]


def test_a_confirmation_of_what_was_never_answered_drops_nothing_that_is_under_way() -> None:
    ours = ServerDialogue()
    ours.begin(1)
    ours.begin(2, received=1 << 60)
    ours.finish(2, b"two")
    ours.finish(1, b"one")
    assert ours.reply(1) == b"one"
    assert ours.reply(2) == b"two"


def test_without_confirmations_the_window_bounds_what_is_kept() -> None:
    ours = ServerDialogue()
    for number in range(1, 4 * WINDOW_REQUESTS):
        ours.begin(number)
        ours.finish(number, b"x")
    assert ours.kept <= WINDOW_REQUESTS
    assert ours.judge(ours.begun) is RequestVerdict.REPEAT


def test_large_replies_without_confirmations_leave_only_the_last() -> None:
    ours = ServerDialogue()
    for number in range(1, 6):
        ours.begin(number)
        ours.finish(number, bytes(MAX_UNCONFIRMED_BYTES + 1))
    assert ours.kept == 1
    assert ours.judge(5) is RequestVerdict.REPEAT


def test_large_replies_to_a_client_that_confirms_are_all_kept() -> None:
    ours = ServerDialogue()
    ours.begin(1)
    ours.finish(1, b"")
    for number in range(2, 7):
        ours.begin(number, received=1)
        ours.finish(number, bytes(MAX_UNCONFIRMED_BYTES))
    assert ours.kept == 5


def test_more_than_the_window_under_way_is_refused() -> None:
    ours = ServerDialogue()
    for number in range(1, WINDOW_REQUESTS + 1):
        ours.begin(number)
    assert ours.judge(WINDOW_REQUESTS + 1) is RequestVerdict.REFUSE
    assert "at most 64 requests under way" in ours.refusal(WINDOW_REQUESTS + 1)
    ours.finish(7, b"")
    assert ours.judge(WINDOW_REQUESTS + 1) is RequestVerdict.RUN
    assert ours.last == 0
    ours.finish(1, b"")
    assert ours.last == 1


def test_restricted_replies_are_known_as_long_as_they_are_kept() -> None:
    ours = ServerDialogue()
    ours.begin(1)
    ours.finish(1, b"secret", restricted=True)
    assert ours.is_restricted(1)
    ours.begin(2, received=1)
    assert not ours.is_restricted(1)


def test_a_client_says_what_it_has() -> None:
    mine = ClientDialogue()
    assert [mine.ask(RenderRequest()).received for _ in range(3)] == [0, 0, 0]
    mine.take(NumberedReply(2, DoneReply()))
    assert mine.ask(RenderRequest()).received == 0
    mine.take(NumberedReply(1, DoneReply()))
    assert mine.ask(RenderRequest()).received == 2
    assert [one.number for one in mine.unanswered] == [3, 4, 5]


def test_a_reply_to_nothing_is_an_error() -> None:
    mine = ClientDialogue()
    mine.ask(RenderRequest())
    for number in (0, 2, -1):
        with pytest.raises(ChannelError, match="expected replies to requests 1 to 1"):
            mine.take(NumberedReply(number, DoneReply()))


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_lost_everything_happens_once(seed: int) -> None:
    """Messages are lost by cut connections both ways; every request is carried out once, every reply arrives once."""
    rng = random.Random(seed)
    mine, ours = ClientDialogue(), ServerDialogue()
    done: list[int] = []
    heard: list[int] = []
    running: list[int] = []

    def deliver(number: int) -> None:
        if rng.random() < 0.8 and mine.take(NumberedReply(number, DoneReply())) is not None:
            heard.append(number)

    def arrive(asked: object) -> None:
        number, received = asked.number, asked.received  # type: ignore[attr-defined]
        verdict = ours.judge(number)
        if verdict is RequestVerdict.RUN:
            ours.begin(number, received)
            running.append(number)
        elif verdict is RequestVerdict.REPEAT:
            deliver(number)

    while len(heard) < 200:
        if mine.last < 200 and len(mine.unanswered) < 5:
            asked = mine.ask(RenderRequest())
            if rng.random() < 0.8 and not any(one.number < asked.number - 5 for one in mine.unanswered):
                arrive(asked)
        if running and rng.random() < 0.7:
            number = running.pop(0)
            done.append(number)
            ours.finish(number, b"")
            deliver(number)
        if rng.random() < 0.3:  # a new connection
            for asked in mine.unanswered:
                arrive(asked)
    assert done == list(range(1, 201))
    assert sorted(heard) == done
    assert ours.kept <= 16
