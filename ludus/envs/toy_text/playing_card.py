"""Playing cards, drawn with their top left corner at the origin."""

from ludus.rendering import Canvas, Color

__all__ = ["HEIGHT", "WIDTH", "draw_back", "draw_card"]

WIDTH, HEIGHT = 84, 118
RED, BLACK = "#c8372d", "#252b36"


def draw_card(canvas: Canvas, rank: str, suit: str) -> None:
    """A card of a rank (`A`, `2`, … `K`) and a suit (`C`, `D`, `H` or `S`)."""
    color = RED if suit in "DH" else BLACK
    _draw_blank(canvas, "#fdfdfb")
    canvas.text(9, 10, rank, size=22, color=color, bold=True)
    canvas.text(WIDTH - 9, HEIGHT - 10, rank, size=22, color=color, anchor="bottom right", bold=True)
    with canvas.transform(translate=(WIDTH / 2, HEIGHT / 2), scale=1.5):
        _draw_suit(canvas, suit, color)


def draw_back(canvas: Canvas) -> None:
    """A card face down."""
    _draw_blank(canvas, "#fdfdfb")
    canvas.rectangle(7, 7, WIDTH - 14, HEIGHT - 14, radius=5, fill="#b5483f")
    for row in range(6):
        for column in range(4):
            x, y = 16.5 + column * 17, 18 + row * 16.5
            canvas.polygon([(x, y - 6), (x + 5, y), (x, y + 6), (x - 5, y)], fill="#cf6f66")


def _draw_blank(canvas: Canvas, fill: Color) -> None:
    canvas.rectangle(3, 4, WIDTH, HEIGHT, radius=9, fill=(10, 40, 25, 70))
    canvas.rectangle(0, 0, WIDTH, HEIGHT, radius=9, fill=fill, stroke="#c9cfc9", stroke_width=1)


def _draw_suit(canvas: Canvas, suit: str, color: Color) -> None:
    """The sign of a suit, about 24 units high, around the origin."""
    if suit == "D":
        canvas.polygon([(0, -13), (9, 0), (0, 13), (-9, 0)], fill=color)
        return
    if suit == "H":
        for side in (-1, 1):
            canvas.circle(side * 5, -4.5, 5.8, fill=color)
        canvas.polygon([(-10.3, -2.2), (10.3, -2.2), (0, 11.5)], fill=color)
        return
    canvas.polygon([(0, 0), (5, 12), (-5, 12)], fill=color)
    if suit == "S":
        for side in (-1, 1):
            canvas.circle(side * 5, 3, 5.5, fill=color)
        canvas.polygon([(-10, 0.8), (10, 0.8), (0, -12.5)], fill=color)
        return
    for x, y in ((0, -6), (-6, 2.5), (6, 2.5)):
        canvas.circle(x, y, 5.6, fill=color)
