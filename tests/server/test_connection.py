"""The wire's session protocol, over a link in memory: numbers, repetition, cancelling, taking over, going on."""

import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

import ludus
from ludus.errors import AccessDenied
from ludus.server import handshake
from ludus.server.access import Access, Principal
from ludus.server.config import ServerConfig
from ludus.server.protocols.memory import LocalServer
from ludus.server.served_env import ServedEnv
from ludus.wire import FrameLimits, SpaceCodec, decode_value, read_space
from ludus.wire.dialogue import WINDOW_REQUESTS
from ludus.wire.infos import read_infos
from ludus.wire.messages import (
    BatchResetRequest,
    BatchStepRequest,
    CloseRequest,
    DoneReply,
    FailedReply,
    ForkReply,
    ForkRequest,
    HelloRequest,
    NumberedRequest,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SnapshotReply,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    WelcomeReply,
    write_message,
)
from tests.server.wired import Caller, same, sessions, wait_until
from tests.server.wired_worlds import FAIL, GO, WAIT, Film, Gate, Sleeper

AGENT, OBSERVER = Principal("agent", "a"), Principal("observer", "o")


@pytest.fixture(scope="module")
def local() -> Iterator[LocalServer]:
    offered = ["CartPole-v1", "GridWorld-v0", ServedEnv(Gate, "gate"), ServedEnv(Film, "film"), "open/Echo-v0"]
    with LocalServer(*offered, config=ServerConfig(max_snapshots=4)) as server:
        yield server


@pytest.fixture(autouse=True)
def shut() -> Iterator[None]:
    Gate.opened.clear()
    while Gate.waiting.acquire(blocking=False):
        pass
    yield
    Gate.opened.set()


# --- hello ---


def test_a_welcome_says_what_the_session_is(local: LocalServer) -> None:
    caller = Caller(local, env="CartPole-v1")
    told = caller.welcome
    assert type(told) is WelcomeReply
    with ludus.make("CartPole-v1") as env:
        assert read_space(told.observation_space) == env.observation_space
        assert read_space(told.action_space) == env.action_space
    assert (told.env, told.lanes, told.name, told.role, told.last) == ("CartPole-v1", 0, "CartPole", "orchestrator", 0)
    assert told.limits == {"size": 64 << 20, "depth": 32, "items": 1 << 20}
    assert ludus.core.EnvSpec.from_json(told.spec).id == "CartPole-v1"
    assert type(caller.ask(CloseRequest())) is DoneReply
    with pytest.raises(ConnectionError):
        caller.read()


@pytest.mark.parametrize(
    ("hello", "kind", "why"),
    [
        ({"env": "Nowhere-v0"}, "UnknownEnvironment", "expected one of CartPole-v1"),
        ({"session": "0.unknown"}, "SessionLost", "expected one that is open"),
        ({"protocol": 99}, "CodecError", "expected protocol 2, got 99"),
        ({"lanes": -1}, "InvalidArgument", "lanes: expected 0 to 65536, got -1"),
        ({"lanes": 1 << 40}, "InvalidArgument", "lanes: expected 0 to 65536"),
        ({"lanes": 2, "autoreset_mode": "Sometimes"}, "InvalidArgument", "Sometimes"),
        ({"arguments": {"isolation": "none"}}, "InvalidArgument", "unknown argument 'isolation'"),
        ({"arguments": {"num_workers": 9}, "lanes": 2}, "InvalidArgument", "unknown argument 'num_workers'"),
        ({"arguments": {"a b": 1}}, "InvalidArgument", "constructor, got 'a b'"),
        ({"arguments": {"render_mode": "human"}}, "InvalidArgument", "one without a window"),
        ({"arguments": {"$object": 1}}, "CodecError", "expected one of the tags"),
        ({"env": "gate", "arguments": {"nothing": 1}}, "", "nothing"),
    ],
)
def test_a_hello_that_cannot_be_met_is_told_why(local: LocalServer, hello: Any, kind: str, why: str) -> None:
    before = sessions(local)
    caller = Caller(local, **hello)
    assert type(caller.welcome) is FailedReply
    assert why in caller.welcome.message
    assert kind in caller.welcome.kind
    with pytest.raises(ConnectionError):
        caller.read()
    assert sessions(local) == before


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x00" * 100,
        write_message(NumberedRequest(1, HelloRequest())),
        write_message(NumberedRequest(0, RenderRequest())),
    ],
)
def test_a_connection_that_begins_with_another_message_is_ended(local: LocalServer, data: bytes) -> None:
    connection = local()
    connection.send(data)
    assert b"CodecError" in connection.receive(60)
    with pytest.raises(ConnectionError):
        connection.receive(60)


