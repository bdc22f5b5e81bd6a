"""The picture of both mountain cars: a valley, a car, a flag."""

from math import atan, cos, sin

from ludus.rendering import Canvas

__all__ = ["mountain_car_picture"]

WIDTH, HEIGHT = 600, 400
SKY, FAR_HILL, HILL, GRASS = "#e9f2fb", "#d3e3f1", "#a9c98f", "#6f9a55"
BODY, GLASS, WHEEL, RIM = "#d9483b", "#dcecf7", "#22272f", "#c9ced6"


def mountain_car_picture(position: float, lowest: float, highest: float, goal: float, throttle: float) -> Canvas:
    """Car at `position` of a valley from `lowest` to `highest`; `throttle` (-1 to 1) shows as exhaust."""
    canvas = Canvas(WIDTH, HEIGHT, background=SKY)
    scale = WIDTH / (highest - lowest)
    canvas.circle(300, 70, 26, fill="#ffe28a")
    canvas.polygon([(0, 400), (0, 215), (120, 150), (260, 235), (400, 160), (600, 230), (600, 400)], fill=FAR_HILL)
    path = [(i * 5.0, HEIGHT - _height(lowest + i * 5.0 / scale) * scale) for i in range(WIDTH // 5 + 1)]
    canvas.polygon([*path, (WIDTH, HEIGHT), (0, HEIGHT)], fill=HILL)
    canvas.polyline(path, color=GRASS, width=4)
    _draw_flag(canvas, (goal - lowest) * scale, HEIGHT - _height(goal) * scale)
    place = (position - lowest) * scale, HEIGHT - _height(position) * scale
    with canvas.transform(translate=place, rotate=-atan(1.35 * cos(3 * position))):
        _draw_car(canvas, throttle)
    return canvas


def _height(position: float) -> float:
    return sin(3 * position) * 0.45 + 0.55


def _draw_flag(canvas: Canvas, x: float, y: float) -> None:
    canvas.line(x, y, x, y - 52, color="#4a5160", width=3, cap="round")
    canvas.polygon([(x, y - 52), (x + 30, y - 43), (x, y - 33)], fill="#f2b705", stroke="#c79200", stroke_width=1)


def _draw_car(canvas: Canvas, throttle: float) -> None:
    for puff in range(3):
        if throttle:
            behind = -26 - 9 * puff if throttle > 0 else 26 + 9 * puff
            shade = round(150 * min(abs(throttle), 1.0)) // (puff + 1)
            canvas.circle(behind, -8 - 3 * puff, 4 + puff, fill=(120, 128, 140, shade))
    canvas.polygon([(-14, -18), (-8, -29), (8, -29), (15, -18)], fill=GLASS, stroke=BODY, stroke_width=3, join="round")
    canvas.rectangle(-23, -20, 46, 13, radius=5, fill=BODY)
    for x in (-13, 13):
        canvas.circle(x, -6, 6.5, fill=WHEEL)
        canvas.circle(x, -6, 2.5, fill=RIM)
