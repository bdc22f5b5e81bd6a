"""`Conversation`: what a run and the page of its person say to each other, from two threads."""

import threading

from ludus.errors import InvalidArgument
from ludus.tools import Call

__all__ = ["Conversation"]

LEAVE_S = 5.0
"""Seconds in which a page that is there asks for the end."""


class Conversation:
    """The run tells what happened and waits for a call; pages ask what is new, and one of them gives the call.

    >>> talk = Conversation({"task": "Count"})
    >>> talk.tell({"result": "what is asked"})
    >>> talk.news(0, seconds=0.0)["entries"]
    [{'result': 'what is asked'}]
    """

    def __init__(self, about: dict[str, object]) -> None:
        self.about = about
        """What does not change, or is only known later; pages get it with everything new."""
        self._changed = threading.Condition()
        self._entries: list[dict[str, object]] = []
        self._version = self._seen = 0
        self._watched = self._waiting = self._closed = False
        self._call: Call | None = None

    # --- the run ---

    def tell(self, entry: dict[str, object] | None = None, **about: object) -> None:
        """Something happened, or what is known about the run has changed."""
        with self._changed:
            self._entries += [] if entry is None else [entry]
            self.about = self.about | about
            self._change()

    def call(self) -> Call:
        """The next call of the person, waited for as long as it takes."""
        with self._changed:
            self._waiting = True
            self._change()
            while self._call is None:
                self._changed.wait()
            call, self._call, self._waiting = self._call, None, False
            self._change()
            return call

    def close(self) -> None:
        """The run is over: a page that is open hears of it first."""
        with self._changed:
            self._closed = True
            self._change()
            if self._watched:
                self._changed.wait_for(lambda: self._seen == self._version, LEAVE_S)

    def _change(self) -> None:
        self._version += 1
        self._changed.notify_all()

    # --- the page ---

    def news(self, version: int, *, seconds: float, known: int = 0) -> dict[str, object]:
        """What there is to tell beyond `version` and the first `known` entries, waited for so many seconds."""
        with self._changed:
            self._watched = True
            self._changed.wait_for(lambda: self._version != version, seconds)
            self._seen = self._version
            self._changed.notify_all()
            return {
                "version": self._version,
                "waiting": self._waiting,
                "closed": self._closed,
                "about": self.about,
                "first": known,
                "entries": self._entries[known:],
            }

    def act(self, call: Call) -> None:
        """Give the run its next call; InvalidArgument where it does not wait for one."""
        with self._changed:
            if not self._waiting or self._call is not None:
                raise InvalidArgument("act: expected a run that waits for a call, got one with a step under way")
            self._call = call
            self._changed.notify_all()
