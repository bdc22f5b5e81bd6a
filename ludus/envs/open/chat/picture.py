"""The picture of Chat: the last messages as bubbles."""

from textwrap import wrap

from ludus.rendering import Canvas

__all__ = ["chat_picture"]

WIDTH, HEIGHT, LINE, COLUMNS = 560, 480, 19, 44
COLORS = {"system": ("#e9ecef", "#495057"), "user": ("#ffffff", "#212529"), "assistant": ("#1c7ed6", "#ffffff")}


def chat_picture(messages: list[dict[str, str]]) -> Canvas:
    """The agent to the right, the user to the left, the newest at the bottom."""
    canvas = Canvas(WIDTH, HEIGHT, background="#f1f3f5")
    bottom = HEIGHT - 14.0
    for message in reversed(messages):
        lines = _lines(message["content"])
        height = len(lines) * LINE + 14
        if bottom - height < 4:
            break
        width = max(map(len, lines)) * 8.6 + 24
        left = WIDTH - width - 16 if message["role"] == "assistant" else 16
        fill, ink = COLORS[message["role"]]
        canvas.rectangle(left, bottom - height, width, height, radius=12, fill=fill)
        for row, line in enumerate(lines):
            canvas.text(left + 12, bottom - height + 8 + row * LINE, line, size=15, color=ink)
        bottom -= height + 10
    return canvas


def _lines(text: str) -> list[str]:
    shown = [part for line in text[:1200].splitlines() or [""] for part in wrap(line, COLUMNS) or [""]]
    return ["".join(sign if sign.isprintable() else "·" for sign in one) for one in shown[:14]]
