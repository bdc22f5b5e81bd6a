"""What a stranger sends before any right is checked is bounded: heads, their time, connections."""

import socket

import pytest

import ludus
from ludus.errors import InvalidArgument
from ludus.server import http_limits
from ludus.server.http_limits import MAX_HEAD_BYTES, Connections
from ludus.server.run import serve


@pytest.fixture
def address():
    with serve("CartPole-v1", port=0, block=False) as server:
        yield place_of(server.url)


def place_of(url):
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


def say(address, *parts):
    """What is answered until the server hangs up."""
    with socket.create_connection(address, timeout=120) as one:
        answer = b""
        try:
            for part in parts:
                one.sendall(part)
            while some := one.recv(65536):
                answer += some
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


@pytest.mark.parametrize("endless", ["headers", "one header", "address"])
def test_a_head_without_end_is_cut(address, endless):
    start = b"GET /health HTTP/1.1\r\nHost: a\r\n"
    data = {
        "headers": start + b"x-a: b\r\n" * 20_000,
        "one header": start + b"x-a: " + b"b" * 200_000,
        "address": b"GET /" + b"a" * 200_000,
    }[endless]
    answer = say(address, data)
    assert answer in (b"", http_limits.TOO_LARGE)  # empty: hung up before all was sent


def test_a_large_body_is_no_head(address):
    body = b"x" * (4 * MAX_HEAD_BYTES)
    head = f"POST /nowhere HTTP/1.1\r\nHost: {address[0]}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    for parts in ((head.encode() + body,), (head.encode(), body), (head.encode() + body[:9], body[9:])):
        assert say(address, *parts).startswith(b"HTTP/1.1 404")


def test_many_requests_at_once_are_no_head(address):
    one = f"GET /health HTTP/1.1\r\nHost: {address[0]}\r\n\r\n".encode()
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    count = 2 * MAX_HEAD_BYTES // len(one)
    assert say(address, one * count + last).count(b"HTTP/1.1 200") == count + 1


def test_half_a_request_is_not_waited_for(address, monkeypatch):
    monkeypatch.setattr(http_limits, "HEAD_DEADLINE_S", 0.3)
    for parts in ((), (b"GET /health HTT",), (b"GET /health HTTP/1.1\r\nHost: a\r\nX-A: b",)):
        assert say(address, *parts) == http_limits.TOO_SLOW
    whole = f"GET /health HTTP/1.1\r\nHost: {address[0]}\r\n\r\n".encode()
    for parts in ((whole, b"GET /health HT"), (whole + b"GET /health HT",)):  # the second one of a connection, too
        answer = say(address, *parts)
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.endswith(http_limits.TOO_SLOW)


def test_a_body_that_does_not_come_is_not_waited_for(address, monkeypatch):
    monkeypatch.setattr(http_limits, "BODY_DEADLINE_S", 0.3)
    head = f"POST /mcp HTTP/1.1\r\nHost: {address[0]}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
    assert b"200 OK" not in say(address, head.encode() + b"{")  # it hangs up, for the client does not


def test_no_peer_takes_all_places():
    few = Connections(4)
    first, second = few.enter("a"), few.enter("a")
    assert few.enter("a") is None
    others = [few.enter("b"), few.enter("")]
    assert None not in others
    assert few.enter("c") is None
    second.leave()
    second.leave()
    assert few.enter("c") is not None
    first.leave()
    assert few.enter("a") is not None
    with pytest.raises(InvalidArgument, match="at least 2 places"):
        Connections(1)


def test_places_are_given_back_by_requests_and_by_sessions(monkeypatch):
    made = []
    real = http_limits.Connections.__init__
    monkeypatch.setattr(
        http_limits.Connections, "__init__", lambda self, most=None: (made.append(self), real(self, 3))[1]
    )
    with serve("CartPole-v1", port=0, block=False) as server:
        host, port = place_of(server.url)
        for _ in range(5):
            with ludus.connect(server.url) as env:
                env.reset(seed=0)
            say((host, port), f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert [one._count for one in made] == [0]
