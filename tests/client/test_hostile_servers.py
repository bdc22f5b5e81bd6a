"""A client holds every reply against what it asked: whatever a server sends, the worst is an error of Ludus's own."""

import asyncio
import contextlib
import resource
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pytest

import ludus
from ludus.cli.sessions import ServerAdmin
from ludus.client import GenericEnvClient, aconnect
from ludus.client.flow import run_flow
from ludus.client.openenv.session import OpenEnvSession
from ludus.client.session import SessionTerms
from ludus.core import Env, Step
from ludus.errors import ChannelError, ConnectionLost, LudusError, ServerBusy
from ludus.evaluate import HttpAgent
from ludus.server.protocols.memory import LocalServer
from ludus.spaces import Box, Dict, Discrete, Record
from ludus.wire import FrameLimits
from ludus.wire.failures import read_failure
from ludus.wire.messages import FailedReply, read_answered, write_message
from tests.client.hostile_servers import NoWebSocket, OddOpenEnv, Twist, TwistedConnection

pytestmark = pytest.mark.filterwarnings("ignore:.*its /schema says something else than it gives:UserWarning")
"""What OpenEnv's servers give otherwise than they say is taken, with a warning."""

EACH_RUN, WHOLE = 150, 1400
SOCKETS_EACH_RUN, SOCKETS_WHOLE = 40, 300
MAX_BYTES = 200 << 20
TIMEOUT_S = 0.3


@dataclass
class Move:
    where: int
    why: str = ""


@dataclass
class Seen:
    words: list[str]
    counts: dict[str, float] = field(default_factory=dict[str, float])


