"""A server with its pages, and a real browser in front of it."""

import pytest

from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from tests.browsers import chromium, new_page
from tests.web.watched import Watched
from tests.web.worlds import HOSTILE, Forms, Hostile, Maze, Shop


@pytest.fixture(scope="session")
def running():
    targets = ("CartPole-v1", "MountainCarContinuous-v0", "Taxi-v4", "open/Echo-v0", "open/EchoTools-v0")
    own = ServedEnv(Forms, "forms"), ServedEnv(Shop, "shop"), ServedEnv(Maze, "maze"), ServedEnv(Hostile, HOSTILE)
    with serve(*targets, *own, port=0, block=False) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    """Ended with its module: while it is there an event loop is running, and other tests want their own."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser, running):
    """Opens watched pages: `opened(url=…, **options of the context)`; what they said is nothing, at the end."""
    pages = []

    def open_page(url=running.url, **options):
        pages.append(Watched(new_page(browser, **{"viewport": {"width": 1280, "height": 860}, **options}), url))
        return pages[-1]

    yield open_page
    for page in pages:
        page.page.context.close()
    assert [said for page in pages for said in page.said] == []


@pytest.fixture
def page(opened):
    return opened()
