"""Two workers, each at an address of its own, so that every request goes through the one that has not the session."""

import asyncio
import socket
import threading
from contextlib import contextmanager

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ludus.server import Access, ServerConfig
from ludus.server.listen_config import private_socket
from ludus.server.peers import Peers, worker_of
from ludus.server.server_plan import ServerPlan
from ludus.wire import FrameLimits
from ludus.wire.messages import (
    FailedReply,
    HelloRequest,
    NumberedRequest,
    ResetReply,
    ResetRequest,
    StateRequest,
    StepReply,
    StepRequest,
    WelcomeReply,
    read_answered,
    write_message,
)

RUN, READ = "orchestrator-of-tests", "observer-of-the-tests"


class Wire:
    """A connection that speaks the wire, one message at a time."""

    def __init__(self, url, session="", token=RUN):
        headers = {"Authorization": f"Bearer {token}"}
        self._held = connect(f"{url.replace('http', 'ws')}/v1/ws", additional_headers=headers, compression=None)
        self.socket = self._held.__enter__()
        self.welcome = self.ask(0, HelloRequest(session=session, takeover=True))

    def ask(self, number, request):
        self.socket.send(write_message(NumberedRequest(number, request)))
        return read_answered(self.socket.recv(timeout=60), FrameLimits()).reply

    def close(self):
        self._held.__exit__(None, None, None)


@contextmanager
def worker_of_both(outer, listener, inner, private):
    """Both engines of a worker on one event loop, as in a worker's process: its sessions belong to that."""

    async def serve():
        within = asyncio.ensure_future(inner.serve([private]))
        try:
            await outer.serve([listener])
        finally:
            inner.stop()
            await within

    def live():
        with asyncio.Runner(loop_factory=outer.config.get_loop_factory()) as runner:
            runner.run(serve())

    thread = threading.Thread(target=live)
    thread.start()
    try:
        yield
    finally:
        outer.stop()
        thread.join()


@contextmanager
def two_workers(tmp_path, max_sessions=4096):
    """Workers 0 and 1 in threads; gives their addresses."""
    paths = [str(tmp_path / str(number)) for number in range(2)]
    access = Access({RUN: "orchestrator", READ: "observer"})
    config = ServerConfig(workers=2, queue_seconds=0.2, max_sessions=max_sessions, access=access)
    plan = ServerPlan(["CartPole-v1", "open/EchoTools-v0"], config)
    session_counts = plan.session_counts()
    engines, urls, up = [], [], []
    for number in range(2):
        up.append(threading.Event())
        outer, inner = plan.engines(Peers(number, paths, session_counts), up[-1].set)
        listener = socket.create_server(("127.0.0.1", 0))
        urls.append(f"http://127.0.0.1:{listener.getsockname()[1]}")
        engines.append((outer, listener, inner, private_socket(paths[number])))
    with worker_of_both(*engines[0]), worker_of_both(*engines[1]):
        assert all(one.wait(60) for one in up)
        yield urls


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    with two_workers(tmp_path_factory.mktemp("sockets")) as urls:
        yield urls


@pytest.fixture
def http():
    with httpx.Client(headers={"Authorization": f"Bearer {RUN}"}, timeout=60) as client:
        yield client


def test_a_session_number_is_read_and_nothing_else_is_one():
    assert [worker_of(one) for one in ("0.a", "17.b", "", "a", "x.a", "12345.a", "-1.a", "٣.a")] == [0, 17, *[None] * 6]
    peers = Peers(1, ["", "", ""])
    assert [peers.holder(one) for one in ("0.a", "1.a", "2.a", "3.a", "")] == [0, None, 2, None, None]


def test_a_wire_session_goes_on_through_any_worker(workers):
    first, second = workers
    begun = Wire(first)
    assert isinstance(begun.welcome, WelcomeReply)
    assert worker_of(begun.welcome.session) == 0
    assert isinstance(begun.ask(1, ResetRequest(3, None)), ResetReply)
    assert isinstance(begun.ask(2, StepRequest(1)), StepReply)
    elsewhere = Wire(second, begun.welcome.session)
    assert (elsewhere.welcome.session, elsewhere.welcome.last) == (begun.welcome.session, 2)
    assert isinstance(elsewhere.ask(3, StepRequest(1)), StepReply)
    assert elsewhere.ask(4, StateRequest(False)).value["step_count"] == 2
    elsewhere.close()
    begun.close()


def test_a_session_that_is_nowhere_is_lost_and_that_is_nobodys_action(workers):
    for session in ("0.nothing", "1.nothing", "7.nothing"):
        reply = Wire(workers[0], session).welcome
        assert isinstance(reply, FailedReply)
        assert (reply.kind, reply.infrastructure) == ("SessionLost", True)


def test_a_role_is_asked_for_by_the_worker_that_holds_the_session(workers):
    begun = Wire(workers[0])
    reply = Wire(workers[1], begun.welcome.session, READ).welcome
    assert isinstance(reply, FailedReply)
    assert reply.kind == "AccessDenied"
    begun.close()


