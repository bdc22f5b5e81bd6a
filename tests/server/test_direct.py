"""Connections that a session's thread reads by itself: as quick as that is, nothing else may be different."""

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import msgspec
import numpy as np
import pytest

import ludus
from ludus.client import connect
from ludus.errors import SessionBusy, SessionLost, SessionTaken
from ludus.server import ServerConfig
from ludus.server.direct import Direct
from ludus.server.listen_config import ListenConfig
from ludus.server.run import serve
from ludus.server.spawned_server import spawn_server
from ludus.testing.equality import difference
from ludus.wire import SpaceCodec, decode_value
from ludus.wire.messages import (
    BatchResetRequest,
    BatchStepRequest,
    CancelRequest,
    CloseRequest,
    FailedReply,
    NumberedRequest,
    RenderRequest,
    ResetRequest,
    RestoreRequest,
    SnapshotRequest,
    StateRequest,
    StepRequest,
    ValueReply,
    write_message,
)
from tests.patience import until
from tests.server.direct_worlds import Note, Page, Tape
from tests.server.raw_wire import PING, TEXT, RawClient
from tests.server.wired_worlds import GO, WAIT, Gate, Sleeper

pytestmark = pytest.mark.in_turns("way")  # a thread reads either alike
WORLDS = "tests.server.direct_worlds"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often connections went to threads, and were taken back in mid-step."""
    found: Counter[str] = Counter()
    start, detach = Direct.start, Direct.detach

    def starting(self: Direct) -> bool:
        done = start(self)
        found["started"] += done
        return done

    def detaching(self: Direct) -> bool:
        done = detach(self)
        found["detached"] += done
        return done

    monkeypatch.setattr(Direct, "start", starting)
    monkeypatch.setattr(Direct, "detach", detaching)
    return found


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """What the first process of a sandbox opens for good is there before anything is counted."""
    ludus.make(f"{Sleeper.__module__}:Sleeper", isolation="process").close()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Threads of sessions and descriptors are as many afterwards as before."""
    gc.collect()
    before, others = descriptors(), set(session_threads())
    Gate.opened.clear()
    while Gate.waiting.acquire(blocking=False):
        pass
    yield
    Gate.opened.set()
    until(lambda: set(session_threads()) <= others, "a thread of a session is left")
    gc.collect()
    until(lambda: descriptors() <= before + 2, "descriptors are left")  # what asyncio and httpx keep for good


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def session_threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("session-")]


def both(running: Any, path: Path) -> dict[str, str]:
    return {"ws": running.url, "unix": f"unix://{path}"}


# --- nothing is lost, repeated or changed ---


