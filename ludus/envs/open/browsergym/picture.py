"""The picture of BrowserGym: the page in view, under a bar with its address and the goal."""

from collections.abc import Sequence
from textwrap import wrap

from ludus.envs.open.browsergym.tab import ElementBox
from ludus.rendering import Canvas, from_png, to_png

__all__ = ["BAR", "browser_picture", "marked"]

BAR, LINE = 58, 15
FRAME, ADDRESS, INK, SOFT, MARK = "#dee2e6", "#ffffff", "#212529", "#868e96", (214, 51, 108)


def browser_picture(png: bytes | None, goal: str, url: str, size: tuple[int, int]) -> Canvas:
    """The page with its address and its goal."""
    width, height = size
    canvas = Canvas(width, height + BAR, background=FRAME)
    for at, color in enumerate(("#ff8787", "#ffd43b", "#8ce99a")):
        canvas.circle(14 + 14 * at, 13, 4.5, fill=color)
    canvas.rectangle(58, 5, width - 66, 16, fill=ADDRESS)
    canvas.text(64, 8, _shown(url or "about:blank")[: max(10, (width - 90) // 7)], size=11, color=SOFT)
    lines = wrap(_shown(goal), max(20, (width - 20) // 7))[:2]
    for row, line in enumerate(lines):
        canvas.text(10, 26 + LINE * row, line, size=12, color=INK)
    if png is None:
        canvas.rectangle(0, BAR, width, height, fill=ADDRESS)
    else:
        canvas.image(0, BAR, from_png(png), width=width, height=height)
    return canvas


def _shown(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def marked(png: bytes, boxes: Sequence[ElementBox]) -> bytes:
    """The screenshot with a frame and a number at every element that can be acted on."""
    image = from_png(png).copy()
    height, width = image.shape[:2]
    canvas = Canvas(width, height)
    canvas.image(0, 0, image)
    for bid, x, y, wide, high in boxes:
        if wide <= 0 or high <= 0 or x >= width or y >= height or x + wide <= 0 or y + high <= 0:
            continue
        canvas.rectangle(x, y, wide, high, stroke=MARK, stroke_width=1)
        canvas.rectangle(x, max(0, y - 10), 6 * len(str(bid)) + 3, 10, fill=MARK)
        canvas.text(x + 2, max(0, y - 10) + 1, str(bid), size=8, color="#ffffff")
    return to_png(canvas.to_rgb())
