"""Reports of a step in a sandbox, whoever is there."""

import socket
import threading
from contextlib import contextmanager
from math import inf, nan

import pytest

from ludus.core.progress import Progress
from ludus.errors import ChannelError
from ludus.sandbox.environment.channel import ChannelClosed, DeadlinePassed, MessageChannel
from ludus.sandbox.environment.reports import ChannelProgress, reported
from ludus.wire.messages import HeardRequest, ProgressReply, Reply, ReportedStepRequest, Request, StepReply, StepRequest


@contextmanager
def other_side(work):
    """Our end of a channel, at whose other end a function works in a thread until ours is closed."""
    near, far = socket.socketpair()
    ours, theirs = MessageChannel(near, Reply), MessageChannel(far, Request)

    def run():
        try:
            work(theirs)
        except ChannelClosed:
            pass
        finally:
            theirs.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield ours
    finally:
        near.shutdown(socket.SHUT_RDWR)
        thread.join(60)
        ours.close()


def test_reports_are_passed_on_and_the_reply_comes_last():
    def work(channel):
        assert channel.receive() == ReportedStepRequest(3)
        for done in (1.0, 2.0):
            channel.send(ProgressReply(done, 2.0, "so far\x1b[31m"))
            assert channel.receive() == HeardRequest(False)
        channel.send(StepReply(1, 0.5, False, False, {}))

    told = []
    with other_side(work) as channel:
        reply = reported(channel, StepRequest(3), 60.0, Progress(lambda *one: told.append(one)))
    assert reply == StepReply(1, 0.5, False, False, {})
    assert [one[:2] for one in told] == [(1.0, 2.0), (2.0, 2.0)]
    assert "\x1b" not in told[0][2]


@pytest.mark.parametrize("report", [ProgressReply(nan, None, ""), ProgressReply(1.0, inf, "")])
def test_numbers_that_are_none_are_refused(report):
    def work(channel):
        channel.receive()
        channel.send(report)

    with other_side(work) as channel, pytest.raises(ChannelError, match="expected finite numbers of progress"):
        reported(channel, StepRequest(0), 60.0, Progress())


def test_endless_reports_buy_no_time():
    def work(channel):
        done = 0.0
        while True:
            channel.receive()
            done += 1.0
            channel.send(ProgressReply(done, None, ""))

    with other_side(work) as channel, pytest.raises(DeadlinePassed):
        reported(channel, StepRequest(0), 0.2, Progress())


def test_a_thread_that_a_step_left_behind_reports_to_nobody():
    near, far = socket.socketpair()
    with near, far:
        progress = ChannelProgress(MessageChannel(far, Request))
        progress.end()
        assert progress.report(1.0, None, "late")
        near.setblocking(False)
        with pytest.raises(BlockingIOError):
            near.recv(1)
