"""`check_url`: what it finds at servers, ours and broken ones."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ludus.errors import ConnectionLost, InvalidArgument
from ludus.server.access import Access
from ludus.server.run import serve
from ludus.testing.service import check_url

STEPS = 10
TOKEN = "a-token-of-sixteen-and-more"


@pytest.mark.parametrize("target", ["CartPole-v1", "open/Echo-v0", "open/EchoTools-v0"])
def test_our_own_server_keeps_every_rule(target):
    with serve(target, port=0, block=False) as running:
        report = check_url(running.url, steps=STEPS)
    assert report.whole.findings == (), str(report)
    assert list(report.parts) == ["service", "openenv", "wire"]
    assert len(report.parts["openenv"].rules) == 6
    assert len(report.parts["wire"].rules) >= 30
    assert "sessions-are-apart" in report.parts["service"].rules


def test_one_of_many_environments_is_checked_by_its_path():
    with serve("CartPole-v1", "GridWorld-v0", port=0, block=False) as running:
        report = check_url(f"{running.url}/env/GridWorld-v0", steps=STEPS)
    assert report.parts["openenv"].findings == (), str(report)


def test_with_a_token_strangers_are_seen_to_be_refused():
    with serve("CartPole-v1", port=0, block=False, access=Access({TOKEN: "orchestrator"})) as running:
        report = check_url(running.url, token=TOKEN, steps=STEPS)
        assert report.whole.findings == (), str(report)
        assert "strangers-are-refused" in report.parts["service"].rules


def test_nobody_there_is_no_report():
    with pytest.raises(ConnectionLost, match="expected an answer to GET /health, got ConnectionRefusedError"):
        check_url("http://127.0.0.1:1")
    with pytest.raises(InvalidArgument, match="url: expected http://HOST:PORT"):
        check_url("ftp://127.0.0.1")


class Broken(BaseHTTPRequestHandler):
    """A server that is wrong in every way."""

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        known = {
            "/health": {"status": "healthy"},
            "/metadata": {"name": 3},
            "/schema": {"action": {}},
            "/openapi.json": {"info": {"version": "1.0.0"}, "paths": {"/reset": {}}},
        }
        self.answer(200, known.get(self.path, {}))

    def do_POST(self):
        self.answer(500 if self.path == "/step" else 200, {})

    def answer(self, status, data):
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_server_that_is_wrong_in_every_way_is_told_so():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Broken)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        report = check_url(f"http://127.0.0.1:{server.server_address[1]}", token=TOKEN, steps=STEPS)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert not report.ok
    assert {one.rule for one in report.whole.findings} == {
        "service: handshake-works",
        "service: nonsense-is-explained",
        "service: unknown-paths-are-not-found",
        "service: bodies-are-limited",
        "service: strangers-are-refused",
        "service: other-names-are-refused",
        "openenv: metadata-names-it",
        "openenv: schema-has-three",
        "openenv: mcp-speaks-json-rpc",
        "openenv: routes-are-of-one-mode",
    }
    assert "POST /reset with a seed below 0: expected 4xx, got 200 '{}'" in [one.message for one in report.whole.errors]
    assert "wire" not in report.parts
