"""Agents behind an address: asked again where that helps, failed where it does not."""

import json
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from ludus.core import Outcome
from ludus.errors import ConnectionLost, InvalidArgument, InvalidValue
from ludus.evaluate import HttpAgent, as_agent, evaluate, http_agent
from ludus.spaces import Box, Discrete


@contextmanager
def served(answer, **headers):
    """A service whose `answer(number, question)` gives status and body."""
    questions = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self):
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))
            questions.append(question)
            status, body = answer(len(questions), question)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/act", questions
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(http_agent, "PAUSE_SECONDS", 0.001)


def asked(url, **options):
    agent = HttpAgent(url, **options)
    agent.prepare(Box(-1, 1, (2,)), Discrete(3), 1)
    agent.begin(0, 11)
    return agent.act(np.array([0.5, -0.5], np.float32), {"action_mask": np.array([1, 0, 1], np.int8)}, 0)


def test_a_service_plays_as_the_function_that_it_is():
    with served(lambda number, question: (200, {"action": int(question["observation"][2] > 0)})) as (url, questions):
        found = evaluate("CartPole-v1", url, episodes=2, max_steps=30)
    assert found.episodes == evaluate("CartPole-v1", lambda seen: int(seen[2] > 0), episodes=2, max_steps=30).episodes
    assert found.declaration.agent == url
    assert questions[0].keys() == {"observation", "episode", "step"}
    assert {one["step"] for one in questions} == set(range(max(one.length for one in found.episodes)))


def test_what_is_legal_is_told():
    with served(lambda number, question: (200, {"action": 2})) as (url, questions):
        assert asked(url) == 2
    assert questions == [{"observation": [0.5, -0.5], "episode": 11, "step": 0, "action_mask": [1, 0, 1]}]


def test_a_service_that_is_busy_is_asked_again():
    with served(lambda number, question: (503 if number < 3 else 200, {"action": 1})) as (url, questions):
        assert asked(url, retries=2) == 1
        assert len(questions) == 3


@pytest.mark.parametrize("status", [500, 429, 404])
def test_a_service_that_refuses_is_told(status):
    with served(lambda number, question: (status, {})) as (url, questions):
        with pytest.raises(ConnectionLost, match=rf"expected an answer within 60 s, got status {status}"):
            asked(url, retries=1)
        assert len(questions) == (1 if status == 404 else 2)


@pytest.mark.parametrize("body", [b"", b"nothing", {"action": 7}, {"action": "left"}, {}, [1]])
def test_what_is_no_action_is_the_agents_fault(body):
    with served(lambda number, question: (200, body)) as (url, _):
        if body == {"action": 7}:
            assert asked(url) == 7
        else:
            with pytest.raises(InvalidValue, match=r'expected \{"action": …\}, got'):
                asked(url)
        found = evaluate("CartPole-v1", HttpAgent(url), episodes=1)
    assert found.episodes[0].outcome in (Outcome.AGENT_FAILED, Outcome.INVALID_ACTION)


def test_a_service_that_is_not_there_has_failed_and_the_run_goes_on():
    found = evaluate("CartPole-v1", HttpAgent("http://127.0.0.1:9/act", retries=0, deadline=1), episodes=2)
    assert [one.outcome for one in found.episodes] == [Outcome.AGENT_FAILED] * 2


def test_no_header_is_sent_to_where_a_redirect_leads():
    with served(lambda *_: (200, {"action": 1})) as (elsewhere, others):
        leading = served(lambda *_: (302, {}), Location=elsewhere)
        with leading as (url, _), pytest.raises(ConnectionLost, match="got status 302"):
            asked(url, headers={"authorization": "Bearer mine"})
        assert others == []


def test_the_deadline_is_for_the_whole_answer():
    def drip(listener):
        link, _ = listener.accept()
        with link, suppress(OSError):
            link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                link.sendall(b"x")
                gone.wait(0.05)

    gone = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        with pytest.raises(ConnectionLost, match="no whole answer within"):
            asked(f"http://127.0.0.1:{listener.getsockname()[1]}/act", retries=0, deadline=1)
        gone.set()
        thread.join()


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidArgument, match=r"url: expected http:// or https://, got 'ftp://x'"):
        HttpAgent("ftp://x")
    with pytest.raises(InvalidArgument, match=r"expected retries of at least 0 and a deadline above 0"):
        HttpAgent("http://x", retries=-1)
    assert isinstance(as_agent("https://example.org/act"), HttpAgent)
