"""`EnvClient`: what programs of OpenEnv expect of it, against our own server."""

import asyncio
import gc

import pytest

from ludus.client import EnvClient, GenericEnvClient, connect
from ludus.errors import InvalidAction, InvalidArgument, ServiceError


@pytest.fixture
def echo(server):
    return f"{server.url}/env/open/Echo-v0"


class Provider:
    """As OpenEnv's: starts something, says where, and stops it."""

    def __init__(self, url):
        self.url, self.calls = url, []

    def start_container(self, image, **options):
        self.calls.append((image, options))
        return self.url

    def wait_for_ready(self, url):
        self.calls.append(url)

    def stop_container(self):
        self.calls.append("stopped")


def test_a_provider_starts_and_stops_what_serves(echo):
    provider = Provider(echo)
    with EnvClient.from_docker_image("an-image", provider=provider, env_vars={"A": "1"}) as client:
        client.reset()
        assert client.base_url == echo
    assert provider.calls == [("an-image", {"env_vars": {"A": "1"}}), echo, "stopped"]


def test_it_is_awaited_in_an_event_loop_and_not_elsewhere(echo):
    client = GenericEnvClient(base_url=echo, connect_timeout_s=5, max_message_size_mb=10)
    assert client.connect() is client
    client.reset()
    assert client.step({"message": "hi"}).observation["message_length"] == 2
    assert client.state().step_count == 1

    async def main():
        assert (await client.step({"message": "still here"})).reward == pytest.approx(1.0)
        other = await GenericEnvClient.from_url(echo)
        await other.reset()
        with pytest.raises(ServiceError, match="expected `await`"):
            await asyncio.to_thread(other.state)
        await other.close()

    asyncio.run(main())
    client.close()
    client.disconnect()


def test_what_it_does_not_know_is_refused(echo):
    with pytest.raises(InvalidArgument, match="got colour"):
        EnvClient(echo, colour="red")
    with pytest.raises(InvalidArgument, match="expected a base_url"):
        EnvClient().reset()
    with EnvClient(echo) as client:
        client.reset()
        with pytest.raises(InvalidArgument, match="got timeout_s beside it"):
            client.step({"message": "hi"}, timeout_s=3)
        with pytest.raises(InvalidAction, match="a record or a dictionary"):
            client.step(3)


def test_a_forgotten_client_closes_its_socket(echo):
    client = EnvClient(echo)
    client.reset()
    line = client._line
    del client
    gc.collect()
    assert line._socket is None


def test_a_fork_is_made_with_the_same_arguments(server):
    with connect(server.url, env="GridWorld-v0", kwargs={"size": 3}) as env:
        env.reset(seed=0)
        with env.fork() as twin:
            assert twin.observation_space == env.observation_space
            assert twin.step(1).observation.tolist() == env.step(1).observation.tolist()


def test_a_session_has_its_environment_already(server):
    with connect(server.url, 2, env="CartPole-v1") as envs:
        envs.reset(seed=1)
        with connect(server.url, session=envs.session, takeover=True) as same:
            assert same.batch_shape == (2,)
            assert same.step([0, 1]).reward.tolist() == [1.0, 1.0]
        with pytest.raises(InvalidArgument, match="expected nothing beside it"):
            connect(server.url, session=envs.session, kwargs={"size": 3})
