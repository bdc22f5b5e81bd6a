"""The terminal: pictures in half blocks, two pixels to a character, so that an environment can be watched over SSH."""

import os
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ludus.errors import InvalidArgument, shorten
from ludus.rendering.color import RGBA
from ludus.rendering.drawing import ANCHORS, Drawing, DrawnText, Mark
from ludus.rendering.font import CAP_HEIGHT, LINE_HEIGHT
from ludus.rendering.frame import Frame, as_frame
from ludus.rendering.matrix import Matrix
from ludus.rendering.pixels import blank, paint
from ludus.rendering.resize import resize
from ludus.spaces.kinds import is_integer

__all__ = ["Colors", "frame_to_ansi", "to_ansi"]

Colors = Literal["auto", "truecolor", "256", "none"]

SMALL_TEXT, SMALL_SIGN = 9.0, 6.0
"""Text of a smaller size, in half blocks, would be a smear: it is written as characters. Single signs stand more."""
SLANT = 0.4
"""Text may lean so much, as a slope, and still be written as characters."""
SHADES = " .:-=+*#%@"
"""Without colours, what differs from the background is the denser, the more it differs."""
LEVELS = np.array([0, 95, 135, 175, 215, 255])
RESET = "\x1b[0m"


class Letter(NamedTuple):
    """A character that stands for small text: its colour, and the two pixels it was written on."""

    character: str
    color: RGBA
    ground: tuple[int, ...]


Letters = dict[tuple[int, int], Letter]


def to_ansi(drawing: Drawing, columns: int = 80, *, colors: Colors = "auto") -> str:
    r"""The drawing, `columns` characters wide, as lines that end with the colours reset.

    "auto" means true colour, or none where `NO_COLOR` is set or the terminal is dumb; an SSH session forwards no hint
    about colours, so none is looked for.

    >>> to_ansi(Drawing(4, 2, RGBA(255, 0, 0)), columns=2)
    '\x1b[48;2;255;0;0m  \x1b[0m'
    """
    kind, columns = _kind(colors), _columns(columns)
    height = max(1, round(columns * drawing.height / drawing.width))
    frame = blank(columns, height, drawing.background)
    base = Matrix(columns / drawing.width, 0.0, 0.0, height / drawing.height)
    letters: Letters = {}
    for mark in drawing.marks:
        if not _write(letters, frame, mark, base):
            paint(frame, mark, base)
    return _encoded(frame, _visible(letters, frame), kind, drawing.background)


def frame_to_ansi(frame: object, columns: int = 80, *, colors: Colors = "auto") -> str:
    """A frame of pixels, likewise; what differs from its top left pixel counts as drawn when there are no colours.

    >>> frame_to_ansi(np.zeros((2, 4, 3), np.uint8), columns=2, colors="none")
    '  '
    """
    kind, columns = _kind(colors), _columns(columns)
    pixels = as_frame(frame)
    height = max(1, round(columns * pixels.shape[0] / pixels.shape[1]))
    return _encoded(resize(pixels, (columns, height)), {}, kind, RGBA(*(int(channel) for channel in pixels[0, 0])))


def _kind(colors: Colors, environment: Mapping[str, str] = os.environ) -> str:
    if colors not in get_args(Colors):
        raise InvalidArgument(f"colors: expected one of {', '.join(get_args(Colors))}, got {shorten(colors)}")
    if colors != "auto":
        return colors
    return "none" if environment.get("NO_COLOR") or environment.get("TERM") == "dumb" else "truecolor"


def _columns(columns: object) -> int:
    if isinstance(columns, bool) or not is_integer(columns) or not 1 <= columns <= 10_000:
        raise InvalidArgument(f"columns: expected a whole number from 1 to 10000, got {shorten(columns)}")
    return int(columns)


# --- small text stays text ---


