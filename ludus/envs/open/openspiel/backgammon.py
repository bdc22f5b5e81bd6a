"""The picture of backgammon: points, checkers, the bar and the dice, read from OpenSpiel's text."""

import re

from ludus.rendering import Canvas

__all__ = ["backgammon_picture"]

POINT, HEIGHT, RIM = 36, 340, 14
HALF = 5
"""Rows of signs of one half of the board: of more checkers on a point, the sign nearest the edge is their number."""
COLORS = {"x": ("#212529", "#868e96"), "o": ("#f8f9fa", "#868e96")}


def backgammon_picture(text: str) -> Canvas | None:
    """The board in a text; None where there is none."""
    rows = [line[1:-1].replace("|", "") for line in text.splitlines() if line.startswith("|")]
    if len(rows) != 2 * HALF + 1 or any(len(row) != 12 for row in rows):
        return None
    canvas = Canvas(12 * POINT + 3 * RIM, HEIGHT + 2 * RIM + 40, background="#5b3a1e")
    for column in range(12):
        x = RIM + column * POINT + (RIM if column >= 6 else 0)
        _point(canvas, x, column, down=True)
        _point(canvas, x, column, down=False)
        _checkers(canvas, x, [row[column] for row in rows[:HALF]], down=True)
        _checkers(canvas, x, [row[column] for row in reversed(rows[HALF + 1 :])], down=False)
    status = "   ".join(found[0] for found in re.finditer(r"(?:Turn|Dice|Bar|Scores).*", text))
    canvas.text(RIM, HEIGHT + 2 * RIM + 12, status, size=16, color="#f1e3c6")
    return canvas


def _point(canvas: Canvas, x: float, column: int, *, down: bool) -> None:
    top, tip = (RIM, RIM + HEIGHT * 0.44) if down else (RIM + HEIGHT, RIM + HEIGHT * 0.56)
    middle = RIM + HEIGHT / 2
    canvas.rectangle(x, min(top, middle), POINT, HEIGHT / 2, fill="#c89b63")
    color = "#8c3f2b" if (column % 2 == 0) == down else "#e9d3a6"
    canvas.polygon([(x, top), (x + POINT, top), (x + POINT / 2, tip)], fill=color)


def _checkers(canvas: Canvas, x: float, signs: list[str], *, down: bool) -> None:
    """From the edge of the board to its middle."""
    side = next((sign for sign in signs if sign in COLORS), "")
    if not side:
        return
    fill, rim = COLORS[side]
    count = next((int(sign) for sign in signs if sign.isdigit()), 0)
    for place, sign in enumerate(signs):
        if sign == ".":
            continue
        y = RIM + (place + 0.5) * 31 if down else RIM + HEIGHT - (place + 0.5) * 31
        canvas.circle(x + POINT / 2, y, 15, fill=fill, stroke=rim, stroke_width=2)
        if sign.isdigit() and count:
            canvas.text(x + POINT / 2, y, str(count), size=14, color=rim, anchor="center", bold=True)
