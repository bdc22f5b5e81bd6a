"""Sessions from a client's side: snapshots, forks, state, errors, typed values."""

import gc
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest

import ludus
from ludus.client import TypedClient, connect
from ludus.errors import (
    ClosedEnvironment,
    EnvError,
    InvalidAction,
    InvalidArgument,
    InvalidSeed,
    InvalidType,
    ResetNeeded,
    SnapshotError,
    UnknownEnvironment,
)
from ludus.server import ServerConfig
from ludus.server.protocols.memory import LocalServer
from ludus.testing.equality import difference
from ludus.tools import Call
from tests.client.neighbours import Place, Settlement


@pytest.fixture
def env(server):
    with connect(server.url, env="CartPole-v1") as env:
        env.reset(seed=1)
        yield env


# --- snapshots and forks ---


def test_a_snapshot_is_taken_up_by_another_session_of_the_same_server(server, env):
    before = env.snapshot()
    future = [env.step(number % 2).observation for number in range(5)]
    with connect(server.url, env="CartPole-v1") as other:
        other.restore(before)
        assert difference(future, [other.step(number % 2).observation for number in range(5)], "future") is None
        assert other.np_random_seed == 1
        env.restore(before)
        assert difference(future, [env.step(number % 2).observation for number in range(5)], "future") is None


def test_a_snapshot_of_something_else_is_refused(server, env):
    before = env.snapshot()
    with connect(server.url, env="Pendulum-v1") as other, pytest.raises(SnapshotError, match="stays with its server"):
        other.restore(before)
    with connect(server.url, env="CartPole-v1") as other:
        env.close()
        with pytest.raises(SnapshotError, match="the state went with it"):
            other.restore(before)


def test_snapshots_that_are_forgotten_here_are_forgotten_there():
    with LocalServer("CartPole-v1", config=ServerConfig(max_snapshots=2)) as server, connect(server) as env:
        env.reset(seed=1)
        for _ in range(10):
            env.restore(env.snapshot())
        kept = [env.snapshot(), env.snapshot()]
        with pytest.raises(SnapshotError, match="drop some"):
            env.snapshot()
        kept.pop()
        gc.collect()
        env.snapshot()


def test_forks_go_their_own_ways(server, env):
    env.step(1)
    with env.fork() as twin:
        assert twin.session != env.session
        assert twin.np_random_seed == 1
        assert difference(tuple(env.step(0)), tuple(twin.step(0)), "step") is None
        assert not np.array_equal(env.step(1).observation, twin.step(0).observation)
    with connect(server.url, 3, env="CartPole-v1") as envs:
        envs.reset(seed=1)
        with envs.fork(range(3)) as twins:
            assert difference(tuple(envs.step([0, 1, 0])), tuple(twins.step([0, 1, 0])), "step") is None
        with envs.fork([2, 1, 1, 0]) as twins:
            expected = envs.snapshot()
            step = envs.step([0, 1, 0])
            assert np.array_equal(twins.step([0, 1, 1, 0]).observation, step.observation[[2, 1, 1, 0]])
            envs.restore(expected)
        before = envs.snapshot()
        first = envs.step([1, 1, 1])
        envs.restore(before)
        assert difference(tuple(first), tuple(envs.step([1, 1, 1])), "step") is None


def test_state_is_shown_and_what_is_private_to_whoever_runs_the_episode(server):
    with connect(server.url, env="Moody") as env:
        env.reset()
        env.step(0)
        shown = env.state_data()
        assert (shown["tries"], shown["step_count"]) == (1, 1)
        assert "secret" not in shown
        assert env.state_data(private=True)["secret"] == "a candle"


# --- errors ---


def test_errors_are_of_the_class_that_was_raised(server, env):
    with pytest.raises(InvalidAction):
        env.step(7)
    with pytest.raises(InvalidAction):
        env.step(object())
    with pytest.raises(InvalidSeed):
        env.reset(seed=-1)
    with pytest.raises(InvalidArgument):
        env.reset(options={"hook": print})
    with pytest.raises(InvalidArgument):
        env.reset(options={"unknown": 1})
    with pytest.raises(UnknownEnvironment):
        connect(server.url, env="Nowhere-v0")
    with connect(server.url, env="CartPole-v1") as fresh, pytest.raises(ResetNeeded):
        fresh.step(0)
    env.step(1)


