"""`ToolEnv`: an environment whose actions are calls of its own methods."""

from inspect import iscoroutine
from typing import Any, ClassVar

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from ludus.spaces import Record
from ludus.tools.calls import Call, Calls
from ludus.tools.loop import Loop
from ludus.tools.outcome import ToolError, ToolOutcome, failed, succeeded
from ludus.tools.tool import Tool, tools_of

__all__ = ["ToolEnv"]


class ToolEnv(Env[ToolOutcome, Call]):
    """An environment made of tools. A subclass marks methods with `@tool`, defines `reset`, and may define `judge`.

    >>> from ludus.core import Outcome
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
    ...         return (1.0, Outcome.SUCCESS) if result == "right" else (0.0, False)
    >>> env = Guess()
    >>> _ = env.reset(seed=0)
    >>> env.call("guess", number=3).observation.result
    'higher'
    """

    tools: ClassVar[dict[str, Tool]] = {}
    told: ClassVar[tuple[type[Exception], ...]] = (ToolError, ValueError)
    """Exceptions of a tool that the agent observes. Any other is a fault of the environment, and raised."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.tools = tools_of(cls)
        cls.snapshot_shared = (*(one for one in cls.snapshot_shared if one != "_loop"), "_loop")
        for one in cls.tools.values():
            if hasattr(ToolEnv, one.function.__name__):
                raise InvalidArgument(
                    f"{cls.__name__}: expected tools beside the environment's own methods, got a tool in place of "
                    f"{one.function.__name__}"
                )

    def __init__(self) -> None:
        self.action_space = Calls(self.tools)
        self.observation_space = Record(ToolOutcome)
        self._under_way = False
        self._loop: Loop | None = None

    def reset(self, *, seed: Any = None, options: Options | None = None) -> tuple[ToolOutcome, Info]:
        """Begin; subclasses start with `super().reset(seed=seed)`."""
        super().reset(seed=seed, options=options)
        self._under_way = True
        return ToolOutcome(), {}

    def step(self, action: Call) -> Step[ToolOutcome]:
        """Call a tool. An exception out of `told` is an observation, not an error: the agent may try again."""
        if not self._under_way:
            raise ResetNeeded("step: expected reset() first, got no episode under way")
        self.action_space.check(action, "action", InvalidAction)
        called = self.tools[action.tool]
        arguments = called.arguments(action.arguments, InvalidAction)
        try:
            result = self._carry_out(called, arguments)
        except self.told as error:
            return Step(failed(action.tool, error), 0.0, False, False, {})
        seen = succeeded(action.tool, result, called.returns)
        reward, ends = self.judge(action, result)
        self._under_way = not ends
        return Step.ending(seen, ends, reward) if isinstance(ends, str) else Step(seen, reward, ends, False, {})

    def call(self, name: str, /, **arguments: object) -> Step[ToolOutcome]:
        """`step(Call(name, arguments))`."""
        return self.step(Call(name, arguments))

    def judge(self, call: Call, result: Any) -> tuple[float, bool | Outcome]:
        """The reward of a call, and whether it ends the episode, or how it went then; by default nothing, and no."""
        del call, result
        return 0.0, False

    def close(self) -> None:
        """End what async tools ran in."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        super().close()

    def _carry_out(self, called: Tool, arguments: dict[str, object]) -> object:
        result = called.function(self, **arguments)
        if not called.is_async or not iscoroutine(result):
            return result
        if self._loop is None:
            self._loop = Loop()
        return self._loop.run(result, called.seconds)