def sent(data: Any) -> Any:
    """What the other side gets."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(data))


class Played:
    """A session beside an environment of this process; everything is done to both, by chance and by bytes."""

    def __init__(self, running: Any, address: str, lanes: int, seed: int) -> None:
        self.running, self.rng, self.lanes = running, Random(seed), lanes
        self.client = RawClient(address, self.rng, env="Tape", lanes=lanes)
        self.env: Any = ludus.make_vec(Tape, lanes) if lanes else ludus.make(Tape)
        self.seen, self.acted = SpaceCodec(self.env.observation_space), SpaceCodec(self.env.action_space)
        self.expected: dict[int, Any] = {}
        self.kept: dict[int, Any] = {}
        self.reset()

    # each asks the server, and notes what is to come

    def note(self, data: bytes, expected: Any) -> bytes:
        self.expected[self.client.last] = expected
        return data

    def begin_reset(self) -> bytes:
        seed = self.rng.randrange(1000)
        request: Any = BatchResetRequest(seed, None) if self.lanes else ResetRequest(seed, None)
        return self.note(self.client.ask(request), ("reset", sent(self.seen.write(self.env.reset(seed=seed)[0]))))

    def begin_step(self, nap: float = 0.0) -> bytes:
        def note() -> Note:
            return Note(self.rng.randrange(100), nap)

        action: Any = [note() for _ in range(self.lanes)] if self.lanes else note()
        written = sent(self.acted.write(action))
        for one in action if self.lanes else [action]:
            one.nap = 0.0
        step = self.env.step(action)
        request: Any = BatchStepRequest(written) if self.lanes else StepRequest(written)
        seconds = self.rng.choice([None, None, 20.0, 8.0])  # far more than it takes, on a machine with much to do, too
        reward = np.asarray(step.reward).tolist()
        return self.note(self.client.ask(request, seconds), ("step", sent(self.seen.write(step.observation)), reward))

    def begin_state(self) -> bytes:
        return self.note(self.client.ask(StateRequest()), ("state",))

    def begin_render(self) -> bytes:
        return self.note(self.client.ask(RenderRequest()), ("render",))

    def check(self) -> None:
        number, reply = self.client.reply()
        kind, *expected = self.expected.pop(number)
        if kind == "state":
            assert isinstance(reply.value["step_count"], int)
        elif kind == "render":
            assert type(reply) is (FailedReply if self.lanes else ValueReply)
        else:
            assert (reply.observations if self.lanes else reply.observation) == expected[0], (kind, number)
        if kind == "step":
            reward = np.frombuffer(reply.rewards, "<f8").tolist() if self.lanes else reply.reward
            assert reward == expected[1]

    def all(self) -> None:
        while self.client.unanswered:
            self.check()

    def put(self, data: bytes) -> None:
        self.client.line.socket.sendall(data)

    def one(self, data: bytes) -> bytes:
        return self.client.line.frame(data)

    # what may happen

    def reset(self) -> None:
        self.put(self.one(self.begin_reset()))
        self.all()

    def steps(self) -> None:
        for _ in range(self.rng.randrange(1, 20)):
            self.put(self.one(self.begin_step()))
            self.all()

    def burst(self) -> None:
        self.put(b"".join(self.one(self.begin_step()) for _ in range(self.rng.randrange(2, 30))))
        self.all()

    def split(self) -> None:
        data = b"".join(self.one(self.begin_step()) for _ in range(self.rng.randrange(1, 4)))
        place = self.rng.randrange(1, len(data))
        self.put(data[:place])
        time.sleep(self.rng.choice([0.0, 0.001]))
        self.put(data[place:])
        self.all()

    def fragments(self) -> None:
        data = self.begin_step()
        self.put(self.client.line.parts(data, self.rng.randrange(len(data))))
        self.all()

    def ping(self) -> None:
        if self.client.line.framed:
            return
        before = len(self.client.line.pongs)
        self.put(self.client.line.frame(b"are you there", PING) + self.one(self.begin_step()))
        self.all()
        assert self.client.line.pongs[before:] == [b"are you there"]

    def mixed(self) -> None:
        kinds = [self.begin_step, self.begin_reset, self.begin_state, self.begin_render]
        self.put(b"".join(self.one(self.rng.choice(kinds)()) for _ in range(8)))
        self.all()

    def nap(self) -> None:
        self.put(self.one(self.begin_step(0.12)))
        self.put(self.one(write_message(NumberedRequest(0, CancelRequest(self.client.last - 1)))))
        self.put(self.one(self.begin_step()))
        self.all()

    def cut(self) -> None:
        data = b"".join(self.one(self.begin_step()) for _ in range(self.rng.randrange(4)))
        self.put(data[: self.rng.randrange(len(data) + 1)])
        self.client.again()
        self.all()

    def snapshot(self) -> None:
        data = self.client.ask(SnapshotRequest([]))
        self.put(self.one(data))
        taken = self.env.snapshot()
        number = self.client.reply()[1].number
        self.put(self.one(self.begin_step()))
        self.all()
        self.put(self.one(self.client.ask(RestoreRequest(number))))
        self.client.reply()
        self.env.restore(taken)

    def repeat(self) -> None:
        data = self.begin_step()
        self.put(self.one(data))
        first = self.client.line.answer()
        self.put(self.one(data))
        assert self.client.line.answer() == first
        self.client.unanswered.clear()
        self.expected.clear()

    def http(self) -> None:
        if self.lanes:
            return
        headers = {"x-session-id": self.client.session}
        told = httpx.get(f"{self.running.url}/state", headers=headers).json()
        assert isinstance(told["step_count"], int)
        letter = self.rng.randrange(100)
        told = httpx.post(f"{self.running.url}/step", json={"action": {"letter": letter}}, headers=headers).json()
        page: Page = self.env.step(Note(letter)).observation
        assert (told["observation"]["digest"], told["observation"]["count"]) == (page.digest, page.count)

    def close(self) -> None:
        self.put(self.one(self.client.ask(CloseRequest())))
        self.client.reply()
        self.client.line.close()
        self.env.close()


MOVES = (
    *(Played.steps, Played.burst, Played.split, Played.fragments, Played.ping, Played.mixed, Played.nap, Played.cut),
    *(Played.snapshot, Played.repeat, Played.http, Played.reset),
)


@pytest.mark.parametrize("lanes", [0, 3])
@pytest.mark.parametrize("way", ["ws", "unix"])
def test_histories_are_those_of_the_environment_whoever_reads_the_connection(
    tmp_path: Path, way: str, lanes: int, counted: Counter[str]
) -> None:
    with serve(Tape, port=0, block=False, unix=str(tmp_path / "s")) as running:
        address = both(running, tmp_path / "s")[way]
        for seed in range(3):
            played = Played(running, address, lanes, seed)
            moves = list(MOVES) * 3
            played.rng.shuffle(moves)
            for move in moves:
                move(played)
            played.close()
        assert counted["started"] > 10  # about forty; fewer where the machine is slow to bring the next request
        assert counted["detached"] > 2
        until(lambda: not running.server.sessions.infos(), "a session is left")
        assert 'ludus_steps_total{env="Tape"}' in running.server.metrics.text()


# --- what takes long ---


@pytest.mark.parametrize("way", ["ws", "unix"])
def test_a_step_that_blocks_after_many_quick_ones_holds_up_nobody(
    tmp_path: Path, way: str, counted: Counter[str]
) -> None:
    """The step goes on only when all the others have been answered: whoever waited for it would wait for ever."""
    with serve(Gate, port=0, block=False, unix=str(tmp_path / "s")) as running:
        addresses = both(running, tmp_path / "s")
        blocked = RawClient(addresses[way], Random(0))
        direct(blocked, counted)  # so quick that its thread reads the connection by itself
        blocked.line.socket.sendall(blocked.line.frame(blocked.ask(StepRequest(WAIT))))
        Gate.waiting.acquire()
        others = [RawClient(address, Random(seed)) for seed in range(8) for address in addresses.values()]
        for client in others:
            client.line.socket.sendall(client.line.frame(client.ask(ResetRequest(0, None))))
            client.reply()
        for count in range(1, 31):
            for client in others:
                client.line.socket.sendall(client.line.frame(client.ask(StepRequest(GO))))
            assert [client.reply()[1].observation for client in others] == [count] * len(others)
        assert httpx.get(f"{running.url}/health").json() == {"status": "healthy"}
        Gate.opened.set()
        number, reply = blocked.reply()
        assert (number, reply.observation) == (blocked.last, blocked.last - 1)
        for client in (blocked, *others):
            client.line.close()


def test_while_a_step_runs_for_ever_others_go_on_and_health_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    config = ServerConfig(isolation="none", deadline=2.5, listen=ListenConfig(port=0))
    url, stop = spawn_server([f"{WORLDS}:Endless"], config)
    try:
        with connect(url) as env, connect(url) as other:
            env.reset(seed=0)
            other.reset(seed=0)
            assert httpx.get(f"{url}/health").json() == {"status": "healthy"}
            with pytest.raises(ludus.errors.LimitExceeded, match=r"longer than 2\.5 seconds.*isolation='process'"):
                env.step(Note(7))
            with pytest.raises(SessionLost):
                env.step(Note(1))
            for count in range(50):
                assert other.step(Note(1)).observation.count == count + 1
            told = httpx.get(f"{url}/health").json()
            assert (told["status"], told["stuck"]) == ("degraded", 1)
            assert told["seconds"] > 2.5
            assert "isolation='process'" in told["advice"]
            assert "ludus_sessions_stuck 1" in httpx.get(f"{url}/metrics").text
            listed = httpx.get(f"{url}/v1/sessions").json()
            assert [one["env"] for one in listed["stuck"]] == ["Endless"]
    finally:
        stop()


@pytest.mark.parametrize("way", ["ws", "unix"])
def test_past_its_deadline_a_step_is_given_up_though_its_thread_read_it(
    tmp_path: Path, way: str, counted: Counter[str]
) -> None:
    config = ServerConfig(deadline=2.5)
    with serve(Gate, port=0, block=False, config=config, unix=str(tmp_path / "s")) as running:
        client = RawClient(both(running, tmp_path / "s")[way], Random(0))
        direct(client, counted)
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(WAIT))))
        _, reply = client.reply()
        assert reply.kind == "LimitExceeded"
        assert "longer than 2.5 seconds" in reply.message
        assert counted["detached"] == 1
        assert running.server.sessions.infos() == []
        assert running.server.sessions.health()["stuck"] == 1
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(GO))))
        assert client.reply()[1].kind == "SessionLost"
        client.line.close()
        Gate.opened.set()
        until(lambda: running.server.sessions.health() == {"status": "healthy"}, "it is stuck")


def direct(client: RawClient, counted: Counter[str]) -> None:
    """Play until the connection is read by its thread."""
    before = counted["started"]
    client.line.socket.sendall(client.line.frame(client.ask(ResetRequest(0, None))))
    client.reply()
    for _ in range(1000):
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(GO))))
        client.reply()
        if counted["started"] > before:
            return
    raise AssertionError("its thread never read it")


@pytest.mark.parametrize("end", ["deadline", "cancelled"])
@pytest.mark.parametrize("way", ["ws", "unix"])
def test_a_step_in_isolation_that_its_thread_read_can_be_ended(
    tmp_path: Path, way: str, end: str, counted: Counter[str]
) -> None:
    config = ServerConfig(
        isolation="process", deadline=15.0 if end == "deadline" else 60.0
    )  # its start is under it too
    target = f"{Sleeper.__module__}:Sleeper"
    with serve(target, port=0, block=False, config=config, unix=str(tmp_path / "s")) as running:
        client = RawClient(both(running, tmp_path / "s")[way], Random(0))
        direct(client, counted)
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(WAIT))))
        if end == "cancelled":
            client.line.socket.sendall(client.line.frame(write_message(NumberedRequest(0, CancelRequest(client.last)))))
        _, reply = client.reply()
        assert reply.truncated
        assert decode_value(reply.info)["sandbox"]["limit"] == end
        direct(client, counted)
        client.line.socket.sendall(client.line.frame(client.ask(CloseRequest())))
        client.reply()
        client.line.close()


def test_a_client_that_leaves_in_mid_step_is_noticed_and_finds_its_reply(tmp_path: Path, counted: Counter[str]) -> None:
    with serve(Gate, port=0, block=False) as running:
        client = RawClient(running.url, Random(0))
        direct(client, counted)
        (session,) = [running.server.sessions.find(one.id) for one in running.server.sessions.infos()]
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(WAIT))))
        Gate.waiting.acquire()
        client.line.close()
        until(lambda: session.connection is None, "its end was not noticed")
        assert running.server.sessions.infos()[0].running > 0
        client.again()
        Gate.opened.set()
        number, reply = client.reply()
        assert (number, reply.observation) == (client.last, client.last - 1)
        client.line.close()


def test_a_server_stops_while_steps_are_blocked(tmp_path: Path, counted: Counter[str]) -> None:
    running = serve(Gate, port=0, block=False, unix=str(tmp_path / "s"))
    clients = [RawClient(address, Random(0)) for address in both(running, tmp_path / "s").values()]
    for client in clients:
        direct(client, counted)
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(WAIT))))
        Gate.waiting.acquire()
    idle = RawClient(running.url, Random(0))
    direct(idle, counted)
    running.close()  # whose end no step waits for: they are blocked until after it
    for client in (*clients, idle):
        with pytest.raises(ConnectionError):
            client.line.answer()
        client.line.close()


# --- other ways to the same session ---


def test_text_ends_a_connection_that_its_thread_reads(counted: Counter[str]) -> None:
    with serve(Gate, port=0, block=False) as running:
        client = RawClient(running.url, Random(0))
        direct(client, counted)
        client.line.socket.sendall(client.line.frame(b"hello", TEXT))
        kind, data = client.line.read()
        assert (kind, data) == (8, (1003).to_bytes(2, "big"))
        client.line.close()


def test_whoever_answers_pings_stays_and_whoever_does_not_goes(
    monkeypatch: pytest.MonkeyPatch, counted: Counter[str]
) -> None:
    monkeypatch.setattr("ludus.server.uvicorn_server.PING_INTERVAL_S", 0.3)
    with serve(Gate, port=0, block=False) as running:
        lively, dead = RawClient(running.url, Random(0)), RawClient(running.url, Random(0))
        direct(dead, counted)
        counted.clear()
        direct(lively, counted)

        def one_is_left() -> bool:
            lively.line.socket.sendall(lively.line.frame(lively.ask(StepRequest(GO))))
            lively.reply()
            return counted["started"] > 2 and sum(one.connected for one in running.server.sessions.infos()) == 1

        until(one_is_left, "nobody was let go")
        dead.line.close()
        lively.line.close()


def test_a_session_that_is_killed_lets_go_of_its_connection(counted: Counter[str]) -> None:
    with serve(Gate, port=0, block=False) as running:
        client = RawClient(running.url, Random(0))
        direct(client, counted)
        assert httpx.delete(f"{running.url}/v1/sessions/{client.session}").status_code == 200
        client.line.socket.sendall(client.line.frame(client.ask(StepRequest(GO))))
        assert client.reply()[1].kind == "SessionLost"
        client.line.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_environment_that_belongs_to_a_thread_works_in_every_protocol(tmp_path: Path, workers: int) -> None:
    options: dict[str, Any] = {"config": ServerConfig(workers=workers, isolation="none")}
    if workers == 1:
        options["unix"] = str(tmp_path / "s")
    with serve(f"{WORLDS}:Ledger", port=0, block=False, **options) as running:
        addresses = both(running, tmp_path / "s") if workers == 1 else {"ws": running.url}
        for address in [*addresses.values()] * 2:
            with connect(address) as env:
                env.reset(seed=0)
                assert [env.step(one).observation for one in (1, 2, 3, 4, 5)] == [1, 3, 6, 10, 15]
                headers = {"x-session-id": env.session}
                told = httpx.post(f"{running.url}/step", json={"action": 5}, headers=headers).json()
                assert told["observation"] in (20, {"value": 20, "metadata": {}}) or "20" in str(told)
                assert env.step(1).observation == 21
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert httpx.post(f"{running.url}/mcp", json=body).status_code == 200


# --- who drives ---


@pytest.mark.parametrize("way", ["ws", "unix"])
def test_a_session_has_one_driver_at_a_time(tmp_path: Path, way: str) -> None:
    with serve("CartPole-v1", port=0, block=False, unix=str(tmp_path / "s")) as running:
        address = both(running, tmp_path / "s")[way]
        with connect(address) as one, ludus.make("CartPole-v1") as bare:
            bare.reset(seed=1)
            one.reset(seed=1)
            assert difference(tuple(bare.step(0)), tuple(one.step(0)), "step") is None
            with pytest.raises(SessionBusy, match="takeover=True"):
                connect(address, session=one.session)
            assert difference(tuple(bare.step(1)), tuple(one.step(1)), "step") is None
            other = connect(address, session=one.session, takeover=True)
            assert difference(tuple(bare.step(1)), tuple(other.step(1)), "step") is None
            with pytest.raises(SessionTaken, match="another client has taken it over"):
                one.step(0)
            with pytest.raises(SessionTaken):
                one.step(0)
            assert difference(tuple(bare.step(0)), tuple(other.step(0)), "step") is None
            other.close()
