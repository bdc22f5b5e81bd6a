"""Pages of a real browser, and everything that they should not have said or asked for."""

from playwright.sync_api import Error

CHANGED = "ERR_NETWORK_CHANGED"
"""What Chromium says of requests that it drops, those to this machine as well, when other tests' containers join a
network or leave it."""
TIMES = 5


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
