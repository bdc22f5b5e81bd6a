"""The picture of Acrobot: two links, and the line that the free end has to pass."""

from math import cos, sin

from ludus.rendering import Canvas

__all__ = ["acrobot_picture"]

SIZE = 500
GROUND, LINE, REACHED, LINK, EDGE, JOINT = "#f7f9fc", "#9aa5b5", "#3f9c62", "#3fa7b5", "#25717c", "#f2b705"


def acrobot_picture(theta1: float, theta2: float, lengths: tuple[float, float], torque: float) -> Canvas:
    """Links hanging at `theta1`, and `theta2` from there; `torque` shows at the joint between them."""
    canvas = Canvas(SIZE, SIZE, background=GROUND)
    scale = SIZE / (2 * (sum(lengths) + 0.2))
    center = SIZE / 2
    above = -cos(theta1) - cos(theta1 + theta2) > 1.0
    goal = center - scale
    for dash in range(0, SIZE, 20):
        canvas.line(dash, goal, dash + 11, goal, color=REACHED if above else LINE, width=2.5)
    elbow = center + lengths[0] * scale * sin(theta1), center + lengths[0] * scale * cos(theta1)
    angle = theta1 + theta2
    end = elbow[0] + lengths[1] * scale * sin(angle), elbow[1] + lengths[1] * scale * cos(angle)
    for (x1, y1), (x2, y2) in (((center, center), elbow), (elbow, end)):
        canvas.line(x1, y1, x2, y2, color=EDGE, width=24, cap="round")
        canvas.line(x1, y1, x2, y2, color=LINK, width=20, cap="round")
    canvas.circle(center, center, 10, fill=JOINT, stroke="#b98a00", stroke_width=2)
    canvas.circle(*elbow, 10, fill=JOINT, stroke="#b98a00", stroke_width=2)
    if torque:
        canvas.circle(*elbow, 19, stroke="#d9655b" if torque < 0 else "#3f6fb5", stroke_width=3)
    canvas.circle(*end, 7, fill=REACHED if above else "#ffffff", stroke=EDGE, stroke_width=2)
    return canvas
