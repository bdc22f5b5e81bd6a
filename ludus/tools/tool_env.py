"""`ToolEnv`: an environment whose actions are calls of its own methods."""

from typing import Any, ClassVar

import msgspec

from ludus.core import Env, Step
from ludus.errors import InvalidAction, ResetNeeded
from ludus.spaces import Record
from ludus.tools.calls import Call, Calls
from ludus.tools.tool import Tool, tools_of

__all__ = ["ToolEnv", "ToolOutcome"]


class ToolOutcome(msgspec.Struct):
    """What an agent observes: which tool answered, and its result as text or JSON; or the error it met.

    >>> ToolOutcome("buy", "1 × tea").error
    ''
    """

    tool: str = ""
    result: str = ""
    error: str = ""


class ToolEnv(Env[ToolOutcome, Call]):
    """An environment made of tools. A subclass marks methods with `@tool`, defines `reset`, and may define `judge`.

    >>> from ludus.tools import tool
    >>> class Guess(ToolEnv):
    ...     def reset(self, *, seed=None, options=None):
    ...         super().reset(seed=seed)
    ...         self.secret = int(self.np_random.integers(10))
    ...         return ToolOutcome(), {}
    ...     @tool
    ...     def guess(self, number: int) -> str:
    ...         '''Say a number from 0 to 9.'''
    ...         return "right" if number == self.secret else "higher" if number < self.secret else "lower"
    ...     def judge(self, call, result):
    ...         return (1.0, True) if result == "right" else (0.0, False)
    >>> env = Guess()
    >>> _ = env.reset(seed=0)
    >>> env.call("guess", number=3).observation.result
    'higher'
    """

    tools: ClassVar[dict[str, Tool]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.tools = tools_of(cls)

    def __init__(self) -> None:
        self.action_space = Calls(self.tools)
        self.observation_space = Record(ToolOutcome)
        self._under_way = False

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[ToolOutcome, dict[str, Any]]:
        """Begin; subclasses start with `super().reset(seed=seed)`."""
        super().reset(seed=seed, options=options)
        self._under_way = True
        return ToolOutcome(), {}

    def step(self, action: Call) -> Step[ToolOutcome]:
        """Call a tool. An exception of its own is an observation, not an error: the agent may try again."""
        if not self._under_way:
            raise ResetNeeded("step: expected reset() first, got no episode under way")
        self.action_space.check(action, "action", InvalidAction)
        called = self.tools[action.tool]
        arguments = called.arguments(action.arguments, InvalidAction)
        try:
            result = called.function(self, **arguments)
        except Exception as error:  # the tool's own
            return Step(ToolOutcome(action.tool, "", f"{type(error).__name__}: {error}"), 0.0, False, False, {})
        reward, terminated = self.judge(action, result)
        self._under_way = not terminated
        return Step(ToolOutcome(action.tool, as_text(result)), reward, terminated, False, {})

    def call(self, name: str, /, **arguments: Any) -> Step[ToolOutcome]:
        """`step(Call(name, arguments))`."""
        return self.step(Call(name, arguments))

    def judge(self, call: Call, result: Any) -> tuple[float, bool]:
        """The reward of a call, and whether it ends the episode; by default nothing, and no."""
        del call, result
        return 0.0, False


def as_text(result: Any) -> str:
    """Text as it is, nothing as nothing, anything else as JSON."""
    if isinstance(result, str):
        return result
    return "" if result is None else msgspec.json.encode(result).decode()
