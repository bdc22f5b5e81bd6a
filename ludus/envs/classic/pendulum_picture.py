"""The picture of Pendulum: a rod on its axle, and the torque as an arrow around it."""

from math import cos, pi, sin

from ludus.rendering import Canvas

__all__ = ["pendulum_picture"]

SIZE, LENGTH = 500, 165
GROUND, GUIDE, ROD, EDGE, AXLE, TORQUE = "#f7f9fc", "#dfe5ee", "#cf5c51", "#a2423a", "#20252e", "#3f6fb5"


def pendulum_picture(theta: float, torque: float, strongest: float) -> Canvas:
    """Rod at `theta` from upright, turned by `torque` out of `strongest`; positive is counter-clockwise."""
    canvas = Canvas(SIZE, SIZE, background=GROUND)
    center = SIZE / 2
    canvas.circle(center, center, LENGTH, stroke=GUIDE, stroke_width=2)
    canvas.polygon([(center - 9, 58), (center + 9, 58), (center, 74)], fill="#8fb996")
    with canvas.transform(translate=(center, center), rotate=-theta):
        canvas.rectangle(-19, -LENGTH, 38, LENGTH + 19, radius=19, fill=ROD, stroke=EDGE, stroke_width=2)
        canvas.circle(0, -LENGTH + 19, 7, fill="#e79a92")
    if torque:
        _draw_torque(canvas, center, torque / strongest)
    canvas.circle(center, center, 8, fill=AXLE)
    return canvas


def _draw_torque(canvas: Canvas, center: float, part: float) -> None:
    """An arc around the axle, from above to the side it turns to, longer and larger the stronger it is."""
    turn = -1 if part > 0 else 1
    radius = 34 + 16 * abs(part)
    end = -pi / 2 + turn * (0.35 + 2.6 * abs(part))
    canvas.arc(center, center, radius, -pi / 2, end, color=TORQUE, width=5, cap="round")
    with canvas.transform(translate=(center + radius * cos(end), center + radius * sin(end)), rotate=end):
        canvas.polygon([(-10, 0), (10, 0), (0, turn * 16)], fill=TORQUE)
