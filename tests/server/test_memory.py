"""A server in this process, as a transport."""

import threading

import pytest

from ludus.server.protocols.memory import LocalServer
from ludus.wire.messages import (
    HelloRequest,
    NumberedRequest,
    StepReply,
    write_message,
)
from tests.server.wired import Caller, sessions


def test_calling_it_opens_a_connection() -> None:
    before = set(threading.enumerate())
    with LocalServer("CartPole-v1") as local:
        first, second = Caller(local), Caller(local)
        assert first.welcome.session != second.welcome.session
        assert sessions(local) == 2
        for caller in (first, second):
            caller.reset()
            assert type(caller.step(0)) is StepReply
    local.close()
    assert set(threading.enumerate()) <= before


def test_receiving_ends_in_time_and_at_the_end() -> None:
    with LocalServer("CartPole-v1") as local:
        connection = local()
        with pytest.raises(TimeoutError, match=r"within 0\.01 seconds"):
            connection.receive(0.01)
        connection.send(b"no message")
        connection.receive(60)
        for _ in range(2):
            with pytest.raises(ConnectionError):
                connection.receive(60)
        connection.close()
        with pytest.raises(ConnectionError):
            connection.send(b"")


def test_a_server_that_is_gone_is_told() -> None:
    local = LocalServer("CartPole-v1")
    caller = Caller(local)
    other = local()
    local.close()
    for connection in (caller.connection, other):
        with pytest.raises(ConnectionError):
            connection.receive(60)
    fresh = LocalServer("CartPole-v1")
    waiting = fresh()
    fresh.close()
    with pytest.raises(ConnectionError):
        waiting.send(write_message(NumberedRequest(0, HelloRequest())))
