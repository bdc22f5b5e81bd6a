"""A model's endpoint that does everything wrong: each fault ends with its reason, none hangs or gets the key."""

import contextlib
import json
import socket
import threading

import pytest

from ludus.errors import InvalidArgument, ServiceError
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import endpoint
from ludus.tasks.agents.choice import chosen_agent
from ludus.tasks.agents.model import ModelAgent, ModelOptions
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tools import ToolOutcome
from ludus.trajectory import Run
from tests.tasks.test_model import function, whole

KEY = "sk-of-mine-0123456789"


class Endpoint:
    """A socket that reads one request of each connection, and answers with the next of a list of bytes or functions."""

    def __init__(self):
        self.answers, self.requests = [], []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        while True:
            link, _ = self._listener.accept()
            with link, contextlib.suppress(OSError):
                request = self._read(link)
                if request is None:
                    return
                self.requests.append(request)
                answer = self.answers.pop(0)
                if callable(answer):
                    answer(link)
                else:
                    link.sendall(answer)

    @staticmethod
    def _read(link):
        with link.makefile("rb") as file:
            lines = list(iter(file.readline, b"\r\n"))
            if b"" in lines or not lines:
                return None
            headers = dict(line.decode().strip().split(": ", 1) for line in lines[1:])
            return headers, json.loads(file.read(int(headers["Content-Length"])))

    def close(self):
        with socket.create_connection(self._listener.getsockname()) as link:
            link.sendall(b"\r\n")
        self._thread.join()
        self._listener.close()


@pytest.fixture
def served():
    """Endpoints that are closed at the end, as many as are asked for."""
    with contextlib.ExitStack() as stack:

        def make():
            made = Endpoint()
            stack.callback(made.close)
            return made

        yield make


def reply(body, code="200 OK", *headers, length=None):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {code}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def asked(server, *answers, retries=0, monkeypatch, **options):
    """An agent that is about to ask, and the pauses that it made."""
    monkeypatch.setenv("LUDUS_MODEL_MAX_RETRIES", str(retries))
    server.answers[:] = answers
    pauses = []
    model = ModelAgent(ModelOptions(url=server.url, model="local", **options), pause=pauses.append)
    model.begin("a task", TaskEnv("sat_heuristic").action_space)
    return model, pauses


def endless(link):
    """A whole head, and bytes for as long as anybody reads them."""
    link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        link.sendall(b"x" * 1000)


def silent_head(link):
    """Half a head; the rest never comes."""
    link.sendall(b"HTTP/1.1 200 OK\r\nX-Wait")
    link.recv(1)


def silent_refusal(link):
    """A code, and a body of which the end never comes."""
    link.sendall(reply(b"slow", "500 No", length=100))
    link.recv(1)


def dripping(link):
    """Something in time for each read, and never the end of it."""
    link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    link.settimeout(0.05)
    while True:
        link.sendall(b" ")
        with contextlib.suppress(TimeoutError):
            if not link.recv(1):
                return


