"""`HumanAgent`: a person in a terminal: a line is a call or, where it is none, a command of the shell.

Commands go over several lines as in a shell: here-documents, quotes and loops end where bash says that they do.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from ludus.tasks.actions import call_in
from ludus.tools import Call, Calls, ToolError, ToolOutcome
from ludus.trajectory.event import EventValue

__all__ = ["HumanAgent"]

PROMPT, MORE = "> ", "… "
PARSING_S = 10.0
"""Seconds that bash has to read a command."""
UNFINISHED = ("unexpected end of file", "unexpected EOF", "here-document")


class HumanAgent:
    """Shows what is observed, and reads the next command; the end of the input submits, in a terminal once confirmed.

    >>> import io
    >>> agent = HumanAgent(io.StringIO("ls -l"), io.StringIO())
    >>> agent.act(ToolOutcome("", "a task"))
    Call(tool='shell', arguments={'command': 'ls -l'})
    """

    name = "human"

    def __init__(self, lines: TextIO | None = None, shown: TextIO | None = None) -> None:
        self._lines, self._shown = lines, shown
        self._space: Calls | None = None
        self._terminal = lines is None and sys.stdin.isatty()
        if self._terminal:
            with suppress(ImportError):
                import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]  `input` then edits and recalls

    def begin(self, description: str, space: Calls) -> None:
        """How to act; what is asked comes with the first observation."""
        del description
        self._space = space
        tools = ", ".join(sorted(name for name in space.tools if name != "text"))
        self._say(
            f"A line is a command of the shell, or a call: {tools} (`read notes.txt`, or as JSON).\n"
            "Here-documents and loops go on over several lines. Each command or call is a step.\n"
            "Ctrl-D submits. Ctrl-C ends; with --folder, --resume goes on.\n\n"
        )

    def act(self, observation: ToolOutcome) -> Call | str:
        """The next call; an empty line asks again."""
        output = f"{observation.result}\n{observation.error}".strip("\n")
        self._say(f"{output}\n")
        while True:
            text = self._read(PROMPT)
            if text is None:
                if self._is_sure():
                    return Call("submit")
            elif text.strip():
                return self._meant(text)

    def _meant(self, text: str) -> Call:
        if self._space is not None:
            with suppress(ToolError):
                return call_in(text, self._space)
        while _is_unfinished(text):
            more = self._read(MORE)
            if more is None:
                break
            text = f"{text}\n{more}"
        return Call("shell", {"command": text})

    def _is_sure(self) -> bool:
        """Nobody hands in by a slip of a finger; a file or pipe that ends means it."""
        return not self._terminal or (self._read("\nSubmit what is in the workspace? [y/N] ") or "").lower() in (
            "y",
            "yes",
        )

    def _read(self, prompt: str) -> str | None:
        if self._terminal:
            try:
                return input(prompt)
            except EOFError:
                return None
        self._say(prompt)
        line = (self._lines or sys.stdin).readline()
        return line.rstrip("\n") if line else None

    def _say(self, text: str) -> None:
        """What a program printed may hold sequences that change a terminal: they are left out."""
        shown = self._shown or sys.stderr
        shown.write("".join(one for one in text if one.isprintable() or one in "\n\t"))
        shown.flush()

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """Show a step of before."""
        self._say(f"{observation.result}{observation.error}\n{PROMPT}{call.tool} {call.arguments}\n")

    def events(self) -> Sequence[EventValue]:
        """None."""
        return ()


def _is_unfinished(command: str) -> bool:
    r"""Whether bash would ask for more; it reads the command, and runs nothing.

    >>> _is_unfinished("cat > notes << EOF\none"), _is_unfinished("ls")
    (True, False)
    """
    bash = shutil.which("bash")
    if bash is None:
        return False
    try:
        read = subprocess.run(
            [bash, "--norc", "-n"],
            input=f"{command}\n".encode("utf8", "surrogateescape"),
            capture_output=True,
            env={"LC_ALL": "C"},
            timeout=PARSING_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return any(one.encode() in read.stderr for one in UNFINISHED) or command.endswith("\\")
