"""The picture of Coding: a terminal with the last cells and what they printed."""

from textwrap import wrap

from ludus.rendering import Canvas

__all__ = ["coding_picture"]

WIDTH, HEIGHT, LINE, COLUMNS = 720, 420, 17, 92
BACKGROUND, CODE, OUTPUT, ERROR, PROMPT = "#1d1f27", "#f1f3f5", "#a9e34b", "#ff8787", "#74c0fc"


def coding_picture(cells: list[tuple[str, str, str]]) -> Canvas:
    """Code, stdout and stderr of each cell, the newest at the bottom."""
    canvas = Canvas(WIDTH, HEIGHT, background=BACKGROUND)
    lines: list[tuple[str, str]] = []
    for code, stdout, stderr in cells:
        lines += [(PROMPT if at == 0 else CODE, f"{'>>>' if at == 0 else '...'} {text}") for at, text in _lines(code)]
        lines += [(OUTPUT, text) for _, text in _lines(stdout)] + [(ERROR, text) for _, text in _lines(stderr)]
    room = HEIGHT // LINE - 1
    for row, (color, text) in enumerate(lines[-room:]):
        canvas.text(12, 12 + row * LINE, text, size=13, color=color)
    return canvas


def _lines(text: str) -> list[tuple[int, str]]:
    shown = [
        part for line in text[:8000].splitlines()[:60] for part in wrap(line, COLUMNS, drop_whitespace=False) or [""]
    ]
    kept = (one if one.isprintable() else "".join(sign if sign.isprintable() else "·" for sign in one) for one in shown)
    return list(enumerate(kept))
