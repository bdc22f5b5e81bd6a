"""`Service`: a server under examination."""

from contextlib import suppress
from functools import cached_property

from ludus.client import connect
from ludus.core.env import AnyEnv
from ludus.errors import ServerBusy
from ludus.testing.history import HistoryEvent, play
from ludus.testing.service.http import Http

__all__ = ["Service"]

LUDUS_ONLY_PATH = "/v1/sessions"
"""A path that only our servers have."""
REPLY_TIMEOUT_S, SHORT_TIMEOUT_S = 10.0, 2.0
"""Seconds for an answer, or for a place."""


class Service:
    """A server at an address: over HTTP, and as an environment."""

    def __init__(self, url: str, *, token: str | None = None, seed: int = 0, steps: int = 100) -> None:
        self.url, self.name, self.token = url.rstrip("/"), url, token
        self.seed, self.steps = seed, steps
        self.http = Http(url, token)
        self.stranger = Http(url)
        """Without the token."""
        self._made: list[AnyEnv] = []
        self._patience = REPLY_TIMEOUT_S

    def connected(self) -> AnyEnv:
        """The same, for a subject that closes what it makes."""
        try:
            env = connect(self.url, token=self.token, timeout=self._patience)
        except ServerBusy:
            self._patience = SHORT_TIMEOUT_S  # it has few places: rules that need more are not worth the wait
            raise
        return env

    def connect(self) -> AnyEnv:
        """A session of its own, as an environment, until the rule is done."""
        env = self.connected()
        self._made.append(env)
        return env

    def close(self, env: AnyEnv) -> None:
        """End a session before the rule is done."""
        self._made.remove(env)
        env.close()

    @cached_property
    def is_stock(self) -> bool:
        """Whether it is a server of OpenEnv's own, which never said that it keeps our contract."""
        return self.http.get(LUDUS_ONLY_PATH).status == 404

    def play(self, env: AnyEnv) -> list[HistoryEvent]:
        """The history of the seed."""
        return play(env, seed=self.seed, steps=self.steps)

    def tidy(self) -> None:
        """Close the sessions."""
        while self._made:
            with suppress(Exception):
                self._made.pop().close()
