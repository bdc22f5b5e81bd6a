"""The two ends of a session without I/O: which request is carried out, which reply is repeated, what is sent again.

A session outlives its connections. Requests are numbered; the server carries out each number once and keeps its last
replies, so that a client that lost its connection sends again what was not answered, and nothing happens twice.
"""

from collections.abc import Container
from enum import Enum

from ludus.errors import ChannelError, CodecError
from ludus.wire.frame import FrameLimits
from ludus.wire.messages import NetworkRequest, NumberedReply, NumberedRequest, read_asked

__all__ = ["WINDOW_REQUESTS", "ClientDialogue", "ServerDialogue", "RequestVerdict"]

WINDOW_REQUESTS = 64
"""Requests that a client may have under way, and replies that a server keeps at most."""
MAX_UNCONFIRMED_BYTES = 1 << 18
"""Bytes of replies that are kept for a client that never says what it has received, beside the last one."""


class RequestVerdict(Enum):
    """What a server does with a request."""

    RUN = "run"
    WAIT = "wait"
    """It is under way: its reply goes to whoever is connected then."""
    REPEAT = "repeat"
    REFUSE = "refuse"


class ServerDialogue:
    """The server's end. Replies are kept as the bytes that were sent, until the client says that it has them.

    >>> ours = ServerDialogue()
    >>> ours.judge(1)
    <RequestVerdict.RUN: 'run'>
    >>> ours.begin(1)
    >>> ours.judge(1)
    <RequestVerdict.WAIT: 'wait'>
    >>> ours.finish(1, b"its reply")
    >>> ours.judge(1), ours.judge(2), ours.judge(9)
    (<RequestVerdict.REPEAT: 'repeat'>, <RequestVerdict.RUN: 'run'>, <RequestVerdict.REFUSE: 'refuse'>)
    >>> ours.begin(2, received=1)
    >>> ours.judge(1), ours.kept
    (<RequestVerdict.REFUSE: 'refuse'>, 0)
    """

    __slots__ = ("_open", "_replies", "_restricted", "_size", "begun", "last", "received")

    def __init__(self) -> None:
        self.begun = 0
        """The number of the last request that was begun."""
        self.last = 0
        """The number of the last request that was answered, and all before it with it."""
        self.received = 0
        """The number up to which the client has its replies."""
        self._open: set[int] = set()
        self._restricted: set[int] = set()
        self._replies: dict[int, bytes] = {}
        self._size = 0

    def judge(self, number: int) -> RequestVerdict:
        """What to do with the request of this number."""
        if number == self.begun + 1:
            return RequestVerdict.RUN if len(self._open) < WINDOW_REQUESTS else RequestVerdict.REFUSE
        if number in self._replies:
            return RequestVerdict.REPEAT
        return RequestVerdict.WAIT if number in self._open else RequestVerdict.REFUSE

    def begin(self, number: int, received: int = 0) -> None:
        """The request is carried out from now on; replies up to `received` are not needed any more."""
        if number != self.begun + 1:
            raise ChannelError(f"session: expected request {self.begun + 1}, got {number}")
        self.begun = number
        self._open.add(number)
        if received > self.received:
            self.received = min(received, self.last)
            if self.received == self.last and len(self._open) == 1 and not self._restricted:  # it has all of them
                self._replies.clear()
                self._size = 0
            else:
                self._forget(self.received)
        if len(self._replies) >= WINDOW_REQUESTS:
            self._forget(number - WINDOW_REQUESTS)

    def accept(
        self, data: bytes, limits: FrameLimits, kinds: Container[type], least_seconds: float
    ) -> NumberedRequest | None:
        """The request in a message, which begins by this; None where nothing happened: that message is to be judged.

        It has to be one of `kinds`, in no hurry, the next one, and alone.
        """
        try:
            asked = read_asked(data, limits)
        except CodecError:
            return None
        number, seconds, received = asked.number, asked.seconds, asked.received
        if number != self.begun + 1 or self._open or type(asked.request) not in kinds:
            return None
        if seconds is not None and not seconds >= least_seconds:
            return None
        if self._restricted or received != self.last or len(self._replies) > 1:
            self.begin(number, received)
            return asked
        self.begun, self.received, self._size = number, received, 0  # as `begin`: all that was sent was received
        self._open.add(number)
        self._replies.clear()
        return asked

    def finish(self, number: int, reply: bytes, *, restricted: bool = False) -> None:
        """The request was carried out: its reply, which is kept; a `restricted` one is not for everybody."""
        self._open.discard(number)
        if restricted:
            self._restricted.add(number)
        self._replies[number] = reply
        self._size += len(reply)
        self.last = min(self._open) - 1 if self._open else self.begun
        if not self.received and self._size > MAX_UNCONFIRMED_BYTES:
            while self._size - len(reply) > MAX_UNCONFIRMED_BYTES and len(self._replies) > 1:
                self._drop(next(iter(self._replies)))

    def is_open(self, number: int) -> bool:
        """Whether the request is under way, or waits for its turn."""
        return number in self._open

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way or waits."""
        return not self._open

    def reply(self, number: int) -> bytes:
        """A reply that is kept."""
        return self._replies[number]

    def is_restricted(self, number: int) -> bool:
        """Whether a reply that is kept is not for everybody."""
        return number in self._restricted

    @property
    def kept(self) -> int:
        """How many replies are kept."""
        return len(self._replies)

    def refusal(self, number: int) -> str:
        """Why a request is refused."""
        if number == self.begun + 1:
            return (
                f"session: expected at most {WINDOW_REQUESTS} requests under way, got one more; wait for their replies"
            )
        return f"session: expected request {self.begun + 1}, or again one whose reply was not received, got {number}"

    def _forget(self, number: int) -> None:
        """Drop the replies up to a number."""
        for old in [one for one in self._replies if one <= number]:
            self._drop(old)

    def _drop(self, number: int) -> None:
        self._size -= len(self._replies.pop(number))
        self._restricted.discard(number)


class ClientDialogue:
    """The client's end.

    >>> from ludus.wire.messages import DoneReply, RenderRequest
    >>> mine = ClientDialogue()
    >>> asked = mine.ask(RenderRequest())
    >>> [one.number for one in mine.unanswered]
    [1]
    >>> mine.take(NumberedReply(1, DoneReply())).reply, mine.take(NumberedReply(1, DoneReply()))
    (DoneReply(), None)
    """

    __slots__ = ("last", "open")

    def __init__(self) -> None:
        self.last = 0
        """The number of the last request."""
        self.open: dict[int, NumberedRequest] = {}
        """What is not answered yet, by number, in order."""

    @property
    def unanswered(self) -> list[NumberedRequest]:
        """What is to be sent again, in order, on a new connection."""
        return list(self.open.values())

    def ask(self, request: NetworkRequest, seconds: float | None = None) -> NumberedRequest:
        """A request under the next number; it says up to which number all replies have come."""
        received = next(iter(self.open), self.last + 1) - 1
        self.last += 1
        asked = NumberedRequest(self.last, request, seconds, received)
        self.open[self.last] = asked
        return asked

    def withdraw(self, asked: NumberedRequest) -> None:
        """Take back the last request, which was not sent; its number is the next one's."""
        if asked.number == self.last and self.open.pop(asked.number, None) is not None:
            self.last -= 1

    def take(self, answered: NumberedReply) -> NumberedReply | None:
        """The answer, if it was waited for; None for one that came twice. ChannelError for one to nothing."""
        if answered.number > self.last or answered.number < 1:
            raise ChannelError(f"session: expected replies to requests 1 to {self.last}, got one to {answered.number}")
        return answered if self.open.pop(answered.number, None) is not None else None
