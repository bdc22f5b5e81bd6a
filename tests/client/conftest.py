"""One server for all tests of the client, on a real socket."""

import pytest

from ludus.server.run import serve

SERVED = (
    "CartPole-v1",
    "GridWorld-v0",
    "Pendulum-v1",
    "FrozenLake-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "open/Echo-v0",
    "open/EchoTools-v0",
    "tests.client.neighbours:Album",
    "tests.client.neighbours:Moody",
    "tests.client.neighbours:Settler",
)


@pytest.fixture(scope="session")
def server():
    """A server of many environments."""
    with serve(*SERVED, port=0, block=False) as running:
        yield running
