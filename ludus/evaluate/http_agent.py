"""`HttpAgent`: an agent behind an address. It is sent an observation and answers with an action, both as JSON."""

from __future__ import annotations

from http.client import HTTPException
from time import monotonic, sleep

import msgspec
import numpy as np

from ludus.core import Info
from ludus.errors import ConnectionLost, InvalidArgument, InvalidValue, LudusError, shorten
from ludus.evaluate.agents import Agent

__all__ = ["HttpAgent"]

PAUSE_SECONDS = 0.05
"""Before the second try; twice as long before each one after it."""


class HttpAgent(Agent):
    """Asks a service for each action.

    `POST {"observation": …, "episode": seed, "step": n}` is answered by `{"action": …}`. Values are written as their
    spaces write them; what is legal comes as `action_mask`. A service that cannot be reached, or
    answers with 429 or 500 and above, is asked again until `deadline` seconds have passed, at most `retries` times
    more; then the agent has failed. It is never asked elsewhere: a redirect, which would take your headers along, is no
    answer.

    >>> HttpAgent("http://127.0.0.1:9/act", retries=0).name
    'http://127.0.0.1:9/act'
    """

    def __init__(
        self, url: str, *, retries: int = 3, deadline: float = 60.0, headers: dict[str, str] | None = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidArgument(f"url: expected http:// or https://, got {shorten(url)}")
        if retries < 0 or deadline <= 0:
            raise InvalidArgument(
                f"expected retries of at least 0 and a deadline above 0, got {retries} and {deadline}"
            )
        self.url, self.retries, self.deadline = url, retries, deadline
        self.name = url
        self._headers = {"content-type": "application/json", "accept": "application/json", **(headers or {})}
        self._episodes: dict[int, list[int]] = {}

    def begin(self, lane: int, seed: int) -> None:
        """Count steps from 0."""
        self._episodes[lane] = [seed, 0]

    def act(self, observation: object, info: Info, lane: int) -> object:
        """What the service answers; raises ConnectionLost, and InvalidValue for what is no action."""
        episode, step = self._episodes[lane]
        self._episodes[lane][1] += 1
        question = {"observation": self.observation_space.encode(observation), "episode": episode, "step": step}
        if "action_mask" in info:
            question["action_mask"] = np.asarray(info["action_mask"]).tolist()
        answer = self._answer(msgspec.json.encode(question))
        try:
            return self.action_space.decode(msgspec.json.decode(answer)["action"])
        except (msgspec.DecodeError, UnicodeError, RecursionError, LookupError, TypeError, LudusError) as error:
            raise InvalidValue(f'{self.url}: expected {{"action": …}}, got {shorten(answer[:80])}: {error}') from error

    def _answer(self, question: bytes) -> bytes:
        from ludus.tasks.agents.endpoint import Refused, open_endpoint  # only who asks an address needs tasks

        until, pause, why = monotonic() + self.deadline, PAUSE_SECONDS, "none"
        for left in range(self.retries, -1, -1):
            try:
                with open_endpoint(self.url, question, self._headers, max(until - monotonic(), 0.001)) as answer:
                    return answer.read()
            except Refused as error:
                again, why = error.code == 429 or error.code >= 500, f"status {error.code}"
            except (HTTPException, OSError) as error:
                again, why = True, str(error)
            except ValueError as error:  # cut off, or of any size
                raise InvalidValue(f"{self.url}: expected an answer, got {error}") from error
            if not again or not left or monotonic() + pause >= until:
                break
            sleep(pause)
            pause *= 2
        raise ConnectionLost(f"{self.url}: expected an answer within {self.deadline:g} s, got {why}")
