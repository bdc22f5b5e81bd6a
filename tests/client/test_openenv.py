"""Stock servers of OpenEnv, old and new: an environment here, with what their protocol has, and no more."""

import asyncio
import socket
import subprocess
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from ludus.client import EnvClient, Fields, StepResult, TypedClient, aconnect, connect
from ludus.client.openenv import session
from ludus.client.openenv.remote import OpenEnvCodec
from ludus.client.openenv.schema import space_of
from ludus.errors import (
    AccessDenied,
    ConnectionLost,
    EnvError,
    InvalidAction,
    InvalidArgument,
    RenderError,
    ServerBusy,
    SessionLost,
    SnapshotError,
)
from ludus.server import Access
from ludus.server.run import serve
from ludus.spaces import Record
from ludus.spaces.json import Json
from ludus.testing import check_space
from tests.client.proxies import CuttingProxy, never

pytestmark = [pytest.mark.in_turns("port"), pytest.mark.in_turns("version"), pytest.mark.xdist_group("openenv clients")]
ROOT = Path(__file__).parents[2]
VERSIONS = ("0.10.0", "0.3.0")


def python_of(version):
    python = ROOT / "build" / "peers" / f"openenv-{version}" / "bin" / "python"
    if not (python.parents[1] / ".installed").exists():
        subprocess.run(["sh", str(ROOT / "scripts" / "peers.sh")], check=True, stdin=subprocess.DEVNULL)
    return str(python)


