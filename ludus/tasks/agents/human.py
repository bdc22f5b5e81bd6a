"""`HumanAgent`: a person in a terminal: a line is a call or, where it is none, a shell command."""

import sys
from collections.abc import Sequence
from typing import TextIO

from ludus.tasks.actions import call_in
from ludus.tools import Call, Calls, ToolError, ToolOutcome
from ludus.trajectory.event import EventValue

__all__ = ["HumanAgent"]


class HumanAgent:
    """Shows what is observed, and reads the next line; the end of the input submits.

    >>> import io
    >>> agent = HumanAgent(io.StringIO("ls -l"), io.StringIO())
    >>> agent.act(ToolOutcome("", "a task"))
    Call(tool='shell', arguments={'command': 'ls -l'})
    """

    name = "human"

    def __init__(self, lines: TextIO | None = None, shown: TextIO | None = None) -> None:
        self._lines, self._shown = lines, shown
        self._space: Calls | None = None

    def begin(self, description: str, space: Calls) -> None:
        """Nothing is shown before the first observation, which is the description."""
        del description
        self._space = space

    def act(self, observation: ToolOutcome) -> Call | str:
        """The next line."""
        shown, lines = self._shown or sys.stderr, self._lines or sys.stdin
        shown.write(f"{observation.result}{observation.error}\n> ")
        shown.flush()
        line = lines.readline()
        if not line:
            return Call("submit")
        try:
            return Call("shell", {"command": line.strip()}) if self._space is None else call_in(line, self._space)
        except ToolError:
            return Call("shell", {"command": line.strip()})

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """Show a step of before."""
        shown = self._shown or sys.stderr
        shown.write(f"{observation.result}{observation.error}\n> {call.tool} {call.arguments}\n")

    def events(self) -> Sequence[EventValue]:
        """None."""
        return ()
