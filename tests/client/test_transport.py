"""Ways to a server: addresses, framings, Unix sockets, TLS, transports of one's own; and programs of asyncio."""

import asyncio
import contextlib
import gc
import socket
import ssl
import subprocess
import threading
from urllib.parse import urlsplit
from weakref import WeakSet

import numpy as np
import pytest
from websockets.client import ClientProtocol
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

import ludus
from ludus.client import AsyncRemoteEnv, aconnect, connect, keepalive
from ludus.client.access import ServerAccess
from ludus.client.address import read_address
from ludus.client.async_transport import AsyncSocketTransport
from ludus.client.flow import TransportCall, run_flow, run_flow_async
from ludus.client.framing import Lengths
from ludus.client.transport import SocketTransport
from ludus.client.websocket import WebSocket
from ludus.errors import (
    AccessDenied,
    ChannelError,
    ClosedEnvironment,
    ConnectionLost,
    InvalidArgument,
    InvalidType,
    SnapshotError,
)
from ludus.server import Access
from ludus.server.protocols.memory import LocalServer
from ludus.server.protocols.unix import serve_unix
from ludus.server.run import serve
from ludus.testing.equality import difference
from ludus.testing.history import first_difference, play
from tests.client.proxies import CuttingProxy, budgets
from tests.patience import until


def first_steps(env):
    return play(env, seed=3, steps=30)


@pytest.fixture
def expected():
    with ludus.make("CartPole-v1") as env:
        return first_steps(env)


# --- addresses ---


@pytest.mark.parametrize(
    ("url", "shown", "env"),
    [
        ("http://localhost:8000", "http://localhost:8000", ""),
        ("ws://localhost", "http://localhost", ""),
        ("https://here.example/play/", "https://here.example/play", ""),
        ("wss://here.example:444/v1/ws", "https://here.example:444", ""),
        ("http://[::1]:80/env/open/Echo-v0", "http://[::1]", "open/Echo-v0"),
        ("unix:///run/some%20where", "unix:///run/some where", ""),
    ],
)
def test_addresses_are_read(url, shown, env):
    address = read_address(url)
    assert (str(address), address.env) == (shown, env)