@contextmanager
def stock(version, places=64, *more):
    """A stock server; its port."""
    command = [python_of(version), str(Path(__file__).with_name("stock_server.py")), str(places), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            await_answer(port)
            yield port
        finally:
            process.kill()  # whoever is asked to end waits for what is connected


def await_answer(port):
    patience = monotonic() + 60
    while True:
        with socket.create_connection(("127.0.0.1", port), 60) as link:
            link.sendall(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
            if link.recv(15) or monotonic() > patience:
                return


@pytest.fixture(scope="module", params=VERSIONS)
def port(request):
    with stock(request.param) as port:
        yield port


@pytest.fixture(scope="module")
def new_port():
    with stock("0.10.0") as port:
        yield port


def url(port):
    return f"http://127.0.0.1:{port}"


def test_lanes_of_a_stock_server_are_of_the_space_of_their_batch(new_port):
    with connect(url(new_port), 3) as envs, connect(url(new_port)) as env:
        observations, _ = envs.reset(seed=4)
        assert observations in envs.observation_space
        assert observations[0] == env.reset(seed=4)[0]


def test_streams_of_wrappers_follow_from_the_seed_that_a_stock_server_was_sent(new_port):
    with connect(url(new_port)) as env:
        env.reset(seed=4)
        drawn = env.stream("a wrapper").integers(1 << 60)
        env.reset(seed=4)
        assert (env.np_random_seed, env.stream("a wrapper").integers(1 << 60)) == (4, drawn)


def test_it_is_an_environment_with_typed_spaces(port):
    with connect(url(port)) as env:
        assert isinstance(env.action_space, Record)
        assert isinstance(env.observation_space, Record)
        assert {"number", "note"} <= set(env.action_space.fields)
        observation, _ = env.reset(seed=7)
        assert (observation.hint, observation.tries) == ("guess", 0)
        action = env.action_space.model(number=50)
        observation, reward, terminated, truncated, _ = env.step(action)
        assert (observation.hint, observation.tries, reward) == ("less", 1, -43.0)
        assert (terminated, truncated) == (False, False)
        step = env.step({"number": 7})
        assert (step.terminated, step.truncated) == (True, False)
        assert step.info["truncated"] == "not told by the server"
        assert env.state_data()["step_count"] == 2
        assert env.np_random_seed == 7


def test_options_travel_beside_the_seed(port):
    with connect(url(port)) as env:
        env.reset(seed=7, options={"offset": 3})
        assert env.step({"number": 10}).terminated


def test_a_reward_that_is_none_is_nothing_and_said_to_be(port):
    with connect(url(port)) as env:
        env.reset(seed=7)
        step = env.step({"number": 1, "note": "silent"})
        assert step.reward == 0.0
        assert step.info["reward"] is None


def test_nan_comes_as_null_and_is_nan_again(new_port):
    with connect(url(new_port)) as env:
        env.reset(seed=0)
        seen = env.step({"number": 0, "note": "nan"}).observation
        assert seen.odds[0] == 0.5
        assert isnan(seen.odds[1])
        assert isnan(seen.best)


def test_long_texts_and_lists_of_numbers_come_whole(new_port):
    with connect(url(new_port)) as env:
        env.reset(seed=0)
        seen = env.step({"number": 0, "note": "long"}).observation
        assert (len(seen.hint), seen.odds) == (200_000, [0.5] * 100_800)


def test_what_a_subclass_or_a_computed_field_adds_is_told_in_the_info(new_port):
    with connect(url(new_port)) as env:
        env.reset(seed=5)
        steps = [env.step({"number": 1, "note": note}) for note in ("praise", "praise", "", "praise")]
    told = [{"praise": f"try {number}", "shout": f"TRY {number}"} for number in (1, 2, 4)]
    assert [one.info.get("unannounced") for one in steps] == [told[0], told[1], None, told[2]]
    assert [one.observation.hint for one in steps] == ["guess", "guess", "more", "guess"]


@pytest.mark.parametrize("lanes", [None, 2])
def test_what_a_stock_server_gives_otherwise_than_its_schema_says_is_given_and_of_the_space(lanes):
    with stock("0.10.0", 64, "priced") as port, connect(url(port), lanes) as env:
        with pytest.warns(UserWarning, match=r"cost: expected int, got '3 EUR'.*hidden: expected it, got none"):
            env.reset(seed=7)
        action = {"number": 1}
        seen = env.step(action if lanes is None else [action] * lanes).observation
        assert seen in env.observation_space
        one = seen if lanes is None else seen[1]
        assert (one.cost, one.owners, one.more, one.tries) == ("3 EUR", None, 2**80, 1)


def test_errors_are_of_the_right_class_and_the_session_goes_on(port):
    with connect(url(port)) as env:
        env.reset(seed=7)
        with pytest.raises(InvalidAction):
            env.step({"number": 1000})
        with pytest.raises(InvalidAction):
            env.step(3)
        with pytest.raises(EnvError, match="a bad guess"):
            env.step({"number": 1, "note": "raise"})
        assert env.step({"number": 7}).terminated


def test_what_cannot_be_had_is_refused_with_the_reason(port):
    with connect(url(port)) as env:
        env.reset()
        for refused, kind in ((env.render, RenderError), (env.snapshot, SnapshotError), (env.fork, SnapshotError)):
            with pytest.raises(kind, match="got one of OpenEnv"):
                refused()
    with pytest.raises(InvalidArgument, match="pass options to reset"):
        connect(url(port), kwargs={"size": 3})


def test_a_batch_is_many_sessions(port):
    with connect(url(port), 3, autoreset_mode="SameStep") as envs:
        observations, _ = envs.reset(seed=5)
        assert [one.hint for one in envs.observation_space.iterate(observations)] == ["guess"] * 3
        action = envs.single_action_space.model(number=6)
        step = envs.step([action] * 3)
        assert np.array_equal(step.reward, [-1.0, 0.0, -1.0])
        assert np.array_equal(step.terminated, [False, True, False])


def test_the_async_form(port):
    async def main():
        async with await aconnect(url(port)) as env:
            await env.reset(seed=7)
            return (await env.step({"number": 7})).terminated

    assert asyncio.run(main())


def test_the_typed_style(port):
    with TypedClient(url(port)) as client:
        assert client.reset(seed=7).observation.hint == "guess"
        result = client.step(number=8)
        assert (result.observation.hint, result.reward, result.done) == ("less", -1.0, False)
        assert client.state().step_count == 1


class GuessClient(EnvClient[int, str, int]):
    """As one comes from OpenEnv."""

    def _step_payload(self, action):
        return {"number": action}

    def _parse_result(self, payload):
        return StepResult(
            observation=payload["observation"]["hint"], reward=payload.get("reward"), done=payload.get("done", False)
        )

    def _parse_state(self, payload):
        return payload["step_count"]


def test_a_client_that_comes_from_openenv(port):
    with GuessClient(base_url=url(port)) as client:
        assert client.reset(seed=7).observation == "guess"
        assert client.step(7) == StepResult("right", reward=0.0, done=True)
        assert client.state() == 1
    client = GuessClient.from_url(url(port))
    with client.sync() as same:
        same.reset(seed=7)
        assert same.step(9).observation == "less"

    async def main():
        async with GuessClient(url(port)) as client:
            await client.reset(seed=7)
            first = await client.step(1)
        client = await GuessClient(url(port))
        await client.reset(seed=7)
        state = await client.state()
        await client.close()
        with GuessClient(url(port)).sync() as blocking:
            blocking.reset(seed=7)
            return first.observation, state, blocking.step(7).done

    assert asyncio.run(main()) == ("more", 0, True)


# --- sessions that are kept ---


def test_a_kept_session_goes_on_after_a_lost_connection(new_port):
    with CuttingProxy(new_port, never()) as proxy, connect(proxy.url) as env:
        env.reset(seed=7)
        env.step({"number": 1})
        proxy.cut_now()
        assert env.step({"number": 2}).observation.tries == 2
        assert env.resumed == 1


def test_a_step_whose_answer_is_lost_is_not_repeated(new_port):
    budgets = iter([*[None] * 5, 900, *[None] * 20])
    with CuttingProxy(new_port, budgets) as proxy, connect(proxy.url) as env:
        env.reset(seed=7)
        with pytest.raises(SessionLost, match="it had been carried out"):
            play_on(env)
        env.reset(seed=7)
        assert env.step({"number": 7}).terminated


def play_on(env):
    for _ in range(100):
        env.step({"number": 1})


def test_without_a_kept_session_a_lost_connection_is_the_end():
    with stock("0.3.0") as port, CuttingProxy(port, never()) as proxy, connect(proxy.url) as env:
        env.reset(seed=7)
        proxy.cut_now()
        with pytest.raises(SessionLost, match="keeps no session without one") as caught:
            env.step({"number": 1})
        assert caught.value.infrastructure
        env.reset(seed=7)
        assert env.step({"number": 7}).terminated


@pytest.mark.parametrize("version", VERSIONS)
def test_a_full_server_is_busy_and_a_closed_session_frees_its_place(version, monkeypatch):
    with stock(version, 1) as port:
        first = connect(url(port))
        first.reset(seed=7)
        with monkeypatch.context() as patched:
            patched.setattr(session, "BUSY_RETRY_S", 1000.0)  # longer than it may take, so it is not asked again
            with pytest.raises(ServerBusy), connect(url(port), timeout=60) as second:
                second.reset()
        first.close()
        with connect(url(port), timeout=60) as third:
            third.reset(seed=7)
            assert third.step({"number": 7}).terminated


# --- which kind of server it is ---


def test_a_batch_at_a_server_of_one_place_is_refused_with_what_it_would_take(monkeypatch):
    monkeypatch.setattr(session, "BUSY_RETRY_S", 1000.0)
    with stock("0.10.0", 1) as port, pytest.raises(ServerBusy, match=r"max_concurrent_envs places.*each lane"):
        connect(url(port), num_envs=3, timeout=60)


def test_our_server_speaks_both_and_ours_is_chosen(server):
    with connect(server.url, env="open/Echo-v0") as env:
        env.reset()
        assert env.snapshot()
    with EnvClient(f"{server.url}/env/open/Echo-v0") as client:
        client.reset()
        assert client.step({"message": "hi"}).observation.echoed_message == "hi"


def test_a_server_that_lets_nobody_in_says_so():
    token = "a-token-of-many-characters"
    with serve("CartPole-v1", port=0, block=False, access=Access({token: "orchestrator"})) as closed:
        for wrong in ({}, {"token": "another-token-of-many"}):
            with pytest.raises(AccessDenied, match="pass token="):
                connect(closed.url, **wrong)
        with connect(closed.url, token=token) as env:
            env.reset(seed=1)


def test_a_server_of_neither_kind_is_none(server):
    with pytest.raises(ConnectionLost, match="got neither"):
        connect(f"{server.url}/nowhere")


# --- schemas ---


def test_a_schema_becomes_a_record_where_it_can():
    space = space_of(
        {
            "title": "Order",
            "type": "object",
            "additionalProperties": False,
            "$defs": {"Item": {"type": "object", "title": "Item", "properties": {"name": {"type": "string"}}}},
            "properties": {
                "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "maxItems": 3},
                "size": {"enum": ["small", "large"]},
                "count": {"type": "integer", "minimum": 1, "maximum": 9},
                "share": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
                "extra": {"type": "object", "additionalProperties": True, "default": {}},
                "gift": {"type": "boolean", "default": False},
                "done": {"type": "boolean"},
            },
            "required": ["items", "size", "count"],
        },
        without=("done",),
    )
    assert isinstance(space, Record)
    data = {"items": [{"name": "tea"}], "size": "small", "count": 2}
    order = space.decode(data)
    assert order.items[0].name == "tea"
    assert (order.share, order.extra, order.gift) == (None, {}, False)
    assert order in space
    assert space.encode(order)["items"] == [{"name": "tea"}]
    assert space.sample() in space


def test_what_an_action_leaves_to_the_server_is_left_out_however_deep():
    point = {"type": "object", "properties": {"x": {"type": "integer", "default": 0}}}
    circle = {"kind": {"const": "circle", "default": "circle"}, "centre": {"$ref": "#/$defs/Point"}}
    square = {
        "kind": {"const": "square", "default": "square"},
        "side": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    }
    action = {
        "title": "Draw",
        "type": "object",
        "$defs": {
            "Point": {"title": "Point", **point},
            "Circle": {"title": "Circle", "type": "object", "properties": circle},
            "Square": {"title": "Square", "type": "object", "properties": square, "required": ["side"]},
        },
        "properties": {
            "shapes": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}]}},
            "where": {"$ref": "#/$defs/Point"},
        },
        "required": ["shapes"],
    }
    codec = OpenEnvCodec({"action": action, "observation": {}}, {})
    drawn = codec.action_space.coerce({"shapes": [{"kind": "circle"}, {"kind": "square", "side": None}]})
    assert drawn.shapes[0].centre is None
    assert codec.write_action(drawn) == {"shapes": [{"kind": "circle"}, {"kind": "square", "side": None}]}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"type": "object"},
        {"type": "object", "properties": {"class": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"$ref": "#/$defs/Loop", "$defs": {"Loop": {"$ref": "#/$defs/Loop"}}},
        {"type": "object", "properties": 3},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": "low"}}, "required": 3},
    ],
)
def test_a_schema_that_leaves_things_open_is_a_permissive_space(schema):
    assert space_of(schema) == Json("object")


def test_the_permissive_space_is_a_space():
    for kind in ("any", "object", "array"):
        report = check_space(Json(kind, seed=1))
        assert not report.findings, report
    assert Json()  # any value of JSON
    assert [1, {"a": None}] in Json()
    assert np.int64(3) not in Json()
    assert {"a": {1}} not in Json()
    deep = []
    for _ in range(50):
        deep = [deep]
    assert deep not in Json()
    assert Fields({"a": {"b": 1}}).a.b == 1
    with pytest.raises(AttributeError, match="expected one of"):
        _ = Fields({}).nothing
