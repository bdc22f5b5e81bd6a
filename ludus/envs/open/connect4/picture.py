"""The picture of Connect Four: a blue board with holes, red and yellow stones, and the four that won ringed."""

from ludus.envs.open.connect4.rules import COLUMNS, HEIGHT, ROWS, State
from ludus.rendering import Canvas

__all__ = ["connect4_picture"]

CELL = 60
FRAME, SHADE, HOLE = "#2f62b8", "#254f96", "#e9eef7"
STONES = ("#e03131", "#b02525"), ("#fab005", "#d18f00")


def connect4_picture(state: State) -> Canvas:
    """The board of a state."""
    canvas = Canvas(COLUMNS * CELL, ROWS * CELL, background=FRAME)
    winning = winning_line(state.first if state.winner == 0 else state.second) if state.winner >= 0 else 0
    for column in range(COLUMNS):
        for row in range(ROWS):
            x, y = (column + 0.5) * CELL, (ROWS - row - 0.5) * CELL
            bit = 1 << (HEIGHT * column + row)
            canvas.circle(x, y + 1.5, 24.5, fill=SHADE)
            owner = 0 if state.first & bit else 1 if state.second & bit else -1
            if owner < 0:
                canvas.circle(x, y, 23, fill=HOLE)
                continue
            color, rim = STONES[owner]
            canvas.circle(x, y, 23, fill=color)
            canvas.circle(x, y, 15, stroke=rim, stroke_width=3)
            if winning & bit:
                canvas.circle(x, y, 21.5, stroke="white", stroke_width=4)
    return canvas


def winning_line(stones: int) -> int:
    """The bits of all lines of four."""
    found = 0
    for shift in (1, HEIGHT, HEIGHT - 1, HEIGHT + 1):
        starts = stones & (stones >> shift) & (stones >> (2 * shift)) & (stones >> (3 * shift))
        found |= starts | (starts << shift) | (starts << (2 * shift)) | (starts << (3 * shift))
    return found
