"""Language models through an OpenAI-compatible endpoint, against a local server that makes mistakes too."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ludus.errors import InvalidArgument, ServiceError
from ludus.tasks import TaskEnv
from ludus.tasks.agents import play_episode
from ludus.tasks.agents.model import ModelAgent, ModelOptions
from tests.tasks.conftest import SOLVE

COMMAND = f'python3 -c "{SOLVE}" > answer.json'


def function(name, number=0, **arguments):
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def whole(content="", *calls):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"choices": [{"message": message}], "usage": {"prompt_tokens": 10, "completion_tokens": 3}}


@pytest.fixture
def server():
    """A server that gives the answers of a list, one for each request: a status, an object, or raw bytes."""
    answers, requests = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = answers.pop(0)
            status, body = (answer, b"no") if isinstance(answer, int) else (200, answer)
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,))
        thread.start()
        served.answers, served.requests = answers, requests
        yield served
        served.shutdown()
        thread.join()


def agent(server, **options):
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    return ModelAgent(ModelOptions(url=url, model="local", **options), pause=lambda seconds: None)


def test_a_model_does_a_task_with_several_functions_a_turn_in_spite_of_faults(server, parity):
    server.answers += [
        429,
        503,
        b"{cut",
        whole(),
        whole("I solve it.", function("shell", 1, command=COMMAND), function("validate", 2)),
    ]
    server.answers += [whole("", function("fly", 3)), whole("", function("submit", 4))]
    model = agent(server)
    with TaskEnv(parity) as env:
        episode = play_episode(env, model, 1)
    assert (episode.outcome, episode.steps) == ("success", 4)
    assert (model.calls, model.retries, model.sent, model.received) == (3, 4, 30, 9)
    last = server.requests[-1]["messages"]
    assert [one["role"] for one in last] == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert "error: call.tool: expected one of" in last[-1]["content"]
    assert {one["function"]["name"] for one in server.requests[0]["tools"]} >= {"shell", "submit"}


def test_a_model_writes_plain_text_and_streams_that_are_cut_are_asked_again(server, parity):
    def stream(text, end=b"data: [DONE]\n\n"):
        pieces = [{"choices": [{"delta": {"content": part}}]} for part in (text[:5], text[5:])]
        return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in pieces) + end

    text = f"Now I solve it.\n```bash\n{COMMAND}\n```"
    server.answers += [stream(text, b""), stream(text), stream("what now?"), stream("```\nsubmit\n```")]
    with TaskEnv(parity) as env:
        episode = play_episode(env, agent(server, functions=False, stream=True), 1)
    assert (episode.outcome, episode.steps) == ("success", 3)
    assert "tools" not in server.requests[0]


def test_a_server_that_refuses_or_never_answers_ends_the_episode(server, parity, monkeypatch):
    monkeypatch.setenv("MLGYM_MODEL_MAX_RETRIES", "1")
    for answers, words in (([401], "HTTP 401: no"), ([500, 500], "within 1 retries, got 'HTTP 500")):
        server.answers[:] = answers
        model = agent(server)
        model.begin("a task", TaskEnv(parity).action_space)
        with pytest.raises(ServiceError, match=words):
            model.act(None)
    with pytest.raises(InvalidArgument, match="expected http://"):
        ModelAgent(ModelOptions(url="file:///etc/passwd", model="x"))


def test_old_outputs_are_left_out_and_money_ends(server, parity):
    server.answers += [
        whole("", function("shell", at, command=f"seq {at}; head -c 3000 /dev/zero | tr '\\0' x")) for at in range(4)
    ]
    model = agent(server, context=8000, token_price=(0.1, 0.0), most_cost=4.0)
    with TaskEnv(parity) as env:
        episode = play_episode(env, model, 1)
    assert episode.steps == 5
    assert model.cost == pytest.approx(4.0)
    assert sum("left out" in one["content"] for one in server.requests[-1]["messages"] if one.get("content")) >= 1