def _write(letters: Letters, frame: Frame, mark: Mark, base: Matrix) -> bool:
    """Note a small, upright text as characters; False if it is to be painted like everything else."""
    text, color, matrix = mark.shape, mark.paint.fill, base.after(mark.matrix)
    if (
        not isinstance(text, DrawnText)
        or color is None
        or max(abs(matrix.b), abs(matrix.c)) > SLANT * min(matrix.a, matrix.d)
    ):
        return False
    if text.size * matrix.d >= (SMALL_SIGN if len(text.text) == 1 else SMALL_TEXT):
        return False
    across, down = ANCHORS[text.anchor]
    lines = text.text.split("\n")
    x, top = matrix.map(text.x, text.y - down * text.size * (CAP_HEIGHT + LINE_HEIGHT * (len(lines) - 1)))
    for number, line in enumerate(lines):
        middle = top + text.size * matrix.d * (number * LINE_HEIGHT + CAP_HEIGHT / 2.0)
        first = round(x - across * len(line))
        for place, character in enumerate(line):
            _put(letters, frame, (int(middle // 2), first + place), character, color)
    return True


def _put(letters: Letters, frame: Frame, cell: tuple[int, int], character: str, color: RGBA) -> None:
    row, column = cell
    if character.isprintable() and character != " " and 0 <= column < frame.shape[1] and 0 <= 2 * row < len(frame):
        letters[cell] = Letter(character, color, _pair(frame, row, column))


def _pair(frame: Frame, row: int, column: int) -> tuple[int, ...]:
    """The two pixels of a cell, as six numbers; three at the end of an odd number of rows."""
    return tuple(frame[2 * row : 2 * row + 2, column].ravel().tolist())


def _visible(letters: Letters, frame: Frame) -> Letters:
    """The letters over which nothing was painted later."""
    return {cell: letter for cell, letter in letters.items() if _pair(frame, *cell) == letter.ground}


# --- characters and escape sequences ---


def _encoded(frame: Frame, letters: Letters, kind: str, background: RGBA) -> str:
    if len(frame) % 2:
        frame = np.concatenate((frame, frame[-1:]))
    if kind == "none":
        return _shaded(frame, letters, background)
    codes = _true_codes if kind == "truecolor" else _palette_codes
    upper, lower = codes(frame[0::2]), codes(frame[1::2])
    for (row, column), letter in letters.items():
        both = np.array(letter.ground).reshape(-1, 3).mean(axis=0)
        upper[row][column] = codes(np.array([[letter.color[:3]]], dtype=np.uint8))[0][0]
        lower[row][column] = codes(np.array([[both]]).astype(np.uint8))[0][0]
    signs = [[letters[row, column].character if (row, column) in letters else "▀" for column in range(frame.shape[1])]
             for row in range(len(upper))]  # fmt: skip
    return "\n".join(_row(*parts) for parts in zip(signs, upper, lower, strict=True))


def _row(signs: list[str], upper: list[str], lower: list[str]) -> str:
    """One line; a colour is set only where it changes, and a cell of one colour is a blank."""
    parts: list[str] = []
    front = back = ""
    for sign, above, below in zip(signs, upper, lower, strict=True):
        if above == below:
            sign, above = " ", front
        if (above, below) != (front, back):
            change = [f"38;{above}"] if above != front else []
            change += [f"48;{below}"] if below != back else []
            parts.append(f"\x1b[{';'.join(change)}m")
            front, back = above, below
        parts.append(sign)
    return "".join(parts) + RESET


def _true_codes(pixels: Frame) -> list[list[str]]:
    return [[f"2;{red};{green};{blue}" for red, green, blue in row] for row in pixels.tolist()]


def _palette_codes(pixels: Frame) -> list[list[str]]:
    """The nearest of xterm's 216 colours and 24 grays."""
    wanted = pixels.astype(np.int64)
    steps = np.abs(wanted[..., np.newaxis] - LEVELS).argmin(axis=-1)
    gray = np.clip(np.rint((wanted.mean(axis=-1) - 8.0) / 10.0), 0, 23).astype(np.int64)
    cube_miss = _miss(wanted, LEVELS[steps])
    gray_miss = _miss(wanted, np.repeat((8 + 10 * gray)[..., np.newaxis], 3, axis=-1))
    cube = 16 + 36 * steps[..., 0] + 6 * steps[..., 1] + steps[..., 2]
    codes = cube.copy()
    np.copyto(codes, 232 + gray, where=gray_miss < cube_miss)
    return [[f"5;{code}" for code in row] for row in codes.tolist()]


def _miss(wanted: NDArray[np.int64], got: NDArray[np.int64]) -> NDArray[np.int64]:
    return ((wanted - got) ** 2).sum(axis=-1)


def _shaded(frame: Frame, letters: Letters, background: RGBA) -> str:
    away = np.abs(frame.astype(np.int64) - np.array(background[:3])).max(axis=-1)
    both = (away[0::2] + away[1::2]) / 2.0
    shades = np.ceil(both / 255.0 * (len(SHADES) - 1)).astype(np.int64).tolist()
    lines = [[SHADES[shade] for shade in row] for row in shades]
    for (row, column), letter in letters.items():
        lines[row][column] = letter.character
    return "\n".join("".join(line) for line in lines)
