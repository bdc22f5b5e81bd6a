"""Pages of a real browser, and everything that they should not have said or asked for."""

import re

from playwright.sync_api import Error

from tests.browsers import settle
from tests.patience import until

CHANGED = "ERR_NETWORK_CHANGED"
"""What Chromium says of requests that it drops, those to this machine as well, when other tests' containers join a
network or leave it."""
TIMES = 5


class Held:
    """The next question of a page for an address: kept on its way until it is let go."""

    def __init__(self, page, address):
        self.page, self.address, self.route = page, re.compile(re.escape(address) + "$"), None
        page.route(self.address, self._hold)

    def _hold(self, route):
        if self.route:
            route.continue_()
        self.route = self.route or route

    def wait(self):
        """Until it is asked, and held."""
        until(lambda: self.route or settle(self.page), f"a question for {self.address.pattern}")

    def let_go(self):
        """Have it answered, and whatever the page makes of the answer drawn."""
        with self.page.expect_event("requestfinished", lambda request: request == self.route.request):
            self.route.continue_()
        self.page.evaluate("() => fetch(location.href).then((one) => one.text())")  # answered after it
        settle(self.page)


class Watched:
    """A page; what it says to the console, what fails in it, which dialogs it opens, and what it asks for."""

    def __init__(self, page, url=""):
        self.page, self.url, self.said, self.asked, self.changes = page, url, [], [], 0
        page.on("console", lambda one: self._hear(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: self._hear(f"error: {error}"))
        page.on("dialog", lambda dialog: (self._hear(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))

    def _hear(self, text):
        if CHANGED in text:
            self.changes += 1
        else:
            self.said.append(text)

    def heard(self, word, times=1):
        """What was said with a word in it, once it was said so often; it is forgotten."""
        while sum(word in said for said in self.said) < times:
            self.page.wait_for_event("console")
        found = [said for said in self.said if word in said]
        self.said[:] = [said for said in self.said if word not in said]
        return found

    def visit(self, where="", wait="body"):
        """Go to an address, until what is waited for is there; again where the network changed meanwhile."""
        for time in range(TIMES):
            before = self.changes
            try:
                self.page.goto(where if "://" in where else f"{self.url}/{where}")
                self.page.wait_for_selector(wait, state="attached")
            except Error as error:
                if time == TIMES - 1 or (self.changes == before and CHANGED not in str(error)):
                    raise
            else:
                if self.changes == before:
                    break
        return self.page