class Typed(Env[Seen, Move]):
    """Typed values, a picture, a state, infos of many kinds."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(self, render_mode: str | None = None) -> None:
        self.observation_space, self.action_space, self.render_mode = Record(Seen), Record(Move), render_mode
        self.state = {"tries": 0}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        return Seen(["a", "b"], {"x": 1.0}), {"array": np.arange(3), "nested": {"deep": (1, 2)}}

    def step(self, action: Move) -> Step[Seen]:
        facts = {"won": False}
        return Step.transition(
            Seen([action.why], {"y": 2.0}), 1.5, info={"facts": facts, "reward_components": {"a": 1.5}}
        )

    def render(self) -> Any:
        return np.zeros((4, 4, 3), np.uint8)


class Arrays(Env[Any, int]):
    """Observations of arrays."""

    def __init__(self) -> None:
        self.observation_space = Dict({"board": Box(-1, 1, (3, 3), np.float32), "turn": Discrete(2)})
        self.action_space = Discrete(9)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.observation_space.sample(), {"action_mask": np.ones(9, np.int8)}

    def step(self, action: int) -> Step[Any]:
        return Step.transition(self.observation_space.sample(), float(action), terminated=action == 8)


def use(env: Any, many: bool, action: Any) -> None:
    """Everything that a client may ask."""
    for ask in (
        lambda: env.reset(seed=3),
        lambda: [env.step(action) for _ in range(3)],
        lambda: env.get_attr("state") if many else env.state_data(),
        lambda: env.get_wrapper_attr("render_mode") if not many else env.call("nothing"),
        env.snapshot,
        env.render,
        lambda: env.restore(env.snapshot()),
        lambda: env.reset(options={"reset_mask": np.array([True, False])} if many else {"a": 1}),
    ):
        with contextlib.suppress(LudusError):
            ask()


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.fixture(scope="module")
def server():
    with LocalServer(Typed, Arrays) as server:
        yield server


def try_twisted(server: LocalServer, seeds: range) -> None:
    for seed in seeds:
        twist, kind, many = Twist(seed), seed % 2, seed % 3 == 0
        action: Any = Move(1, "why") if not kind else 4
        actions = [action] * 2 if not kind else np.array([4, 8])
        try:
            name = ("Typed", "Arrays")[kind]
            env = ludus.connect(lambda twist=twist: TwistedConnection(server(), twist), 2 if many else None, env=name,
                                timeout=TIMEOUT_S)  # fmt: skip
        except LudusError:
            continue
        try:
            use(env, many, actions if many else action)
        finally:
            with contextlib.suppress(LudusError):
                env.close()


def try_bytes(kind: type[NoWebSocket], seeds: range) -> None:
    for seed in seeds:
        with kind(seed) as hostile:
            try:
                env = ludus.connect(hostile.url, timeout=TIMEOUT_S)
            except LudusError:
                continue
            try:
                use(env, False, {"number": 3})
                env.close()
            except LudusError:
                pass


@pytest.fixture
def noted(record_property):
    """Writes down how many servers there were, and how much memory they took: figures of docs/security.md."""
    before = peak()

    def note(servers: int) -> None:
        grown = peak() - before
        record_property("servers", servers)
        record_property("MiB", grown / (1 << 20))
        assert grown < MAX_BYTES

    return note


def by_openenvs_client(url: str) -> None:
    with GenericEnvClient(base_url=url, message_timeout_s=TIMEOUT_S) as client:
        client.reset(seed=1)
        client.step({"number": 3})
        client.state()


def by_async_client(url: str) -> None:
    async def play() -> None:
        env = await aconnect(url, timeout=TIMEOUT_S)
        try:
            await env.reset(seed=1)
            await env.step({"number": 3})
        finally:
            await env.close()

    asyncio.run(play())


def by_http_agent(url: str) -> None:
    agent = HttpAgent(url, retries=0, deadline=TIMEOUT_S)
    agent.prepare(Discrete(3), Discrete(3), 1)
    agent.begin(0, 1)
    agent.act(1, {}, 0)


def by_list_of_sessions(url: str) -> None:
    ServerAdmin(url, "").ask("GET", "/v1/sessions")


@pytest.mark.parametrize("use_it", [by_openenvs_client, by_async_client, by_http_agent, by_list_of_sessions])
@pytest.mark.parametrize("servers", [8, pytest.param(120, marks=pytest.mark.full)])
def test_whoever_asks_a_server_gets_errors_of_ludus(use_it, servers, noted):
    for seed in range(servers):
        with (NoWebSocket, OddOpenEnv)[seed % 2](seed) as hostile, contextlib.suppress(LudusError):
            use_it(hostile.url)
    noted(servers)


class Dropping:
    """A way to a server that takes each connection, and ends it at the first message."""

    def open(self, path: str, text: bool, seconds: float) -> None: ...

    def close(self) -> None: ...

    def fetch(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        return 404, b""

    def exchange(self, data: Any, seconds: float) -> Any:
        raise ConnectionResetError("it has ended")


def test_a_server_that_ends_every_connection_at_a_reset_is_a_lost_one():
    """OpenEnv's client connects anew for a reset: that this connection ended as well was an error of the socket's."""
    session = OpenEnvSession(SessionTerms(where="http://here", timeout=60))
    with pytest.raises(ConnectionLost, match=r"http://here: .*it has ended"):
        run_flow(session.ask("reset", {}, "observation"), Dropping())


class ManyLanes:
    """A connection whose welcome says more lanes than were asked for."""

    def __init__(self, real: Any) -> None:
        self._real, self.send, self.close = real, real.send, real.close

    def receive(self, seconds: float) -> bytes:
        answered = read_answered(self._real.receive(seconds), FrameLimits())
        reply = msgspec.structs.replace(answered.reply, lanes=1 << 31)
        return write_message(msgspec.structs.replace(answered, reply=reply))


def test_a_welcome_of_more_lanes_than_were_asked_for_is_refused_before_there_is_room_for_them(server):
    with pytest.raises(ChannelError, match="expected 0 lanes, got 2147483648"):
        ludus.connect(lambda: ManyLanes(server()), env="Arrays", timeout=TIMEOUT_S * 100)


def test_twisted_replies_give_errors_of_ludus_and_take_no_memory(server, noted):
    try_twisted(server, range(EACH_RUN))
    noted(EACH_RUN)


@pytest.mark.parametrize("kind", [NoWebSocket, OddOpenEnv])
def test_bytes_that_are_no_protocol_give_errors_of_ludus(kind, noted):
    try_bytes(kind, range(SOCKETS_EACH_RUN))
    noted(SOCKETS_EACH_RUN)


@pytest.mark.full
def test_two_thousand_servers_are_survived(server, noted):
    try_twisted(server, range(EACH_RUN, WHOLE))
    for kind in (NoWebSocket, OddOpenEnv):
        try_bytes(kind, range(SOCKETS_EACH_RUN, SOCKETS_WHOLE))
    noted(WHOLE - EACH_RUN + 2 * (SOCKETS_WHOLE - SOCKETS_EACH_RUN))


@pytest.mark.parametrize("said", [float("nan"), float("inf"), -1e300, 10**400, "soon", None])
def test_a_busy_server_is_asked_again_after_a_time_that_is_one(said):
    """`nan` was an error of the clock's; a reply is read as it comes, also where its types say something else."""
    reply = FailedReply("ServerBusy", "all places are taken", retry_after=said)
    error = read_failure(reply, "here", "at the server")
    assert isinstance(error, ServerBusy)
    assert 0 < error.retry_after <= 60
