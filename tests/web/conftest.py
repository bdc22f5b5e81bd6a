"""A server with its pages, and a real browser in front of it."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from ludus.serve.run import serve
from ludus.serve.served import Served
from tests.web.worlds import HOSTILE, Forms, Hostile, Maze, Shop

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def running():
    targets = ("CartPole-v1", "MountainCarContinuous-v0", "Taxi-v4", "open/Echo-v0", "open/EchoTools-v0")
    own = Served(Forms, "forms"), Served(Shop, "shop"), Served(Maze, "maze"), Served(Hostile, HOSTILE)
    with serve(*targets, *own, port=0, block=False) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    """Ended with its module: while it is there an event loop is running, and other tests want their own."""
    assert CHROMIUM is not None, "expected chromium, which scripts/system.sh installs, got none"
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Watched:
    """A page of a browser, and everything it should not have said."""

    def __init__(self, page, url):
        self.page, self.url, self.said = page, url, []
        page.on("console", lambda one: self.said.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def visit(self, where=""):
        self.page.goto(f"{self.url}/{where}")
        return self.page


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
