"""Lost connections: the episode goes on, no step is repeated, none is lost; and what is said where it cannot."""

import asyncio
from urllib.parse import urlsplit

import numpy as np
import pytest

import ludus
from ludus.client import aconnect, connect
from ludus.errors import ConnectionLost, ServerBusy, SessionLost
from ludus.server import ServerConfig
from ludus.server.protocols.memory import LocalServer
from ludus.server.run import serve
from ludus.testing.equality import difference
from ludus.testing.history import first_difference, play
from tests.client.proxies import CuttingProxy, budgets, never


def port(server):
    return urlsplit(server.url).port


@pytest.mark.parametrize("seed", range(4))
def test_a_history_over_a_line_that_is_cut_in_mid_frame_is_the_uncut_one(server, seed):
    with (
        CuttingProxy(port(server), budgets(seed, 2_500, 6_000)) as proxy,
        connect(proxy.url, env="CartPole-v1") as env,
        ludus.make("CartPole-v1") as bare,
    ):
        assert first_difference(play(bare, seed=seed, steps=400), play(env, seed=seed, steps=400)) is None
        assert env.resumed > 3
        assert env.state_data()["step_count"] <= 400


@pytest.mark.parametrize("seed", range(2))
def test_a_batch_over_a_line_that_is_cut_is_the_uncut_one(server, seed):
    with (
        CuttingProxy(port(server), budgets(seed, 4_000, 9_000)) as proxy,
        connect(proxy.url, 16, env="CartPole-v1") as envs,
        ludus.make_vec("CartPole-v1", 16) as bare,
    ):
        envs.reset(seed=seed)
        bare.reset(seed=seed)
        bare.action_space.seed(seed)
        for number in range(60):
            actions = bare.action_space.sample()
            assert difference(tuple(bare.step(actions)), tuple(envs.step(actions)), f"step {number}") is None
        assert envs.resumed > 2


def test_the_async_form_resumes_too(server):
    async def played(url):
        async with await aconnect(url, env="CartPole-v1") as env:
            seen = [(await env.reset(seed=2))[0]]
            for number in range(200):
                step = await env.step(number % 2)
                seen.append(step.observation)
                if step.done:
                    seen.append((await env.reset())[0])
            return seen, env.resumed

    with CuttingProxy(port(server), budgets(7, 2_000, 5_000)) as proxy:
        cut, resumed = asyncio.run(played(proxy.url))
    uncut, _ = asyncio.run(played(server.url))
    assert resumed > 2
    assert difference(uncut, cut, "observations") is None


def test_snapshots_outlive_the_connection(server):
    with CuttingProxy(port(server), never()) as proxy, connect(proxy.url, env="CartPole-v1") as env:
        env.reset(seed=1)
        before = env.snapshot()
        first = env.step(1)
        proxy.cut_now()
        env.restore(before)
        assert difference(tuple(first), tuple(env.step(1)), "step") is None
        assert env.resumed == 1


def test_a_session_that_the_server_does_not_have_any_more_is_lost():
    with LocalServer("CartPole-v1") as server, connect(server) as env:
        env.reset(seed=1)
        server.run(server.server.sessions.close(server.server.sessions.find(env.session)))
        with pytest.raises(SessionLost) as caught:
            env.step(0)
        assert caught.value.infrastructure


def test_a_session_that_went_with_its_connection_is_lost(server):
    with CuttingProxy(port(server), never()) as proxy, connect(proxy.url, env="CartPole-v1") as env:
        env.reset(seed=1)
        sessions = server.server.sessions
        with connect(server.url, session=env.session, takeover=True) as other:
            other.step(1)
        assert env.session not in [one.id for one in sessions.infos()]
        proxy.cut_now()
        with pytest.raises(SessionLost, match="expected one that is open"):
            env.step(0)


def test_a_server_that_is_gone_is_said_to_be(server):
    running = serve("CartPole-v1", port=0, block=False)
    env = connect(running.url, timeout=5.0)
    env.reset(seed=1)
    running.close()
    with pytest.raises(ConnectionLost, match="expected a server that answers") as caught:
        env.step(0)
    assert caught.value.infrastructure
    env.close()
    env.close()
    with pytest.raises(ConnectionLost, match="is it running"):
        connect(running.url)


def test_another_program_goes_on_with_a_session(server):
    with connect(server.url, env="CartPole-v1") as env, ludus.make("CartPole-v1") as bare:
        env.reset(seed=3)
        bare.reset(seed=3)
        env.step(1)
        bare.step(1)
        with connect(server.url, session=env.session, takeover=True) as other:
            assert np.array_equal(other.step(0).observation, bare.step(0).observation)


def test_a_busy_server_is_asked_again_when_it_says():
    config = ServerConfig(max_sessions=1, queue_seconds=0.05)
    with LocalServer("CartPole-v1", config=config) as server:
        first = connect(server)
        with pytest.raises(ServerBusy) as caught:
            connect(server, timeout=3.0)
        assert caught.value.retry_after >= 1.0
        answered = []

        def opened():
            connection = server()
            if answered:
                first.close()
            answered.append(connection)
            return connection

        with connect(opened, timeout=60) as second:
            second.reset(seed=0)
        assert len(answered) == 2


def test_an_answer_that_does_not_come_in_time_is_given_up_and_the_session_goes_on():
    with LocalServer("CartPole-v1") as server:
        slow = Slow(server)
        with connect(slow, timeout=20.0) as env, ludus.make("CartPole-v1") as bare:
            env.reset(seed=1)
            bare.reset(seed=1)
            slow.late = True
            with pytest.raises(ConnectionLost, match="it was cancelled") as caught:
                env.step(0)
            assert caught.value.infrastructure
            if env.state_data()["step_count"]:  # else it was cancelled before it began
                bare.step(0)
            assert np.array_equal(env.step(1).observation, bare.step(1).observation)


class Slow:
    """Opens connections whose next answer comes too late, where `late`."""

    def __init__(self, server):
        self.server, self.late = server, False

    def __call__(self):
        self.inner = self.server()
        return self

    def send(self, data):
        self.inner.send(data)

    def receive(self, seconds):
        if self.late:
            self.late = False
            raise TimeoutError("timed out")
        return self.inner.receive(seconds)

    def close(self):
        self.inner.close()
