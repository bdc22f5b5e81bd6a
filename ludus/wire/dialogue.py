"""The two ends of a session without I/O: which request is carried out, which reply is repeated, what is sent again.

A session outlives its connections. Requests are numbered; the server carries out each number once and keeps its last
replies, so that a client that lost its connection sends again what was not answered, and nothing happens twice.
"""

from collections import OrderedDict
from enum import Enum

from ludus.errors import ChannelError
from ludus.wire.network import Answered, Asked, NetworkReply, NetworkRequest

__all__ = ["ClientDialogue", "ServerDialogue", "Verdict"]

KEPT = 8
"""Replies that a server keeps: a client that waits for one request at a time needs one."""


class Verdict(Enum):
    """What a server does with a request."""

    RUN = "run"
    WAIT = "wait"
    """It is under way: its reply goes to whoever is connected then."""
    REPEAT = "repeat"
    REFUSE = "refuse"


class ServerDialogue:
    """The server's end.

    >>> from ludus.wire.message import DoneReply, RenderRequest
    >>> ours = ServerDialogue()
    >>> ours.judge(1)
    <Verdict.RUN: 'run'>
    >>> ours.begin(1)
    >>> _ = ours.finish(1, DoneReply())
    >>> ours.judge(1), ours.judge(2), ours.judge(9)
    (<Verdict.REPEAT: 'repeat'>, <Verdict.RUN: 'run'>, <Verdict.REFUSE: 'refuse'>)
    """

    def __init__(self, kept: int = KEPT) -> None:
        self.begun, self.last = 0, 0
        """The number of the last request that was begun, and of the last that was answered."""
        self._kept = kept
        self._replies: OrderedDict[int, Answered] = OrderedDict()

    def judge(self, number: int) -> Verdict:
        """What to do with the request of this number."""
        if number == self.begun + 1:
            return Verdict.RUN
        if number in self._replies:
            return Verdict.REPEAT
        return Verdict.WAIT if self.last < number <= self.begun else Verdict.REFUSE

    def begin(self, number: int) -> None:
        """The request is carried out from now on."""
        if number != self.begun + 1:
            raise ChannelError(f"session: expected request {self.begun + 1}, got {number}")
        self.begun = number

    def finish(self, number: int, reply: NetworkReply) -> Answered:
        """The request was carried out: its reply, which is kept."""
        answered = Answered(number, reply)
        self.last = max(self.last, number)
        self._replies[number] = answered
        while len(self._replies) > self._kept:
            self._replies.popitem(last=False)
        return answered

    def reply(self, number: int) -> Answered:
        """A reply that is kept."""
        return self._replies[number]

    def forget(self, number: int) -> None:
        """Do not keep this one: it is large, and its client has it."""
        self._replies.pop(number, None)

    def refusal(self, number: int) -> str:
        """Why a request is refused."""
        return f"session: expected request {self.begun + 1}, or one of the last {self._kept} again, got {number}"


class ClientDialogue:
    """The client's end.

    >>> from ludus.wire.message import DoneReply, RenderRequest
    >>> mine = ClientDialogue()
    >>> asked = mine.ask(RenderRequest())
    >>> [one.number for one in mine.unanswered]
    [1]
    >>> mine.take(Answered(1, DoneReply())).reply, mine.take(Answered(1, DoneReply()))
    (DoneReply(), None)
    """

    def __init__(self) -> None:
        self.last = 0
        """The number of the last request."""
        self._open: OrderedDict[int, Asked] = OrderedDict()

    @property
    def unanswered(self) -> list[Asked]:
        """What is to be sent again, in order, on a new connection."""
        return list(self._open.values())

    def ask(self, request: NetworkRequest, seconds: float | None = None) -> Asked:
        """A request under the next number."""
        self.last += 1
        asked = Asked(self.last, request, seconds)
        self._open[self.last] = asked
        return asked

    def take(self, answered: Answered) -> Answered | None:
        """The answer, if it was waited for; None for one that came twice. ChannelError for one to nothing."""
        if answered.number > self.last or answered.number < 1:
            raise ChannelError(f"session: expected replies to requests 1 to {self.last}, got one to {answered.number}")
        return answered if self._open.pop(answered.number, None) is not None else None
