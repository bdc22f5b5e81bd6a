"""The picture of CartPole: a cart on its track, between the ends that it may not pass."""

from ludus.rendering import Canvas

__all__ = ["cartpole_picture"]

WIDTH, HEIGHT, RAIL = 600, 400, 300
SKY, GROUND, TRACK, BODY, WHEEL, POLE, AXLE = (
    "#f7f9fc",
    "#e6ebf2",
    "#8a94a6",
    "#2f3e5c",
    "#1b2436",
    "#d08a4e",
    "#7b86d9",
)
LIMIT = "#d9655b"


def cartpole_picture(x: float, theta: float, half_length: float, farthest: float, steepest: float) -> Canvas:
    """Cart at `x`, pole leaning by `theta`; beyond `farthest` and `steepest` (drawn faintly) the episode is over."""
    canvas = Canvas(WIDTH, HEIGHT, background=SKY)
    scale = WIDTH / (2 * farthest) * 0.92
    middle = WIDTH / 2
    _draw_track(canvas, middle, farthest * scale)
    center, length = middle + x * scale, 2 * half_length * scale
    axle = RAIL - 32
    for side in (-1, 1):
        with canvas.transform(translate=(center, axle), rotate=side * steepest):
            canvas.line(0, -24, 0, -length - 12, color=(138, 148, 166, 70), width=1.5)
    _draw_cart(canvas, center)
    with canvas.transform(translate=(center, axle), rotate=theta):
        canvas.rectangle(-6, -length, 12, length + 6, radius=6, fill=POLE, stroke="#a86a35", stroke_width=1.5)
    canvas.circle(center, axle, 5.5, fill=AXLE, stroke="white", stroke_width=1.5)
    return canvas


def _draw_track(canvas: Canvas, middle: float, reach: float) -> None:
    canvas.rectangle(0, RAIL, WIDTH, HEIGHT - RAIL, fill=GROUND)
    canvas.line(0, RAIL, WIDTH, RAIL, color=TRACK, width=3)
    for tick in range(-4, 5):
        place = middle + tick * reach / 4
        canvas.line(place, RAIL + 6, place, RAIL + (16 if tick % 4 == 0 else 11), color=TRACK, width=1.5)
    for side in (-1, 1):
        canvas.line(middle + side * reach, RAIL - 26, middle + side * reach, RAIL, color=LIMIT, width=4, cap="round")


def _draw_cart(canvas: Canvas, center: float) -> None:
    canvas.rectangle(center - 32, RAIL - 40, 64, 30, radius=6, fill=BODY)
    canvas.rectangle(center - 32, RAIL - 22, 64, 4, fill="#44577d")
    for side in (-1, 1):
        canvas.circle(center + side * 18, RAIL - 9, 8, fill=WHEEL)
        canvas.circle(center + side * 18, RAIL - 9, 3, fill=TRACK)
