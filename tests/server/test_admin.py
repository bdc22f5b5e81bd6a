"""Sessions and metrics for whoever runs the server, and what is logged."""

import json
import logging
import re
from contextlib import suppress

import httpx
import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

import ludus
from ludus.server import Access, ServerConfig
from ludus.server.logs import JsonLines, Readable, event
from ludus.server.metrics import MAX_ROWS, Metrics, summed

RUN, STEP, READ = "orchestrator-of-tests", "the-agent-of-the-tests", "observer-of-the-tests"
TOKENS = {RUN: "orchestrator", STEP: "agent", READ: "observer"}


@pytest.fixture(scope="module")
def running():
    config = ServerConfig(max_sessions=3, queue_seconds=0.05)
    with ludus.serve("CartPole-v1", port=0, block=False, access=Access(TOKENS), config=config) as running:
        yield running


@pytest.fixture
def http(running):
    def client(token):
        return httpx.Client(base_url=running.url, headers={"Authorization": f"Bearer {token}"})

    with client(RUN) as run, client(STEP) as step, client(READ) as read:
        yield {"run": run, "step": step, "read": read}
        for one in run.get("/v1/sessions").json()["sessions"]:
            run.delete(f"/v1/sessions/{one['id']}")


@pytest.fixture
def events(monkeypatch):
    """What is logged meanwhile."""
    records = []

    class Kept(logging.Handler):
        def emit(self, record):
            records.append(record)

    logger = logging.getLogger("ludus.server")
    handler = Kept()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield records
    logger.removeHandler(handler)
    logger.setLevel(before)


def opened(http):
    http["run"].cookies.clear()
    return http["run"].post("/reset", json={"seed": 1}).headers["x-session-id"]


def test_sessions_are_listed_for_the_orchestrator_alone(http):
    session = opened(http)
    http["run"].post("/step", json={"action": {"action": 0}}, headers={"X-Session-Id": session})
    found = http["run"].get("/v1/sessions").json()
    assert (found["workers"], found["silent"]) == (1, [])
    [row] = found["sessions"]
    assert (row["id"], row["env"], row["steps"], row["worker"]) == (session, "CartPole-v1", 1, 0)
    assert (row["isolation"], row["lanes"], row["connected"]) == ("none", 0, False)
    assert RUN not in json.dumps(found)
    for role in ("step", "read"):
        answer = http[role].get("/v1/sessions")
        assert (answer.status_code, answer.json()["kind"]) == (403, "AccessDenied")


def test_a_session_is_closed_by_its_id_by_the_orchestrator_alone(http):
    session = opened(http)
    for role in ("step", "read"):
        assert http[role].delete(f"/v1/sessions/{session}").status_code == 403
    assert http["run"].delete(f"/v1/sessions/{session}").json() == {"closed": session}
    assert http["run"].get("/v1/sessions").json()["sessions"] == []
    again = http["run"].delete(f"/v1/sessions/{session}")
    assert (again.status_code, again.json()["kind"]) == (404, "SessionLost")


def test_metrics_are_read_by_whoever_may_read(http):
    opened(http)
    for role in ("run", "step", "read"):
        answer = http[role].get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert "ludus_sessions 1\n" in answer.text
        assert 'ludus_sessions_opened_total{env="CartPole-v1"}' in answer.text
        assert re.search(r"^ludus_uptime_seconds [0-9.]+$", answer.text, re.MULTILINE)
        assert "ludus_sessions_waiting 0\n" in answer.text
    assert httpx.get(f"{http['run'].base_url}/metrics").status_code == 401


def test_what_is_logged_names_no_session_and_no_token(http, events):
    session = opened(http)
    http["run"].delete(f"/v1/sessions/{session}")
    told = [(one.getMessage(), one.fields) for one in events]
    assert [name for name, _ in told] == ["opened", "killed", "closed"]
    assert told[0][1]["session"] == f"{session[:6]}…"
    assert told[2][1]["why"] == "it was closed by whoever runs the server"
    for formatter in (Readable(), JsonLines()):
        text = "\n".join(formatter.format(one) for one in events)
        assert not any(secret in text for secret in (session, *TOKENS))


