"""Environments for the tests of OpenEnv's protocol: typed, odd, failing, and one that waits until it is let go."""

import os
from dataclasses import dataclass, field
from threading import Event
from typing import Annotated, Any, ClassVar

import numpy as np

from ludus.core import Env, Step
from ludus.core.state import Private
from ludus.errors import InvalidArgument
from ludus.spaces import Box, Discrete, Record, Text

ANSWERS = ("a candle", "an echo", "a shadow")
Line = Annotated[str, Text(200, min_length=0, charset=None)]


@dataclass
class Guess:
    """What to answer."""

    answer: Line


@dataclass
class Riddled:
    """What is asked."""

    riddle: Annotated[int, Discrete(len(ANSWERS))] = 0
    hint: Line = ""


@dataclass
class RiddleState:
    """The answer is nobody's business but the orchestrator's."""

    tries: int = 0
    answer: Annotated[str, Private] = ""


class Riddle(Env[Riddled, Guess]):
    """Riddles by number. The reward is made of two parts, and a right answer ends the episode."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.action_space, self.observation_space = Record(Guess), Record(Riddled)
        self.state: RiddleState | None = None

    def reset(self, *, seed=None, options=None):
        """The option `index` says which riddle, `split` which part; without, the seed does."""
        super().reset(seed=seed)
        options = options or {}
        if not options.keys() <= {"index", "split"}:
            raise InvalidArgument(f"options: expected 'index' and 'split' at most, got {sorted(options)}")
        number = options.get("index", int(self.np_random.integers(len(ANSWERS))))
        if not isinstance(number, int) or not 0 <= number < len(ANSWERS):
            raise InvalidArgument(f"index: expected 0 to {len(ANSWERS) - 1}, got {number!r}")
        self.state = RiddleState(0, ANSWERS[number])
        self.number = number
        return Riddled(number, "think"), {"split": options.get("split")} if options else {}

    def step(self, action):
        """Right, or once more."""
        self.action_space.check(action)
        self.state.tries += 1
        right = action.answer == self.state.answer
        parts = {"right": 1.0 if right else 0.0, "haste": -0.1 * self.state.tries}
        return Step(Riddled(self.number, "well"), sum(parts.values()), right, False, {"reward_components": parts})

    def list_splits(self):
        """Two parts."""
        return [{"name": "first", "type": "train"}, {"name": "last", "type": "test"}]

    def list_tasks(self, split):
        """The riddles of a part."""
        return {"first": [0, 1], "last": [2]}[split]

    def num_tasks(self, split):
        """How many."""
        return len(self.list_tasks(split))

    def get_task(self, split, index):
        """One of them."""
        return {"index": self.list_tasks(split)[index]}

    def get_task_range(self, split, start, stop):
        """Some of them."""
        return self.list_tasks(split)[start:stop]


class Odd(Env[Any, Any]):
    """Gives numbers that JSON has no words for, and fails when told to."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.action_space = Discrete(4)
        self.observation_space = Box(-np.inf, np.inf, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        """Nothing odd yet, but the infos."""
        super().reset(seed=seed)
        if options:
            raise InvalidArgument(f"options: expected none, got {options}")
        return np.zeros(3, np.float32), {"at": np.arange(2), "far": np.inf, "raw": b"\x00\xff", 3: {1, 2}, "deep": [()]}

    def step(self, action):
        """0: odd numbers; 1: an exception; 2: an info that is no data; 3: the end of the process."""
        if action == 1:
            raise ZeroDivisionError("it was told to")
        if action == 3:
            os._exit(3)
        odd = np.array([0.5, np.inf, -np.inf], np.float32)
        return Step(odd, np.float32(0.5), False, False, {"hook": print} if action == 2 else {"nan": np.float64("nan")})


@dataclass
class Gate:
    """Holds environments back until it is opened."""

    opened: Event = field(default_factory=Event)
    entered: Event = field(default_factory=Event)


class Waiting(Env[Any, Any]):
    """Its steps wait until the gate is open."""

    gate: ClassVar[Gate] = Gate()

    def __init__(self) -> None:
        self.action_space = self.observation_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        """At once."""
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        """When the gate is open."""
        self.gate.entered.set()
        self.gate.opened.wait(600)
        return Step(action, 1.0, False, False, {})


class Unmade(Env[Any, Any]):
    """Can be made for a description, and never again."""

    made: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.action_space = self.observation_space = Discrete(2)
        self.made.append(1)
        if len(self.made) > 1:
            raise OSError("the licence server is not there")
