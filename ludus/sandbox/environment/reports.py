"""Reports of a tool in a sandbox: how far a step is, and that nobody waits for it, over the channel that steps use.

Both sides still say one thing at a time: a report is a reply that is answered, and the step goes on. All of a step's
reports share its deadline, so that an environment cannot buy time by them.
"""

from math import isfinite
from threading import Lock
from time import monotonic
from typing import TypeVar

from ludus.core.progress import Progress
from ludus.errors import ChannelError
from ludus.sandbox.environment.channel import DeadlinePassed, MessageChannel
from ludus.wire.failures import clean
from ludus.wire.messages import HeardRequest, ProgressReply, ReportedStepRequest, Request, StepRequest

__all__ = ["ChannelProgress", "reported"]

MAX_REPORT_CHARS = 1024
ReplyT = TypeVar("ReplyT")


def reported(
    channel: MessageChannel[ReplyT], request: StepRequest, seconds: float | None, progress: Progress
) -> ReplyT:
    """The reply to a step, whose reports go to `progress`; where that was cancelled, the tool is told so."""
    ends = None if seconds is None else monotonic() + seconds
    reply = channel.exchange(ReportedStepRequest(request.action), seconds)
    while type(reply) is ProgressReply:
        cancelled = not _is_waited_for(reply, progress)
        left = None if ends is None else ends - monotonic()
        if left is not None and left <= 0:
            raise DeadlinePassed
        reply = channel.exchange(HeardRequest(cancelled), left)
    return reply


def _is_waited_for(reply: ProgressReply, progress: Progress) -> bool:
    if not isfinite(reply.done) or not (reply.total is None or isfinite(reply.total)):
        raise ChannelError(f"channel: expected finite numbers of progress, got {reply.done} of {reply.total}")
    return progress.report(reply.done, reply.total, clean(reply.message, MAX_REPORT_CHARS) if reply.message else "")


class ChannelProgress(Progress):
    """The end inside the sandbox. A thread that a step left behind reports to nobody: the channel is not its own."""

    def __init__(self, channel: MessageChannel[Request]) -> None:
        super().__init__()
        self._channel, self._lock, self._open = channel, Lock(), True

    def report(self, done: float, total: float | None, message: str) -> bool:
        """Send it, and hear whether somebody still waits."""
        with self._lock:
            if not self._open:
                return True
            self._channel.send(ProgressReply(done, total, str(message)[:MAX_REPORT_CHARS]))
            heard = self._channel.receive()
        if type(heard) is not HeardRequest:
            raise ChannelError(f"channel: expected a HeardRequest, got a {type(heard).__name__}")
        return not heard.cancelled

    def end(self) -> None:
        """The step is made: its reply is next."""
        with self._lock:
            self._open = False
