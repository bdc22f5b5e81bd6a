"""Figures of the grid worlds: flags and people, drawn around the middle of a cell that is 64 units wide."""

from ludus.rendering import Canvas, Color

__all__ = ["draw_flag", "draw_penguin", "draw_person"]


def draw_flag(canvas: Canvas) -> None:
    """A red flag, planted a little to the left."""
    canvas.ellipse(-6, 24, 10, 3, fill=(40, 50, 70, 50))
    canvas.line(-6, 24, -6, -24, color="#4a5160", width=3.5, cap="round")
    canvas.polygon([(-5, -24), (20, -15), (-5, -6)], fill="#d9483b", stroke="#a8332a", stroke_width=1, join="round")


def draw_penguin(canvas: Canvas) -> None:
    """A penguin."""
    canvas.ellipse(0, 25, 15, 4, fill=(40, 60, 90, 50))
    for side in (-1, 1):
        canvas.ellipse(side * 7, 24, 6, 3, fill="#f0982d")
        with canvas.transform(translate=(side * 15, 4), rotate=-side * 0.35):
            canvas.ellipse(0, 0, 4, 12, fill="#2b3446")
    canvas.ellipse(0, 2, 15, 22, fill="#343f54")
    canvas.ellipse(0, 7, 10.5, 16, fill="#fbfcfe")
    canvas.circle(0, -13, 11.5, fill="#343f54")
    for side in (-1, 1):
        canvas.ellipse(side * 4.5, -13, 4, 5, fill="#fbfcfe")
        canvas.circle(side * 4, -13, 1.9, fill="#1b2230")
    canvas.polygon([(-4, -9), (4, -9), (0, -3)], fill="#f0982d", join="round")


def draw_person(canvas: Canvas, coat: Color = "#3f6fb5") -> None:
    """Somebody in a coat."""
    canvas.ellipse(0, 25, 12, 3.5, fill=(40, 50, 60, 50))
    for side in (-1, 1):
        canvas.line(side * 4.5, 12, side * 5, 23, color="#39404f", width=5.5, cap="round")
        canvas.line(side * 10, -2, side * 13, 9, color=coat, width=5, cap="round")
    canvas.rectangle(-11, -7, 22, 22, radius=8, fill=coat)
    canvas.circle(0, -15, 9, fill="#f1c9a5")
    canvas.polygon([(-9.5, -16), (-8, -24), (8, -24), (9.5, -16)], fill="#5b4332", join="round")