def test_whose_fault_an_error_is(server):
    with connect(server.url, env="Moody") as env:
        assert env.reset(options={"a": (1, np.int8(2))})[1] == {"options": {"a": (1, np.int8(2))}}
        with pytest.raises(InvalidAction) as caught:
            env.step(9)
        assert caught.value.infrastructure is False
        with pytest.raises(EnvError, match="ZeroDivisionError") as caught:
            env.step(1)
        assert caught.value.infrastructure is True
        assert "Moody" in str(caught.value)
        with pytest.raises(EnvError, match="a bad mood\ufffd"):
            env.step(2)
        with pytest.raises(EnvError, match="expected a finite number, got nan"):
            env.step(3)
        assert env.step(0).reward == 1.0


def test_a_closed_environment_says_so(env):
    env.close()
    env.close()
    for use in (env.reset, env.render, env.snapshot, env.state_data, lambda: env.step(0)):
        with pytest.raises(ClosedEnvironment, match="connect again"):
            use()


def test_a_batch_refuses_what_is_no_batch_of_actions(server):
    with connect(server.url, 3, env="CartPole-v1") as envs:
        envs.reset(seed=1)
        for wrong, kind in (([0, 1], InvalidArgument), ([0, 1, 5], InvalidAction), ([0.5, 1.0, 1.0], InvalidAction)):
            with pytest.raises(kind):
                envs.step(wrong)
        assert envs.step([0, 1, 1]).reward.tolist() == [1.0] * 3
        with pytest.raises(InvalidType, match="reset_mask"):
            envs.reset(options={"reset_mask": [True, False, True]})
    with pytest.raises(ClosedEnvironment):
        envs.fork()


# --- typed values ---


@dataclass
class Corner:
    row: int
    column: int


class House(msgspec.Struct):
    place: Corner
    name: str
    rooms: int


@pytest.mark.parametrize(
    "action",
    [
        Settlement(Place(1, 2), "a house", 3),
        House(Corner(1, 2), "a house", 3),
        {"place": {"row": 1, "column": 2}, "name": "a house", "rooms": 3},
    ],
)
def test_any_record_with_the_right_fields_is_an_action(server, action):
    with connect(server.url, env="Settler") as env:
        env.reset()
        assert env.step(action).observation.houses == ["a house at 1, 2"]
    with TypedClient(server.url, env="Settler") as client:
        assert client.reset().observation.houses == []
        result = client.step(action)
        assert (result.observation.houses, result.reward, result.done) == (["a house at 1, 2"], 1.0, False)
        assert client.step(place=Corner(3, 4), name="a hut", rooms=1).observation.houses[1] == "a hut at 3, 4"
        last = client.step(place=Corner(5, 6))  # the rest is filled in at the server
        assert last.observation.houses[2] == "a hut at 5, 6"
        assert (last.done, last.terminated, last.truncated) == (True, True, False)


@pytest.mark.parametrize("wrong", [{"place": 3}, {}, 3, None, House(Corner(1, 2), "a house", 30)])
def test_a_record_with_other_fields_is_none(server, wrong):
    with connect(server.url, env="Settler") as env:
        env.reset()
        with pytest.raises(InvalidAction):
            env.step(wrong)
    with TypedClient(server.url, env="Settler") as client:
        client.reset()
        with pytest.raises(InvalidAction):
            client.step(wrong)


def test_the_typed_style_of_spaces_that_are_no_records(server):
    with TypedClient(server.url, env="CartPole-v1") as client:
        assert client.reset(seed=1).observation.shape == (4,)
        assert client.step(1).reward == 1.0
        assert client.step(action=0).reward == 1.0
        assert client.state().step_count == 2
    with TypedClient(server.url, env="Album") as client:
        assert client.reset(seed=1).observation.page.shape == (12, 16, 3)
    with TypedClient(server.url, env="GridWorld-v0", kwargs={"size": 3}) as client:
        assert client.reset(seed=0).info["goal"].tolist() == [2, 1]


def test_tools_are_called(server):
    with connect(server.url, env="open/EchoTools-v0") as env, ludus.make("open/EchoTools-v0") as bare:
        env.reset()
        bare.reset()
        name = next(iter(env.action_space.tools))
        call = Call(name, {"message": "hello"})
        assert env.step(call).observation.result == bare.step(call).observation.result
    with TypedClient(server.url, env="open/EchoTools-v0") as client:
        client.reset()
        result = client.step(tool=name, arguments={"message": "hello"})
        assert result.observation.error in (None, "")