@pytest.mark.parametrize("way", ["header", "cookie", "body"])
def test_plain_http_keeps_its_episode_through_any_worker(workers, http, way):
    first, second = workers
    session = http.post(f"{first}/reset", json={"seed": 1}).headers["x-session-id"]
    http.cookies.clear()
    named = {
        "header": {"headers": {"X-Session-Id": session}, "json": {"action": {"action": 0}}},
        "cookie": {"headers": {"Cookie": f"ludus_session={session}"}, "json": {"action": {"action": 0}}},
        "body": {"json": {"action": {"action": 0}, "session_id": session}},
    }[way]
    for _ in range(3):
        answer = http.post(f"{second}/step", **named)
        assert answer.status_code == 200, answer.text
    state = http.get(f"{second}/state", headers={"X-Session-Id": session})
    assert state.json()["step_count"] == 3
    assert len(state.headers.get_list("content-length")) == len(state.headers.get_list("date")) == 1


def test_rpc_names_its_session_in_its_parameters(workers, http):
    def rpc(url, method, **params):
        told = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return http.post(f"{url}/env/open/EchoTools-v0/mcp", json=told).json()

    session = rpc(workers[0], "openenv/session/create")["result"]["session_id"]
    assert worker_of(session) == 0
    assert rpc(workers[1], "tools/list", session_id=session)["result"]["tools"]
    assert "result" in rpc(workers[1], "openenv/session/close", session_id=session)
    assert "error" in rpc(workers[1], "tools/list", session_id=session)


def test_a_websocket_of_openenv_attaches_through_any_worker(workers, http):
    session = http.post(f"{workers[0]}/reset", json={}).headers["x-session-id"]
    url = f"{workers[1].replace('http', 'ws')}/ws?session_id={session}"
    with connect(url, additional_headers={"Authorization": f"Bearer {RUN}"}) as link:
        link.send('{"type": "state"}')
        assert '"step_count":0' in link.recv(timeout=60).replace(" ", "")


def test_sessions_and_metrics_are_those_of_all_workers(workers, http):
    wires = [Wire(workers[0]), Wire(workers[1])]
    ids = {one.welcome.session for one in wires}
    for url in workers:
        found = http.get(f"{url}/v1/sessions").json()
        assert (found["workers"], found["silent"]) == (2, [])
        assert ids <= {one["id"] for one in found["sessions"]}
        metrics = http.get(f"{url}/metrics").text
        assert f"ludus_sessions {len(found['sessions'])}\n" in metrics
        assert "ludus_workers 2\n" in metrics
    for one in wires:
        closed = http.delete(f"{workers[0]}/v1/sessions/{one.welcome.session}")
        assert closed.json() == {"closed": one.welcome.session}
        one.close()
    left = {one["id"] for one in http.get(f"{workers[1]}/v1/sessions").json()["sessions"]}
    assert not left & ids


def test_nobody_without_a_token_is_passed_on(workers):
    answer = httpx.post(f"{workers[1]}/step", json={}, headers={"X-Session-Id": "0.anything"})
    assert answer.status_code == 401


def test_a_head_request_has_no_body_to_wait_for(workers, http):
    session = http.post(f"{workers[0]}/reset", json={}).headers["x-session-id"]
    assert http.head(f"{workers[1]}/state", headers={"X-Session-Id": session}).status_code in (200, 405)
    assert http.get(f"{workers[1]}/state", headers={"X-Session-Id": session}).status_code == 200


def test_a_worker_that_is_gone_loses_its_sessions_and_says_so(tmp_path):
    with two_workers(tmp_path) as (_, second):
        (tmp_path / "0").unlink()
        answer = httpx.post(
            f"{second}/step", json={}, headers={"X-Session-Id": "0.gone", "Authorization": f"Bearer {RUN}"}
        )
        assert answer.status_code == 404
        assert answer.json()["infrastructure"] is True
        with pytest.raises(ConnectionClosed, match="1012"):
            Wire(second, "0.gone")


def test_every_place_of_every_worker_is_found_through_any_worker(tmp_path, http):
    with two_workers(tmp_path, max_sessions=4) as (first, _):
        wires = [Wire(first) for _ in range(3)]
        assert [worker_of(one.welcome.session) for one in wires] == [0, 0, 1]
        assert worker_of(http.post(f"{first}/reset", json={}).headers["x-session-id"]) == 1
        http.cookies.clear()
        busy = http.post(f"{first}/reset", json={})
        assert busy.status_code == 503
        assert Wire(first).welcome.kind == "ServerBusy"
        url, headers = f"{first.replace('http', 'ws')}/v1/ws", {"Authorization": f"Bearer {RUN}"}
        with connect(url, additional_headers=headers) as link:
            link.send("no message of the wire")
            with pytest.raises(ConnectionClosed, match="1003"):
                link.recv(timeout=60)
        assert http.delete(f"{first}/v1/sessions/{wires[0].welcome.session}").status_code == 200
        again = Wire(first)
        assert worker_of(again.welcome.session) == 0
        for one in (*wires, again):
            one.close()
