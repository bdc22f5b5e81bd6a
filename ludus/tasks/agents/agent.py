"""`TaskAgent`: who acts in a task: it gets the task's text, and gives a call for each observation."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from ludus.tools import Call, Calls, ToolOutcome
from ludus.trajectory.event import EventValue

__all__ = ["TaskAgent", "RandomTaskAgent", "ScriptedTaskAgent"]


class TaskAgent(Protocol):
    """What an agent has to have."""

    name: str

    def begin(self, description: str, space: Calls) -> None:
        """A task begins: what is asked, and the calls there are."""
        ...

    def act(self, observation: ToolOutcome) -> Call | str:
        """The next action: a call, or text that means one."""
        ...

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """A step of before, of a run that is taken up again: `call` was its action, on that observation."""
        ...

    def events(self) -> Sequence[EventValue]:
        """What to write beside the step that comes: messages, thoughts, usage; each only once."""
        ...


class ScriptedTaskAgent:
    """Does a list of calls one after the other, and then submits.

    It goes on with a run of its own where that was left, and begins with its first call where the steps so far are
    others, as of a fork of somebody else's run.

    >>> agent = ScriptedTaskAgent([Call("shell", {"command": "ls"})])
    >>> agent.act(ToolOutcome()).tool, agent.act(ToolOutcome()).tool
    ('shell', 'submit')
    """

    def __init__(self, calls: Iterable[Call | str], name: str = "scripted") -> None:
        self.name = name
        self._calls = list(calls)
        self._next = 0
        self._is_own = True

    def begin(self, description: str, space: Calls) -> None:
        """From the first call."""
        del description, space
        self._next, self._is_own = 0, True

    def act(self, observation: ToolOutcome) -> Call | str:
        """The next call."""
        del observation
        self._next += 1
        return self._calls[self._next - 1] if self._next <= len(self._calls) else Call("submit")

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """As if it had been asked, where it would have answered that."""
        own = self.act(observation)
        self._is_own = self._is_own and call == (Call("text", {"message": own}) if isinstance(own, str) else own)
        if not self._is_own:
            self._next = 0

    def events(self) -> Sequence[EventValue]:
        """None."""
        return ()


class RandomTaskAgent:
    """Calls of the space at random, the same for the same seed; one in twenty submits.

    >>> RandomTaskAgent(seed=0).name
    'random'
    """

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._space: Calls | None = None
        self._rng = np.random.default_rng(seed)

    def begin(self, description: str, space: Calls) -> None:
        """Seed the space anew."""
        del description
        self._space, self._rng = Calls(space.tools, seed=self._seed), np.random.default_rng(self._seed)

    def act(self, observation: ToolOutcome) -> Call | str:
        """A random call; only sometimes the last."""
        del observation
        if self._space is None or self._rng.random() < 0.05:
            return Call("submit")
        chosen = [name for name in self._space.tools if name != "submit"]
        return self._space.sample(mask=chosen)

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """As if it had been asked."""
        del call
        self.act(observation)

    def events(self) -> Sequence[EventValue]:
        """None."""
        return ()
