"""A server with its pages, and a real browser in front of it."""

import pytest
from playwright.sync_api import sync_playwright

from ludus.envs.open.browsergym.chromium import program
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
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
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, running):
    """Opens watched pages: `opened(url=…, **options of the context)`; what they said is nothing, at the end."""
    contexts, pages = [], []

    def open_page(url=running.url, **options):
        context = browser.new_context(viewport=options.pop("viewport", {"width": 1280, "height": 860}), **options)
        context.set_default_timeout(30_000)  # machines are shared
        contexts.append(context)
        pages.append(Watched(context.new_page(), url))
        return pages[-1]

    yield open_page
    for context in contexts:
        context.close()
    assert [said for page in pages for said in page.said] == []


@pytest.fixture
def page(opened):
    return opened()
