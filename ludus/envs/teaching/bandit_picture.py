"""The picture of a bandit: a machine with a window for every arm, filled as high as it is likely to pay."""

from collections.abc import Sequence

from ludus.rendering import Canvas

__all__ = ["bandit_picture"]

WIDTH, HEIGHT, MARGIN = 520, 320, 36
CASE, WINDOW, BAR, PULLED, TEXT = "#33415c", "#f4f1e8", "#5c9ead", "#e0a458", "#f4f1e8"


def bandit_picture(levels: Sequence[float], labels: Sequence[str], pulled: int | None) -> Canvas:
    """`levels` from 0 to 1, what to write under each window, and the arm that was pulled last."""
    canvas = Canvas(WIDTH, HEIGHT, background="#fbfaf6")
    canvas.rectangle(14, 14, WIDTH - 28, HEIGHT - 28, radius=20, fill=CASE)
    room = (WIDTH - 2 * MARGIN) / len(levels)
    width, top, height = room * 0.72, 60, HEIGHT - 150
    for arm, (level, label) in enumerate(zip(levels, labels, strict=True)):
        left, color = MARGIN + arm * room + (room - width) / 2, PULLED if arm == pulled else BAR
        canvas.rectangle(left, top, width, height, fill=WINDOW)
        canvas.rectangle(left, top + height * (1 - level), width, height * level, fill=color)
        canvas.circle(left + width / 2, 38, min(9, width / 3), fill=color)
        if len(levels) <= 12:
            canvas.text(left + width / 2, top + height + 24, label, size=14, color=TEXT, anchor="center")
            canvas.text(left + width / 2, top + height + 48, str(arm), size=14, color=BAR, anchor="center")
    return canvas