@pytest.mark.parametrize(
    "wrong", ["", "localhost:8000", "ftp://here", "http://", "http://a:b@here", "http://here:99999", "unix://run/it"]
)
def test_what_is_no_address_is_refused(wrong):
    with pytest.raises(InvalidArgument, match="url: expected"):
        connect(wrong)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"timeout": 0}, "timeout"),
        ({"deadline": -1.0}, "deadline"),
        ({"compression": "lzma"}, "compression"),
        ({"token": "two\nlines"}, "token"),
        ({"kwargs": {"render_mode": "human"}}, "render_mode"),
        ({"kwargs": {"size": object()}}, r"kwargs\['size'\]"),
        ({"size": 3}, r"an argument of the environment's goes into kwargs=\{'size'"),
        ({"autoreset_mode": "Never"}, "autoreset_mode"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_anything_is_opened(wrong, named):
    with pytest.raises(InvalidArgument, match=named):
        connect("http://127.0.0.1:1", **wrong)
    with pytest.raises(InvalidType, match="a function that opens a transport"):
        connect(3)


# --- framings ---


def test_lengths_take_frames_apart_wherever_they_are_cut():
    whole = b"".join(Lengths(100).wrap(bytes([number]) * number) for number in range(1, 20))
    for size in (1, 2, 3, 7, 50):
        framing, found = Lengths(100), []
        for at in range(0, len(whole), size):
            framing.feed(whole[at : at + size])
            while (message := framing.next()) is not None:
                found.append(message)
        assert found == [bytes([number]) * number for number in range(1, 20)]
    framing = Lengths(100)
    framing.feed(b"\xff\xff\xff\xff")
    with pytest.raises(ConnectionResetError, match="announcement"):
        framing.next()


def test_web_sockets_join_fragments_and_answer_pings():
    framing = WebSocket("ws://localhost:1/", {})
    framing._protocol = ClientProtocol(parse_uri("ws://localhost:1/"), state=State.OPEN)
    framing._send, framing.ready = framing._protocol.send_binary, True
    framing.feed(b"\x02\x02ab")
    framing.feed(b"\x89\x01p\x80\x01c")
    assert framing.next() == b"abc"
    assert framing.next() is None
    assert framing.due()[0] == 0x8A
    framing.feed(b"\x82\x01x\x88\x02\x03\xe8")
    assert framing.next() == b"x"
    with pytest.raises(ConnectionResetError):
        framing.wrap(b"more")


def test_drivers_raise_in_the_talk_what_a_line_raised():
    def talk():
        try:
            yield TransportCall("fail")
        except OSError as error:
            return str(error)

    class Transport:
        def fail(self):
            raise OSError("cut")

    class AsyncLine:
        async def fail(self):
            raise OSError("cut")

    assert run_flow(talk(), Transport()) == "cut"
    assert asyncio.run(run_flow_async(talk(), AsyncLine())) == "cut"


# --- ways ---


def test_a_unix_socket_of_bare_frames(tmp_path, expected):
    path = str(tmp_path / "bare")
    with LocalServer("CartPole-v1") as server:
        listening = server.run(serve_unix(server.server, path))
        with connect(f"unix://{path}") as env:
            assert first_difference(expected, first_steps(env)) is None

        async def main():
            async with await aconnect(f"unix://{path}") as env:
                return (await env.reset(seed=3))[0]

        assert difference(expected[0].observation, asyncio.run(main()), "first") is None
        server.run(closed(listening))


async def closed(listening):
    found = listening.close()
    if found is not None:
        await found


def test_a_unix_socket_of_a_web_server(tmp_path, expected):
    with serve("CartPole-v1", unix=str(tmp_path / "web"), block=False) as running, connect(running.url) as env:
        assert first_difference(expected, first_steps(env)) is None


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A certificate for this machine, which vouches for itself."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = str(folder / "cert.pem"), str(folder / "key.pem")
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    named = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", "req", *kind, *named], check=True, capture_output=True)
    return certificate, key


def test_tls(authority, expected):
    certificate, key = authority
    with serve("CartPole-v1", port=0, block=False, tls_cert=certificate, tls_key=key) as running:
        with pytest.raises(ConnectionLost, match="certificate"):
            connect(running.url)
        trusted = ssl.create_default_context(cafile=certificate)
        with connect(running.url, tls=trusted) as env:
            assert first_difference(expected, first_steps(env)) is None

        async def main():
            async with await aconnect(running.url, tls=trusted) as env:
                return (await env.reset(seed=3))[0]

        assert difference(expected[0].observation, asyncio.run(main()), "first") is None


def test_a_transport_of_ones_own(expected):
    with LocalServer("CartPole-v1") as server:
        with connect(server) as env:
            assert first_difference(expected, first_steps(env)) is None

        async def main():
            async with await aconnect(server, 2) as envs:
                await envs.reset(seed=3)
                return (await envs.step([0, 1])).reward

        assert asyncio.run(main()).tolist() == [1.0, 1.0]


def test_what_is_no_server_of_ours_is_said_to_be_none():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(text):
            link, _ = listener.accept()
            with link, contextlib.suppress(OSError):  # it may be one that had given up
                link.recv(1000)
                link.sendall(text)

        for text in (b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"):
            thread = threading.Thread(target=answer, args=(text,))
            thread.start()
            with pytest.raises(ConnectionLost, match="expected a server that answers"):
                connect(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=1)
            thread.join()


class Babble:
    """A transport whose server says something else."""

    def __init__(self, answers):
        self.answers = list(answers)

    def __call__(self):
        return self

    def send(self, data):
        pass

    def receive(self, seconds):
        return self.answers.pop(0)

    def close(self):
        pass


@pytest.mark.parametrize("answer", [b"", b"\x00", b"\x92\x00\x91\x05", b"\xc1" * 20, b"\x92\x01\x92\x03\x00"])
def test_nonsense_in_place_of_a_welcome_is_an_error_of_the_channel(answer):
    with pytest.raises(ChannelError):
        connect(Babble([answer]))


def test_a_forgotten_environment_closes_its_socket(server):
    env = connect(server.url)
    line = env._link._line
    del env
    gc.collect()
    assert line._socket is None


def test_a_line_that_is_forgotten_is_looked_after_no_more(monkeypatch):
    class Line:
        def __init__(self):
            self.tended = threading.Event()

        def tend(self):
            self.tended.set()

    for name, value in {"_lines": WeakSet(), "_thread": None, "PERIOD_S": 0.001}.items():
        monkeypatch.setattr(keepalive, name, value)
    line = Line()
    keepalive.keep_alive(line)
    keeper = keepalive._thread
    assert line.tended.wait(60)
    del line
    until(lambda: not keeper.is_alive(), "the thread to end, with the last line")


def pinging(answered, text=b"are you there"):
    """A server that asks whether its client lives, and goes on when it says so."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        link, _ = listener.accept()
        with listener, link:
            protocol = ServerProtocol()
            protocol.receive_data(link.recv(4000))
            (request,) = protocol.events_received()
            protocol.send_response(protocol.accept(request))
            protocol.send_ping(text)
            for data in protocol.data_to_send():
                link.sendall(data)
            protocol.receive_data(link.recv(4000))
            answered.extend(protocol.events_received())

    thread = threading.Thread(target=run)
    thread.start()
    return listener.getsockname()[1], thread


def test_a_line_that_nobody_uses_answers_a_server_that_asks():
    answered = []
    port, thread = pinging(answered)
    line = SocketTransport(ServerAccess(read_address(f"http://127.0.0.1:{port}")))
    line.open("/v1/ws", False, 60.0)
    while thread.is_alive():
        line.tend()
    assert [bytes(one.data) for one in answered] == [b"are you there"]
    line.tend()
    line.close()
    line.tend()
    with pytest.raises(ConnectionResetError, match="no connection"):
        line.send(b"")


def test_a_line_of_asyncio_answers_by_itself():
    answered = []
    port, thread = pinging(answered)

    async def main():
        line = AsyncSocketTransport(ServerAccess(read_address(f"http://127.0.0.1:{port}")))
        await line.open("/v1/ws", False, 60.0)
        await asyncio.to_thread(thread.join)
        await line.close()
        with pytest.raises(ConnectionResetError, match="no connection"):
            await line.send(b"")

    asyncio.run(main())
    assert [bytes(one.data) for one in answered] == [b"are you there"]


# --- asyncio ---


def test_the_async_form_does_all_that_the_other_does(server):
    async def main():
        env = await aconnect(server.url, env="CartPole-v1")
        assert isinstance(env, AsyncRemoteEnv)
        assert env.batch_shape == ()
        await env.reset(seed=1)
        before = await env.snapshot()
        first = await env.step(1)
        await env.restore(before)
        second = await env.step(1)
        assert difference(tuple(first), tuple(second), "step") is None
        twin = await env.fork()
        mine, theirs = await asyncio.gather(env.step(0), twin.step(0))
        assert difference(tuple(mine), tuple(theirs), "step") is None
        with pytest.raises(SnapshotError, match="one of another"):
            await twin.restore(before)
        assert (await env.render()).ndim == 3
        assert (await env.state_data())["step_count"] == 2
        assert "CartPole" in repr(env)
        await twin.close()
        await env.close()
        await env.close()
        with pytest.raises(ClosedEnvironment, match="connect again"):
            await env.step(0)

    asyncio.run(main())


def test_a_call_that_is_cancelled_leaves_the_session_in_order(server):
    async def main():
        async with await aconnect(server.url, env="CartPole-v1") as env:
            with ludus.make("CartPole-v1") as bare:
                await env.reset(seed=1)
                bare.reset(seed=1)
                task = asyncio.get_running_loop().create_task(env.step(0))
                while env._session._dialogue.last < 2:
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                bare.step(0)
                assert np.array_equal((await env.step(1)).observation, bare.step(1).observation)

    asyncio.run(main())


def test_many_async_sessions_at_once_over_lines_that_are_cut(server):
    async def played(url, seed):
        async with await aconnect(url, 3, env="CartPole-v1") as envs:
            await envs.reset(seed=seed)
            return [(await envs.step([0, 1, 0])).observation for _ in range(40)]

    async def all_of(url):
        return await asyncio.gather(*(played(url, seed) for seed in range(6)))

    with CuttingProxy(urlsplit(server.url).port, budgets(3, 2_000, 5_000)) as proxy:
        cut = asyncio.run(all_of(proxy.url))
        assert proxy.cuts > 3
    assert difference(asyncio.run(all_of(server.url)), cut, "observations") is None


def test_roles_reach_the_client(server):
    tokens = {"an-orchestrators-token": "orchestrator", "an-agents-own-token": "agent"}
    with (
        serve("CartPole-v1", port=0, block=False, access=Access(tokens)) as closed_server,
        connect(closed_server.url, token="an-orchestrators-token") as env,
    ):
        env.reset(seed=1)
        agent = connect(closed_server.url, token="an-agents-own-token", session=env.session, takeover=True)
        assert agent.step(0).reward == 1.0
        with pytest.raises(AccessDenied):
            agent.reset()
        agent._link._line.close()