def test_what_is_refused_is_logged(http, events):
    held = [opened(http) for _ in range(3)]
    http["run"].cookies.clear()
    assert http["run"].post("/reset", json={}).status_code == 503
    [refused] = [one for one in events if one.getMessage() == "refused"]
    assert refused.fields["kind"] == "ServerBusy"
    assert len(held) == 3


def test_lines_are_one_line_each(events):
    event("opened", env='a\nb "c"', number=3)
    [record] = events
    assert json.loads(JsonLines().format(record))["env"] == 'a\nb "c"'
    assert re.fullmatch(r'\d\d:\d\d:\d\d opened env="a\?b "c"" number=3', Readable().format(record))


# --- metrics ---


def test_the_metrics_of_workers_are_added():
    def worker(steps, uptime, *envs):
        one = Metrics()
        for env in envs:
            one.count("steps", steps, env=env)
        one.meter("a").add(0, 0.0003)
        one.meter("a").add(0, 99.0)
        one.gauge("sessions", 2)
        one.gauge("uptime_seconds", uptime)
        return one.text()

    lines = summed([worker(1, 5.0, "a b"), worker(2, 7.5, "a b", "c")]).splitlines()
    assert 'ludus_steps_total{env="a b"} 3' in lines
    assert 'ludus_steps_total{env="c"} 2' in lines
    assert "ludus_sessions 4" in lines
    assert "ludus_uptime_seconds 7.5" in lines
    assert 'ludus_step_seconds_bucket{le="0.00025"} 0' in lines
    assert 'ludus_step_seconds_bucket{le="0.0005"} 2' in lines
    assert 'ludus_step_seconds_bucket{le="+Inf"} 4' in lines
    assert "ludus_step_seconds_count 4" in lines


@pytest.mark.parametrize("text", ["x\x85 y z", "a 1\u2028ludus_sessions 31337\u2028b", 'a"} 7\nludus_sessions 9'])
def test_a_label_is_no_row_whatever_it_says(text):
    one = Metrics()
    one.count("errors", env=text)
    one.gauge("sessions", 2)
    lines = summed([one.text(), one.text()]).split("\n")
    assert [line for line in lines if line.startswith("ludus_sessions")] == ["ludus_sessions 4"]
    assert len([line for line in lines if line.startswith("ludus_errors")]) == 1


def test_rows_of_a_metric_are_bounded():
    one = Metrics()
    for number in range(3000):
        one.count("errors", env=f"text {number}")
    assert one.text().count("ludus_errors_total{") <= MAX_ROWS + 1


def test_what_is_asked_for_is_no_label_unless_it_is_offered(running, http):
    address, token = running.url.replace("http", "ws", 1), {"Authorization": f"Bearer {READ}"}
    with suppress(WebSocketException), connect(f"{address}/v1/play?env=made-up", additional_headers=token) as socket:
        socket.send(json.dumps({"type": "reset"}))
        socket.recv(60)
    assert "made-up" not in http["read"].get("/metrics").text


def test_rows_of_one_metric_stay_together():
    one, two = Metrics(), Metrics()
    one.count("steps", env="a")
    two.count("aborts")
    two.count("steps", env="b")
    two.meter("b").add(0, 1.0)
    lines = summed([one.text(), two.text()]).splitlines()
    names = [re.sub(r"_(bucket|sum|count)$", "", re.split(r"[{ ]", line.removeprefix("# TYPE "))[0]) for line in lines]
    assert [name for place, name in enumerate(names) if name in names[:place] and names[place - 1] != name] == []


def test_times_fall_into_their_buckets():
    metrics = Metrics()
    for seconds in (0.0001, 0.00011, 10.0, 10.1):
        metrics.meter("a").add(0, seconds)
    text = metrics.text()
    assert 'le="0.0001"} 1\n' in text
    assert 'le="0.00025"} 2\n' in text
    assert 'le="10.0"} 3\n' in text
    assert 'le="+Inf"} 4\n' in text