def test_a_connection_that_says_nothing_is_ended(local: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "HELLO_DEADLINE_S", 0.05)
    connection = local()
    with pytest.raises(ConnectionError):
        connection.receive(60)


# --- histories ---


def sent(data: Any) -> Any:
    """What the other side gets."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(data))


@pytest.mark.parametrize("id", ["CartPole-v1", "GridWorld-v0", "open/Echo-v0"])
def test_a_history_is_that_of_the_environment_itself(local: LocalServer, id: str) -> None:
    caller = Caller(local, env=id)
    with ludus.make(id) as env:
        seen, acted = SpaceCodec(env.observation_space), SpaceCodec(env.action_space)
        env.action_space.seed(3)
        for seed in (5, None):
            observation, info = env.reset(seed=seed) if seed is not None else env.reset(seed=6)
            reply = caller.reset(5 if seed is not None else 6)
            assert reply.observation == sent(seen.write(observation))
            np.testing.assert_equal(decode_value(reply.info), info)
            for _ in range(30):
                action = env.action_space.sample()
                step = env.step(action)
                reply = caller.step(acted.write(action))
                assert reply.observation == sent(seen.write(step.observation))
                assert (reply.reward, reply.terminated, reply.truncated) == (
                    step.reward,
                    step.terminated,
                    step.truncated,
                )
                np.testing.assert_equal(decode_value(reply.info), step.info)
                if step.terminated or step.truncated:
                    break
    caller.ask(CloseRequest())


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("id", ["CartPole-v1", "GridWorld-v0"])
def test_a_batch_is_one_session_and_its_history_that_of_the_batch(local: LocalServer, id: str, mode: str) -> None:
    caller = Caller(local, env=id, lanes=3, autoreset_mode=mode, arguments={"max_episode_steps": 5})
    assert (caller.welcome.lanes, caller.welcome.autoreset_mode) == (3, mode)
    with ludus.make_vec(id, 3, autoreset_mode=mode, max_episode_steps=5) as envs:
        seen, acted = SpaceCodec(envs.observation_space), SpaceCodec(envs.action_space)
        finals = SpaceCodec(envs.single_observation_space)
        observation, info = envs.reset(seed=1)
        reply = caller.ask(BatchResetRequest(1, None))
        assert reply.observations == seen.write(observation)
        same(read_infos(reply.infos, finals, 3), info)
        envs.action_space.seed(0)
        for _ in range(12):
            actions = envs.action_space.sample()
            step = envs.step(actions)
            reply = caller.ask(BatchStepRequest(acted.write(actions)))
            assert reply.observations == seen.write(step.observation)
            assert reply.rewards == step.reward.astype("<f8").tobytes()
            assert (reply.terminated, reply.truncated) == (step.terminated.tobytes(), step.truncated.tobytes())
            same(read_infos(reply.infos, finals, 3), step.info)
            done = step.terminated | step.truncated
            if mode == "Disabled" and done.any():
                options = {"reset_mask": {"$array": done.tobytes(), "dtype": "bool", "shape": [3]}}
                assert caller.ask(BatchResetRequest(None, options)).observations
                envs.reset(options={"reset_mask": done})
                break
    assert caller.ask(StepRequest(0)).message.startswith("a batch: expected another request")
    caller.ask(CloseRequest())


# --- errors ---


def test_errors_are_told_and_leave_the_session_as_it_was(local: LocalServer) -> None:
    caller = Caller(local, env="CartPole-v1")
    assert caller.step(0).kind == "ResetNeeded"
    assert caller.reset(seed=-3).kind == "InvalidSeed"
    assert caller.reset(options=[1]).kind == "InvalidArgument"
    assert type(caller.reset(3)) is ResetReply
    for action in (2, -1, 0.0, "0", None, [0], {"$int": "ff"}, b"\0"):
        reply = caller.step(action)
        assert (reply.kind, reply.infrastructure, reply.trace) == ("InvalidAction", False, "")
    assert caller.ask(RestoreRequest(7)).kind == "SnapshotError"
    assert caller.ask(BatchStepRequest(b"")).kind == "InvalidArgument"
    assert type(caller.step(1)) is StepReply


def test_what_the_code_of_an_environment_raises_is_marked(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    reply = caller.step(FAIL)
    assert (reply.kind, reply.message, reply.infrastructure) == ("ZeroDivisionError", "by nothing", True)
    assert "wired_worlds" in reply.trace
    agent = Caller(lambda: local.connect(AGENT), session=caller.welcome.session, takeover=True)
    assert agent.step(FAIL).trace == ""
    assert type(agent.step(GO)) is StepReply


def test_garbage_in_a_session_is_answered_and_counts_for_nothing(local: LocalServer) -> None:
    caller = Caller(local, env="CartPole-v1")
    caller.reset()
    for data in (b"", b"\xc1", b"\x94\x02\x91\x01\xc0\x00", bytes(5000)):
        caller.connection.send(data)
        answered = caller.read()
        assert (answered.number, answered.reply.kind) == (0, "CodecError")
    caller.post(0, StepRequest(0))
    assert "number from 1 on" in caller.read().reply.message
    caller.post(99, StepRequest(0))
    assert "expected request 2, or again one" in caller.reply(99).message
    assert type(caller.step(0)) is StepReply


def test_a_reply_that_is_too_large_is_an_error() -> None:
    config = ServerConfig(limits=FrameLimits(size=4096))
    with LocalServer(ServedEnv(Film, "film", config=config), config=config) as local:
        caller = Caller(local, arguments={"height": 4})
        assert type(caller.reset()) is ResetReply
        large = Caller(local, arguments={"height": 400})
        assert "reply: expected at most 4096 bytes" in large.reset().message
        assert "reply: expected at most 4096 bytes" in large.step(3).message


# --- numbers ---


def test_many_requests_may_be_under_way_and_are_answered_in_order(local: LocalServer) -> None:
    for env in ("CartPole-v1", "gate"):
        caller = Caller(local, env=env)
        numbers = [caller.begin(ResetRequest(3, None)), *(caller.begin(StepRequest(0)) for _ in range(40))]
        answers = [caller.read() for _ in numbers]
        assert [one.number for one in answers] == numbers
        caller.ask(CloseRequest())


def test_more_than_the_window_is_refused_and_nothing_is_lost(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    caller.begin(StepRequest(WAIT))
    Gate.waiting.acquire()
    for _ in range(WINDOW_REQUESTS):
        caller.begin(StepRequest(GO))
    refused = caller.reply(caller.last)
    assert "at most 64 requests under way" in refused.message
    Gate.opened.set()
    assert [caller.reply(number).observation for number in range(2, WINDOW_REQUESTS + 2)] == list(
        range(1, WINDOW_REQUESTS + 1)
    )
    caller.last -= 1
    assert caller.step(GO).observation == WINDOW_REQUESTS + 1


def test_a_request_that_is_sent_again_is_not_carried_out_again(local: LocalServer) -> None:
    for env in ("CartPole-v1", "gate"):
        caller = Caller(local, env=env)
        caller.reset()
        first = caller.step(GO)
        for _ in range(3):
            caller.post(2, StepRequest(GO))
            assert caller.reply(2) == first
        assert caller.ask(StateRequest()).value["step_count"] == 1
        caller.post(4, StepRequest(GO), received=3)  # whatever is confirmed is not there again
        caller.post(2, StepRequest(GO))
        assert caller.reply(2).kind == "CodecError"


def test_a_request_that_is_sent_again_while_it_runs_is_answered_once(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    caller.begin(StepRequest(WAIT))
    Gate.waiting.acquire()
    caller.drop()
    again = caller.again(local)
    assert again.welcome.last == 2
    again.post(2, StepRequest(WAIT))
    again.post(2, StepRequest(WAIT))
    again.post(3, StateRequest())
    again.post(0, StepRequest(0))
    again.reply(0)  # all of it has been read
    Gate.opened.set()
    assert again.read().reply.observation == 1
    assert again.read().reply.value["step_count"] == 1


# --- cancelling ---


def test_a_request_that_waits_can_be_cancelled(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    first, second, third = (caller.begin(StepRequest(one)) for one in (WAIT, GO, GO))
    Gate.waiting.acquire()
    caller.cancel(second)
    caller.cancel(12345)
    caller.cancel(-1)
    caller.post(0, StepRequest(0))
    caller.reply(0)  # whatever was sent before has been read
    Gate.opened.set()
    assert caller.reply(first).observation == 1
    reply = caller.reply(second)
    assert (reply.kind, reply.infrastructure) == ("Cancelled", False)
    assert caller.reply(third).observation == 2
    caller.post(second, StepRequest(GO))
    assert caller.reply(second).kind == "Cancelled"
    session = local.server.sessions.find(caller.welcome.session)
    assert not session.cancelled


@pytest.mark.parametrize("lanes", [0, 2])
def test_a_step_in_isolation_can_be_cancelled_while_it_runs(lanes: int) -> None:
    config = ServerConfig(isolation="process", deadline=60.0)
    with LocalServer(ServedEnv(f"{Sleeper.__module__}:Sleeper", "s", config=config), config=config) as local:
        caller = Caller(local, lanes=lanes)
        reset: Any = BatchResetRequest(0, None) if lanes else ResetRequest(0, None)
        wait: Any = BatchStepRequest(np.full(lanes, WAIT, np.int64).tobytes()) if lanes else StepRequest(WAIT)
        caller.ask(reset)
        session = local.server.sessions.find(caller.welcome.session)
        number = caller.begin(wait)
        wait_until(local, lambda: session.under_way == number)
        caller.cancel(number)
        reply = caller.reply(number)
        if lanes:
            assert reply.truncated == b"\1" * lanes
            assert "sandbox" in reply.infos
        else:
            assert reply.truncated
            assert reply.info["sandbox"]["limit"] == "cancelled"
        caller.ask(reset)
        go: Any = BatchStepRequest(np.full(lanes, GO, np.int64).tobytes()) if lanes else StepRequest(GO)
        assert type(caller.ask(go)) is not FailedReply


# --- connections that come and go ---


def test_a_session_goes_on_after_its_connection_was_lost(local: LocalServer) -> None:
    caller = Caller(local, env="CartPole-v1")
    caller.reset(4)
    first = caller.step(1)
    caller.drop()
    again = caller.again(local)
    assert (again.welcome.session, again.welcome.last) == (caller.welcome.session, 2)
    again.post(2, StepRequest(1))
    assert again.reply(2) == first
    with ludus.make("CartPole-v1") as env:
        env.reset(seed=4)
        env.step(1)
        assert again.step(0).observation == env.step(0).observation.tobytes()


def test_a_new_connection_of_the_same_client_takes_the_session_over(local: LocalServer) -> None:
    older = Caller(local, env="CartPole-v1")
    older.reset()
    newer = older.again(local)
    with pytest.raises(ConnectionError):
        older.read()
    assert type(newer.step(0)) is StepReply
    wait_until(local, lambda: local.server.sessions.find(newer.welcome.session).connection is not None)


def test_a_second_client_is_told_that_the_session_is_driven(local: LocalServer) -> None:
    one = Caller(local, env="gate")
    one.reset()
    assert one.step(GO).observation == 1
    for client in ("", "another"):
        refused = Caller(local, session=one.welcome.session, client=client).welcome
        assert (refused.kind, refused.infrastructure) == ("SessionBusy", False)
        assert "expected one that no other client is connected to" in refused.message
        assert "takeover=True" in refused.message
    assert one.step(GO).observation == 2


def test_after_a_takeover_the_former_driver_is_told_and_gets_nothing(local: LocalServer) -> None:
    one = Caller(local, env="gate")
    one.reset()
    under_way = one.begin(StepRequest(WAIT))
    Gate.waiting.acquire()
    other = Caller(local, session=one.welcome.session, takeover=True)
    assert other.welcome.last == under_way
    with pytest.raises(ConnectionError):
        one.read()
    told = one.again(local).welcome
    assert (told.kind, "has taken it over" in told.message) == ("SessionTaken", True)
    mine = other.begin(StepRequest(GO))
    Gate.opened.set()
    answered = other.read()
    assert (answered.number, answered.reply.observation) == (
        mine,
        2,
    )  # the other's reply is not ours
    other.post(under_way, StepRequest(GO))
    assert other.reply(under_way).kind == "SessionTaken"
    other.drop()
    wait_until(local, lambda: local.server.sessions.find(one.welcome.session).connection is None)
    assert one.again(local).welcome.kind == "SessionTaken"  # though nobody is connected now
    back = one.again(local, takeover=True)
    assert back.step(GO).observation == 3
    assert other.again(local).welcome.kind == "SessionTaken"


def test_whoever_comes_when_nobody_is_connected_drives(local: LocalServer) -> None:
    one = Caller(local, env="gate")
    one.reset()
    one.drop()
    wait_until(local, lambda: local.server.sessions.find(one.welcome.session).connection is None)
    other = Caller(local, session=one.welcome.session)
    assert other.step(GO).observation == 1
    assert one.again(local).welcome.kind == "SessionTaken"


def test_a_connection_of_another_protocol_is_taken_over_too(local: LocalServer) -> None:
    class Other:
        closed = 0

        def close(self) -> None:
            Other.closed += 1

    caller = Caller(local, env="CartPole-v1")
    caller.drop()
    session = local.server.sessions.find(caller.welcome.session)
    wait_until(local, lambda: session.connection is None)
    session.connection = Other()
    assert type(Caller(local, session=session.id, takeover=True).welcome) is WelcomeReply
    assert Other.closed == 1


def test_a_session_that_is_lost_while_it_is_greeted_is_told(local: LocalServer) -> None:
    caller = Caller(local, env="CartPole-v1")
    caller.drop()
    session = local.server.sessions.find(caller.welcome.session)
    hosted, session.hosted = session.hosted, None
    again = caller.again(local)
    assert again.welcome.kind == "SessionLost"
    wait_until(local, lambda: session.connection is None)
    session.hosted = hosted


def test_the_welcome_comes_before_replies_to_an_older_connection(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    for _ in range(20):
        Gate.opened.clear()
        number = caller.begin(StepRequest(WAIT))
        Gate.waiting.acquire()
        threading.Timer(0.0, Gate.opened.set).start()
        newer = caller.again(local)  # reads the welcome first, or fails
        newer.post(number, StepRequest(WAIT))
        assert newer.reply(number).observation
        caller = newer


def test_a_session_that_was_closed_is_gone(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.ask(CloseRequest())
    again = Caller(local, session=caller.welcome.session)
    assert (again.welcome.kind, again.welcome.infrastructure) == ("SessionLost", True)
    assert "it was closed" in again.welcome.message


def test_a_connection_that_ends_before_its_session_is_there_leaves_none() -> None:
    config = ServerConfig(max_sessions=1)
    with LocalServer(ServedEnv(Gate, "gate", config=config), config=config) as local:
        first = Caller(local)
        waiting = local()
        waiting.send(write_message(NumberedRequest(0, HelloRequest())))
        wait_until(local, lambda: local.server.sessions.waiting == 1)
        waiting.close()
        wait_until(local, lambda: local.server.sessions.waiting == 0)
        first.ask(CloseRequest())
        assert type(Caller(local).welcome) is WelcomeReply
        assert sessions(local) == 1


# --- snapshots and forks ---


def test_snapshots_are_gone_back_to_and_dropped(local: LocalServer) -> None:
    caller = Caller(local, env="CartPole-v1")
    caller.reset()
    number = caller.ask(SnapshotRequest([])).number
    first = caller.step(1)
    for _ in range(2):
        assert type(caller.ask(RestoreRequest(number))) is DoneReply
        assert caller.ask(StateRequest()).value["step_count"] == 0
        assert caller.step(1) == first
    numbers = [caller.ask(SnapshotRequest([])).number for _ in range(3)]
    assert "at most 4 of a session" in caller.ask(SnapshotRequest([])).message
    assert type(caller.ask(SnapshotRequest([number, *numbers, 999]))) is SnapshotReply
    assert caller.ask(RestoreRequest(number)).kind == "SnapshotError"


@pytest.mark.parametrize("lanes", [0, 2])
def test_a_fork_goes_its_own_way(local: LocalServer, lanes: int) -> None:
    caller = Caller(local, env="CartPole-v1", lanes=lanes, arguments={"max_episode_steps": 7})
    reset: Any = BatchResetRequest(3, None) if lanes else ResetRequest(3, None)
    step: Any = BatchStepRequest(np.ones(lanes, np.int64).tobytes()) if lanes else StepRequest(1)
    caller.ask(reset)
    kept = caller.ask(SnapshotRequest([])).number
    first = caller.ask(step)
    second = caller.ask(step)
    fork = caller.ask(ForkRequest(kept))
    assert type(fork) is ForkReply
    twin = Caller(local, session=fork.session)
    assert (twin.welcome.lanes, twin.welcome.last) == (lanes, 0)
    assert twin.ask(step) == first
    now = Caller(local, session=twin.ask(ForkRequest(0)).session)
    assert now.ask(step) == second
    assert twin.ask(step) == second
    for _ in range(3):
        caller.ask(step)
    assert now.ask(StateRequest()).value["step_count"] == 2
    assert caller.ask(ForkRequest(99)).kind == "SnapshotError"


# --- roles ---


def test_an_agent_steps_and_does_nothing_else(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    agent = Caller(lambda: local.connect(AGENT), session=caller.welcome.session, takeover=True)
    assert agent.welcome.role == "agent"
    assert type(agent.step(GO)) is StepReply
    others = [ResetRequest(0, None), StateRequest(), StateRequest(True), RenderRequest()]
    for request in [*others, SnapshotRequest([]), RestoreRequest(1), ForkRequest(0), CloseRequest()]:
        reply = agent.ask(request)
        assert (reply.kind, reply.infrastructure) == ("AccessDenied", False)
    assert type(agent.step(GO)) is StepReply
    assert Caller(lambda: local.connect(AGENT), env="gate").welcome.kind == "AccessDenied"


def test_an_observer_has_no_session(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    for hello in ({"env": "gate"}, {"session": caller.welcome.session}):
        assert Caller(lambda: local.connect(OBSERVER), **hello).welcome.kind == "AccessDenied"
    assert type(caller.reset()) is ResetReply


def test_replies_to_others_are_not_for_an_agent(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    assert caller.ask(StateRequest(True)).value["answer"] == "a candle"
    assert "answer" not in caller.ask(StateRequest()).value
    waiting = caller.begin(StepRequest(WAIT))
    Gate.waiting.acquire()
    secret = caller.begin(StateRequest(True))
    agent = Caller(lambda: local.connect(AGENT), session=caller.welcome.session, takeover=True)
    for old in (2, secret, waiting):  # answered, waiting, under way: none is this client's
        agent.post(old, StepRequest(GO))
        assert agent.reply(old).kind == "SessionTaken"
    after = agent.begin(StepRequest(GO))
    Gate.opened.set()
    assert type(agent.reply(after)) is StepReply
    assert not agent.heard
    agent.post(secret, StepRequest(GO))
    assert agent.reply(secret).kind == "SessionTaken"


def test_what_a_client_asked_in_another_role_is_not_repeated_to_it(local: LocalServer) -> None:
    caller = Caller(local, env="gate")
    caller.reset()
    assert caller.ask(StateRequest(True)).value["answer"] == "a candle"
    waiting = caller.begin(StepRequest(WAIT))
    Gate.waiting.acquire()
    secret = caller.begin(StateRequest(True))
    agent = caller.again(lambda: local.connect(AGENT))
    agent.post(2, StepRequest(GO))
    assert agent.reply(2).kind == "AccessDenied"
    agent.post(secret, StepRequest(GO))
    agent.post(waiting, StepRequest(GO))
    after = agent.begin(StepRequest(GO))
    Gate.opened.set()
    assert type(agent.reply(after)) is StepReply
    assert secret not in agent.heard
    agent.post(secret, StepRequest(GO))
    assert agent.reply(secret).kind == "AccessDenied"


def test_tokens_are_asked_for() -> None:
    access = Access({"an-agents-own-token": "agent", "the-runners-own-token": "orchestrator"})
    with LocalServer("CartPole-v1", access=access) as local:
        with pytest.raises(AccessDenied):
            local()
        assert Caller(lambda: local("the-runners-own-token")).welcome.role == "orchestrator"


# --- how large messages travel ---


def test_large_messages_are_compressed_both_ways(local: LocalServer) -> None:
    caller = Caller(local, env="film", compression="zstd", arguments={"height": 300})
    assert caller.welcome.compression == "zstd"
    caller.begin(ResetRequest(0, None))
    data = caller.connection.receive(60)
    assert data[:4] == b"\x28\xb5\x2f\xfd"
    assert len(data) < 1000
    caller.post(2, ResetRequest(0, {"padding": "x" * 5000}))
    assert "which it did not look at" in caller.reply(2).message
    caller.connection.send(b"\x28\xb5\x2f\xfd" + bytes(20))
    assert caller.reply(0).kind == "CodecError"


def test_compression_that_is_not_there_is_refused(local: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    welcome = Caller(local, env="film", compression="zstd").welcome
    assert (welcome.kind, "pip install zstandard" in welcome.message) == ("MissingExtra", True)


def test_large_replies_are_forgotten_once_they_are_confirmed(local: LocalServer) -> None:
    caller = Caller(local, env="film", arguments={"height": 300})
    dialogue = local.server.sessions.find(caller.welcome.session).dialogue
    for number in range(1, 20):
        caller.post(number, ResetRequest(0, None), received=number - 1)
        caller.reply(number)
    assert dialogue.kept == 1
