"""The picture of Taxi: a walled town, four stops, a passenger and the cab."""

from math import pi

from ludus.envs.toy_text.figures import draw_flag, draw_person
from ludus.rendering import Canvas, Color

__all__ = ["taxi_picture"]

CELL, MARGIN, TOWN = 80, 20, 5
STREET, BLOCK, WALL = "#eef0f3", "#dfe3e9", "#3a4252"
STOPS: tuple[tuple[str, Color, Color], ...] = (
    ("R", "#ef9a90", "#c0392b"),
    ("G", "#a5d6a0", "#2f8f46"),
    ("Y", "#f6dc85", "#b58900"),
    ("B", "#9fc0ea", "#2f6fb5"),
)
COATS = tuple(dark for _, _, dark in STOPS)
# From the drawn heading (north) to south, north, east and west.
HEADINGS = (pi, 0.0, pi / 2, -pi / 2)


def taxi_picture(
    taxi: tuple[int, int], rider: int, destination: int, *, stops: list[tuple[int, int]], walls: list[tuple[int, int]],
    heading: int, rain: bool,
) -> Canvas:  # fmt: skip
    """The town; `rider` is at a stop or (4) in the cab, and `walls` are on the right of these places."""
    canvas = Canvas(TOWN * CELL + 2 * MARGIN, TOWN * CELL + 2 * MARGIN, background="#f7f8fa")
    for place in range(TOWN * TOWN):
        x, y = _corner((place // TOWN, place % TOWN))
        canvas.rectangle(x + 2, y + 2, CELL - 4, CELL - 4, radius=6, fill=STREET, stroke=BLOCK, stroke_width=1.5)
    for number, (letter, light, dark) in enumerate(STOPS):
        x, y = _corner(stops[number])
        canvas.rectangle(x + 6, y + 6, CELL - 12, CELL - 12, radius=8, fill=light, stroke=dark, stroke_width=2)
        canvas.text(x + CELL - 14, y + 13, letter, size=16, color=dark, anchor="top right", bold=True)
    _draw_walls(canvas, walls)
    with canvas.transform(translate=_middle(stops[destination]), scale=0.9):
        draw_flag(canvas)
    if rider < len(stops):
        x, y = _middle(stops[rider])
        with canvas.transform(translate=(x - 16, y + 6), scale=0.8):
            draw_person(canvas, COATS[destination])
    with canvas.transform(translate=_middle(taxi), rotate=HEADINGS[heading]):
        _draw_cab(canvas, COATS[destination] if rider == len(stops) else None)
    if rain:
        _draw_rain(canvas)
    return canvas


def _corner(place: tuple[int, int]) -> tuple[float, float]:
    return MARGIN + place[1] * CELL, MARGIN + place[0] * CELL


def _middle(place: tuple[int, int]) -> tuple[float, float]:
    x, y = _corner(place)
    return x + CELL / 2, y + CELL / 2


def _draw_walls(canvas: Canvas, walls: list[tuple[int, int]]) -> None:
    canvas.rectangle(MARGIN, MARGIN, TOWN * CELL, TOWN * CELL, radius=4, stroke=WALL, stroke_width=6)
    for place in walls:
        x, y = _corner(place)
        canvas.line(x + CELL, y + 2, x + CELL, y + CELL - 2, color=WALL, width=7, cap="round")


def _draw_cab(canvas: Canvas, coat: Color | None) -> None:
    """The cab from above, heading up; the roof light is on while it is free."""
    for x in (-17, 17):
        for y in (-16, 17):
            canvas.rectangle(x - 4, y - 7, 8, 14, radius=3, fill="#22272f")
    canvas.rectangle(-17, -29, 34, 58, radius=10, fill="#f6c521", stroke="#b58900", stroke_width=2)
    canvas.polygon([(-12, -10), (12, -10), (9, -18), (-9, -18)], fill="#cfe3f2")
    canvas.polygon([(-12, 15), (12, 15), (9, 21), (-9, 21)], fill="#cfe3f2")
    for square in range(6):
        canvas.rectangle(-15, -8 + 4 * square, 3, 2.6, fill="#22272f")
        canvas.rectangle(12, -8 + 4 * square, 3, 2.6, fill="#22272f")
    for x in (-11, 11):
        canvas.circle(x, -26, 2.6, fill="#fff6d0")
    if coat is None:
        canvas.rectangle(-7, -2, 14, 7, radius=2, fill="#fff6d0", stroke="#b58900", stroke_width=1)
    else:
        canvas.circle(0, 4, 7.5, fill=coat)
        canvas.circle(0, 2, 5, fill="#5b4332")


def _draw_rain(canvas: Canvas) -> None:
    for drop in range(60):
        x, y = (drop * 97) % canvas.width, (drop * 61) % canvas.height
        canvas.line(x, y, x - 3, y + 11, color=(90, 130, 180, 110), width=2, cap="round")