FAULTS = {
    "code": (reply(b"broken", "500 No"), "HTTP 500: broken"),
    "half": (reply(b'{"choices":', length=1000), "an answer of which 989 bytes are missing"),
    "nothing": (b"", "RemoteDisconnected"),
    "no HTTP": (b"SSH-2.0-something\r\n\r\n", "BadStatusLine"),
    "no JSON": (reply(b"<html>"), "what is no answer"),
    "a list": (reply([1]), "what is no answer"),
    "text as a message": (reply({"choices": [{"message": "hello"}]}), "what is no answer"),
    "an object of calls": (reply({"choices": [{"message": {"tool_calls": {"a": 1}}}]}), "what is no answer"),
    "text as a call": (reply({"choices": [{"message": {"tool_calls": ["shell"]}}]}), "what is no answer"),
    "deep": (reply(b'{"usage":' + b"[" * 40_000), "what is no answer"),
    "no choice": (reply({"choices": []}), "an answer with no choice in it"),
    "an error": (reply({"error": {"message": "overloaded"}}), "but an error.*overloaded"),
    "neither": (reply(whole()), "neither text nor calls"),
    "endless": (endless, "more than 50000 bytes"),
    "silent head": (silent_head, "TimeoutError: no whole answer within 2 s"),
    "silent refusal": (silent_refusal, "TimeoutError: no whole answer within 2 s"),
    "dripping": (dripping, "TimeoutError: no whole answer within 2 s"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_endpoint_is_an_error_that_names_it(served, monkeypatch, fault):
    monkeypatch.setattr(endpoint, "MAX_ANSWER_BYTES", 50_000)
    answer, words = FAULTS[fault]
    waits = answer in (silent_head, silent_refusal, dripping)
    model, pauses = asked(served(), answer, monkeypatch=monkeypatch, seconds=2.0 if waits else 60.0)
    with pytest.raises(ServiceError, match=f"model local: expected an answer within 0 retries, got .*{words}"):
        model.act(ToolOutcome())
    assert pauses == []


@pytest.mark.parametrize("fault", ["silent head", "silent refusal"])
def test_a_single_read_that_takes_all_of_the_time_is_told_alike(served, monkeypatch, fault):
    """Two clocks run for a request, that of the whole and that of each read: on a busy machine either may be first."""
    plain = endpoint._Deadline.__init__
    monkeypatch.setattr(endpoint._Deadline, "__init__", lambda deadline, seconds: plain(deadline, seconds + 600))
    model, _ = asked(served(), FAULTS[fault][0], monkeypatch=monkeypatch, seconds=2.0)
    with pytest.raises(ServiceError, match=FAULTS[fault][1]):
        model.act(ToolOutcome())


def test_streams_have_comments_in_them_and_say_what_went_wrong(served, monkeypatch):
    def stream(*pieces):
        return reply(b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in pieces))

    call = {"index": 0, "id": "a", "function": {"name": "submit", "arguments": None}}
    comment = b": still thinking\n\nevent: piece\n"
    good = stream({"choices": [{"delta": {"tool_calls": [call]}}]}, {"choices": [{"finish_reason": "stop"}]})
    good = reply(comment + good.partition(b"\r\n\r\n")[2])
    model, _ = asked(served(), good, monkeypatch=monkeypatch, stream=True)
    assert json.loads(model.act(ToolOutcome())) == {"tool": "submit", "arguments": {}}
    model, _ = asked(served(), stream({"error": {"message": "overloaded"}}), monkeypatch=monkeypatch, stream=True)
    with pytest.raises(ServiceError, match=r"a stream that ends in an error.*overloaded"):
        model.act(ToolOutcome())


def test_answers_that_are_odd_but_can_be_meant_are_taken(served, monkeypatch):
    parts = {"content": [{"type": "text", "text": "I "}, {"type": "text", "text": "look."}, {"type": "image"}]}
    calls = [{"function": {"name": "shell", "arguments": {"command": "ls"}}}, {"function": None}]
    calls += [{"id": "x", "function": {"name": "read", "arguments": "{cut"}}]
    answer = {"choices": [{"message": {**parts, "tool_calls": calls}}]}
    answer["usage"] = {"prompt_tokens": -5, "completion_tokens": 1e30}
    server = served()
    model, _ = asked(server, reply(answer), reply(whole("done")), monkeypatch=monkeypatch)
    seen = [json.loads(model.act(ToolOutcome())) for _ in range(3)]
    assert seen[0] == {"tool": "shell", "arguments": {"command": "ls"}}
    assert seen[1:] == [{"tool": "", "arguments": {}}, {"tool": "read", "arguments": "{cut"}]
    assert (model.act(ToolOutcome()), model.sent, model.received) == ("done", 10, 3)
    history = server.requests[1][1]["messages"]
    assert [one["role"] for one in history] == ["system", "user", "assistant", "tool", "tool", "tool"]
    assert history[2]["content"] == "I look."
    assert [json.loads(one["function"]["arguments"]) for one in history[2]["tool_calls"]] == [{"command": "ls"}, {}, {}]


def test_a_server_is_left_alone_for_as_long_as_it_asks(served, monkeypatch):
    busy = reply(b"slowly", "429 Too Many", "Retry-After: 7")
    model, pauses = asked(served(), busy, busy, reply(whole("done")), retries=2, monkeypatch=monkeypatch)
    assert (model.act(ToolOutcome()), pauses, model.retries) == ("done", [7.0, 7.0], 2)
    busy = reply(b"slowly", "429 Too Many", "Retry-After: 9999")
    model, pauses = asked(served(), busy, retries=5, monkeypatch=monkeypatch)
    with pytest.raises(ServiceError, match=r"HTTP 429: slowly.*it asks to come back in 9999 s"):
        model.act(ToolOutcome())
    assert pauses == []


@pytest.mark.parametrize("code", ["301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_with_the_key_or_without(served, monkeypatch, code):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server, other = served(), served()
    place = other.url.replace("127.0.0.1", "localhost")
    model, _ = asked(server, reply(b"", code, f"Location: {place}"), retries=3, monkeypatch=monkeypatch)
    with pytest.raises(ServiceError, match=r"a redirect to .*, where no key is sent; give that address as the url"):
        model.act(ToolOutcome())
    assert server.requests[0][0]["Authorization"] == f"Bearer {KEY}"
    assert (len(server.requests), other.requests) == (1, [])


def test_no_error_repeats_the_key(served, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model, _ = asked(served(), reply(f"wrong key {KEY}".encode(), "401 No"), monkeypatch=monkeypatch)
    with pytest.raises(ServiceError, match=r"HTTP 401: wrong key …") as error:
        model.act(ToolOutcome())
    assert KEY not in str(error.value)
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    with pytest.raises(InvalidArgument, match="expected printable ASCII, got other characters") as error:
        model.act(ToolOutcome())
    assert KEY not in str(error.value)


def test_a_history_that_is_too_long_for_the_server_is_shortened_until_it_fits(served, monkeypatch):
    too_long = reply({"error": {"code": "context_length_exceeded", "message": "maximum context length"}}, "400 No")
    server = served()
    call = function("write", 1, path="a", content="y" * 5000)
    answers = [reply(whole("", call)), reply(whole("", function("shell", 2, command="ls")))]
    answers += [too_long, too_long, reply(whole("done"))]
    model, pauses = asked(server, *answers, monkeypatch=monkeypatch)
    for output in ("", "x" * 9000, "z" * 300):
        last = model.act(ToolOutcome(result=output))
    sizes = [len(json.dumps(request["messages"])) for _, request in server.requests]
    assert (last, pauses) == ("done", [])
    assert sizes[2] > sizes[3] + 8000 > sizes[4] + 12000
    assert server.requests[4][1]["messages"][-1]["content"] == "z" * 300
    model, _ = asked(server, too_long, monkeypatch=monkeypatch)
    with pytest.raises(ServiceError, match=r"HTTP 400.*maximum context length"):
        model.act(ToolOutcome())


def test_a_run_whose_model_fails_leaves_a_trajectory_that_says_why(served, parity, tmp_path, monkeypatch):
    server, file = served(), tmp_path / "agent.yaml"
    file.write_text(f"agent: model\nmodel: {{url: '{server.url}', model: local}}\n")
    monkeypatch.setenv("LUDUS_MODEL_MAX_RETRIES", "0")
    server.answers[:] = [reply(whole("I look.", function("budget"))), reply(b"gone", "500 No")]
    task = find_task(parity)
    with pytest.raises(ServiceError, match="HTTP 500: gone"):
        run_task(task, chosen_agent(str(file), task), 1, options=RunOptions(folder=tmp_path / "run"))
    run = Run.open(tmp_path / "run" / "run.ludus")
    assert (run[0].length, run[0].outcome) == (1, "aborted")
    last = list(run.events())[-1]
    assert (last.step, last.kind, last.value.type) == (1, "failure", "ServiceError")
    assert "HTTP 500: gone" in last.value.message


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://", "http://[::1", "http://a:99999999", "http://a b", ""])
def test_what_is_no_address_is_refused_before_anything_is_asked(url):
    with pytest.raises(InvalidArgument, match="model url: expected http:// or https:// and a host"):
        ModelAgent(ModelOptions(url=url, model="x"))
