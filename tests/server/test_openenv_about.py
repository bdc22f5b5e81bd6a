"""What there is to read: health, metadata, schemas, the OpenAPI document, its page, and tasks."""

import re

import httpx
import jsonschema
import pytest

from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from tests.server.openenv_worlds import Odd, Riddle

METHODS = {"/health", "/metadata", "/schema", "/list_environments", "/state", "/reset", "/step", "/close"}


@pytest.fixture(scope="module")
def running():
    targets = (
        ServedEnv(Riddle, "riddle"),
        ServedEnv(Odd, "odd/one"),
        "CartPole-v1",
        "open/Echo-v0",
        "open/EchoTools-v0",
    )
    with serve(*targets, port=0, block=False) as running:
        yield running


@pytest.fixture(scope="module")
def http(running):
    with httpx.Client(base_url=running.url) as client:
        yield client


@pytest.mark.parametrize("path", ["", "/env/riddle", "/env/odd/one", "/env/open/Echo-v0"])
def test_every_environment_says_that_it_is_there(http, path):
    assert http.get(f"{path}/health").json() == {"status": "healthy"}


def test_metadata_says_what_it_is(http):
    about = http.get("/env/CartPole-v1/metadata").json()
    assert about.keys() == {"name", "description", "readme_content", "version", "author", "documentation_url"}
    assert (about["name"], about["version"]) == ("CartPole-v1", "1.0.0")
    assert about["description"].startswith("A pole on a cart.")
    assert "\n" not in about["description"]
    assert http.get("/metadata").json()["version"] is None


def test_schemas_are_those_of_the_environment(http):
    found = http.get("/schema").json()
    assert found.keys() == {"action", "observation", "state", "reset_observation"}
    for one in found.values():
        jsonschema.Draft202012Validator.check_schema(one)
        assert one["type"] == "object"
    assert found["action"]["required"] == ["answer"]
    assert set(found["observation"]["properties"]) == {"riddle", "hint", "metadata", "reward", "done"}
    assert set(found["state"]["properties"]) == {"tries", "episode_id", "step_count"}  # the answer is private


def test_actions_of_other_spaces_are_objects_too(http):
    found = http.get("/env/CartPole-v1/schema").json()
    assert found["action"]["properties"]["action"] == {"type": "integer", "minimum": 0, "maximum": 1}
    assert (found["action"]["required"], found["observation"]["required"]) == (["action"], ["value"])


def test_tools_are_known_by_their_title(http):
    found = http.get("/env/open/EchoTools-v0/schema").json()["action"]
    assert found["title"] == "CallToolAction"
    validator = jsonschema.Draft202012Validator(found)
    for action in (
        {"type": "list_tools"},
        {"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": "hi"}},
        {"tool": "echo_message", "arguments": {"message": "hi"}},
    ):
        assert validator.is_valid(action)
    assert not validator.is_valid({"type": "call_tool", "tool_name": "echo_message", "arguments": {}})


@pytest.mark.parametrize("path", ["", "/env/open/Echo-v0"])
def test_the_document_names_every_route_and_the_real_schemas(http, path):
    found = http.get(f"{path}/openapi.json").json()
    schemas = http.get(f"{path}/schema").json()
    assert found["openapi"] == "3.1.0"
    assert re.fullmatch(r"1\.\d+\.\d+", found["info"]["version"])
    assert found["paths"].keys() >= METHODS
    assert found["servers"] == [{"url": path or "/"}]
    parts = found["components"]["schemas"]
    assert (parts["Action"], parts["State"]) == (schemas["action"], schemas["state"])
    for name in METHODS - {"/reset", "/step", "/close"}:
        assert http.get(f"{path}{name}").status_code == 200


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/env/odd/one/docs"])
def test_the_page_needs_no_script_and_no_other_place(http, path):
    reply = http.get(path)
    assert reply.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert "<script" not in reply.text
    assert " style=" not in reply.text
    links = re.findall(r'(?:href|src)="([^"]*)"', reply.text)
    assert links
    for link in links:
        assert link.startswith("/")
        assert http.get(link).status_code == 200


def test_hostile_names_stay_text():
    class Hostile(Riddle):
        """<script>alert(1)</script> & "more"."""

    with serve(ServedEnv(Hostile, "hostile"), port=0, block=False) as running:
        text = httpx.get(f"{running.url}/docs").text
        assert "<script>" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


# --- tasks ---


def test_environments_are_listed_at_the_root_and_each_under_its_path(http):
    every = ["riddle", "odd/one", "CartPole-v1", "open/Echo-v0", "open/EchoTools-v0"]
    assert http.get("/list_environments").json() == every
    assert http.get("/env/odd/one/list_environments").json() == ["odd/one"]


@pytest.mark.parametrize("root", ["", "/env/riddle"])
def test_tasks_are_told(http, root):
    assert http.get(f"{root}/riddle/splits").json() == [
        {"name": "first", "type": "train"},
        {"name": "last", "type": "test"},
    ]

    def ask(name, **body):
        return http.post(f"{root}/riddle/{name}", json=body).json()

    assert ask("tasks", split="first") == {"tasks": [0, 1], "env_name": "riddle"}
    assert ask("num_tasks", split="last") == {"num_tasks": 1}
    assert ask("task", split="first", index=1) == {"task": {"index": 1}}
    assert ask("task_range", split="first", start=1, stop=5) == {"tasks": [1]}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("riddle/task", {"split": "first", "index": 7}, 400),
        ("riddle/tasks", {"split": "none"}, 400),
        ("riddle/tasks", {}, 422),
        ("riddle/tasks", {"split": 3}, 422),
        ("riddle/task", {"split": "first", "index": True}, 422),
        ("riddle/task", {"split": "first", "index": 0, "more": 1}, 422),
        ("nobody/tasks", {"split": "first"}, 404),
        ("odd/one/tasks", {"split": "first"}, 501),
        ("CartPole-v1/task", {"split": "first", "index": 0}, 501),
    ],
)
def test_tasks_that_there_are_not(running, http, path, body, status):
    reply = http.post(f"/{path}", json=body)
    assert reply.status_code == status
    assert reply.json()["detail"]
    assert not running.server.sessions.infos()


def test_under_one_environment_there_are_no_tasks_of_another(http):
    assert http.get("/env/odd/one/riddle/splits").status_code == 404
