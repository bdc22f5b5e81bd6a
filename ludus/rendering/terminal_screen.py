"""`TerminalScreen`: play in the terminal, which is afterwards as it was, whatever happens; and its bytes as keys."""

import os
import re
import select
import signal
import termios
import threading
import time
import tty
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Self

from ludus.errors import RenderError
from ludus.rendering.drawing import Drawing
from ludus.rendering.frame import Frame
from ludus.rendering.screen import Picture
from ludus.rendering.terminal import frame_to_ansi, to_ansi

__all__ = ["TerminalScreen", "decode_keys"]

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
BEGIN, END = "\x1b[?2026h", "\x1b[J\x1b[?2026l"
"""Terminals that know it show everything in between at once; the others ignore it."""
COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
"""The only sequences that a text of an environment may have: all others are orders to the terminal."""
KEY_HOLD_S = 0.3
"""Seconds for which a key counts as held: terminals tell when a key goes down, never when it comes up."""
NAP_S = 0.2
ENDING = (signal.SIGTERM, signal.SIGHUP)


class TerminalScreen:
    """The terminal behind two file descriptors, by default standard input and output.

    >>> TerminalScreen(input_fd=3, output_fd=4).gone
    False
    """

    def __init__(self, input_fd: int = 0, output_fd: int = 1) -> None:
        self._input, self._output = input_fd, output_fd
        self._rest = ""
        self._seen: dict[str, float] = {}
        self._settings: list[int | list[bytes | int]] | None = None
        self._handlers: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._size = (0, 0)
        self.gone = False
        """Whether the terminal hung up."""

    def __enter__(self) -> Self:
        if not (os.isatty(self._input) and os.isatty(self._output)):
            raise RenderError(
                "play: expected a terminal, got input or output that is a file or a pipe; "
                "run it in a terminal, or use --render window"
            )
        self._settings = termios.tcgetattr(self._input)
        try:
            self._catch_signals()
            tty.setcbreak(self._input)
            settings = termios.tcgetattr(self._input)
            # Ctrl-Z would leave the shell with a terminal in our state.
            settings[6][termios.VSUSP] = b"\x00"
            termios.tcsetattr(self._input, termios.TCSANOW, settings)
            self._write(ENTER)
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _restore(self) -> None:
        try:
            self._write(LEAVE)
            termios.tcsetattr(self._input, termios.TCSAFLUSH, self._settings or [])
        except (OSError, termios.error):
            self.gone = True
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _catch_signals(self) -> None:
        """Let the signals that end a program unwind it instead, so that the terminal is given back."""
        if threading.current_thread() is threading.main_thread():
            self._handlers = {number: signal.signal(number, _unwind) for number in ENDING}

    # --- output ---

    def show(self, picture: Picture, lines: Sequence[str]) -> None:
        """Show the picture as large as fits, and the lines below it."""
        columns, rows = os.get_terminal_size(self._output)
        image = _fitted(picture, columns, rows - len(lines))
        fresh = "" if (columns, rows) == self._size else "\x1b[2J"
        self._size = (columns, rows)
        shown = [*image, *(_visible(line)[:columns] for line in lines)][:rows]
        # Each line goes to its place: line breaks mean different things to different terminal settings.
        placed = (f"\x1b[{row};1H{line}\x1b[K" for row, line in enumerate(shown, start=1))
        self._write(BEGIN + fresh + "".join(placed) + END)

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._output, data) :]

    # --- input ---

    def keys(self, timeout: float | None) -> list[str]:
        """The keys pressed since the last call."""
        found, self._rest = decode_keys(self._rest + self._read(timeout))
        if self._rest:
            # An escape that nothing follows at once is the key; else the sequence goes on.
            more, self._rest = decode_keys(self._rest + (self._read(0.03) or "\x1b"))
            found, self._rest = found + (more or ["escape"]), ""
        now = time.monotonic()
        self._seen |= dict.fromkeys(found, now)
        return found

    def _read(self, timeout: float | None) -> str:
        end = None if timeout is None else time.monotonic() + timeout
        while not select.select([self._input], [], [], _nap(end))[0]:
            if end is not None and time.monotonic() >= end:
                return ""
        try:
            data = os.read(self._input, 1024)
        except OSError:
            data = b""
        self.gone = not data
        return data.decode(errors="ignore")

    def held(self) -> frozenset[str]:
        """The keys pressed a moment ago."""
        now = time.monotonic()
        return frozenset(key for key, at in self._seen.items() if now - at < KEY_HOLD_S)


def _nap(end: float | None) -> float:
    """Seconds to wait at a time: a signal that comes just before the wait is only noticed after it."""
    return NAP_S if end is None else max(0.0, min(NAP_S, end - time.monotonic()))


def _unwind(number: int, frame: FrameType | None) -> None:
    del frame
    raise SystemExit(128 + number)


def _fitted(picture: Picture, columns: int, rows: int) -> list[str]:
    """The picture in at most so many columns and rows, in the middle."""
    if isinstance(picture, str):
        return [_coloured(line) for line in picture.splitlines()[: max(1, rows)]]
    width, height = (picture.width, picture.height) if isinstance(picture, Drawing) else _frame_size(picture)
    fit = max(1, min(columns, int(2 * max(1, rows) * width / height)))
    text = to_ansi(picture, fit) if isinstance(picture, Drawing) else frame_to_ansi(picture, fit)
    margin = " " * ((columns - fit) // 2)
    return [margin + line for line in text.split("\n")[: max(1, rows)]]


def _coloured(line: str) -> str:
    """A line that an environment wrote: what is to be seen of it, in its colours, which end with it."""
    parts = COLOURS.split(line.expandtabs())
    parts[::2] = map(_visible, parts[::2])
    return "".join([*parts, "\x1b[0m"] if len(parts) > 1 else parts)


def _visible(text: str) -> str:
    return text if text.isprintable() else "".join(char for char in text if char.isprintable())


def _frame_size(frame: Frame) -> tuple[int, int]:
    return frame.shape[1], frame.shape[0]


SEQUENCES = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end",
}  # fmt: skip
CHARACTERS = {" ": "space", "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace"}


def decode_keys(text: str) -> tuple[list[str], str]:
    r"""The keys in what a terminal sent, and the rest: a sequence that has begun and not ended.

    >>> decode_keys("a\x1b[D \x1b[")
    (['a', 'left', 'space'], '\x1b[')
    """
    keys: list[str] = []
    while text:
        if text[0] != "\x1b":
            keys.append(CHARACTERS.get(text[0], text[0].lower()))
            text = text[1:]
            continue
        length = _sequence_length(text)
        if length == 0:
            return keys, text
        keys += _named(text[:length])
        text = text[length:]
    return [key for key in keys if len(key) > 1 or key.isprintable()], ""


def _sequence_length(text: str) -> int:
    """How long the escape sequence at the start is; 0 if its end is not there yet."""
    if len(text) == 1 or text in ("\x1b[", "\x1bO"):
        return 0
    if text[1] not in "[O":
        return 1
    end = next((place for place in range(2, len(text)) if "@" <= text[place] <= "~"), None)
    return 0 if end is None else end + 1


def _named(sequence: str) -> list[str]:
    if sequence == "\x1b":
        return ["escape"]
    # Modifiers stand between: `\x1b[1;5D` is left with control held, and as good as left.
    name = SEQUENCES.get(sequence[-1])
    return [] if name is None else [name]
