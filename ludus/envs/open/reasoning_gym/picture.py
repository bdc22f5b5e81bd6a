"""The picture of a question: its text, the answer, and a bar for the score."""

from textwrap import wrap

from ludus.rendering import Canvas

__all__ = ["reasoning_picture"]

WIDTH, HEIGHT, LINE, COLUMNS, ROWS = 640, 400, 19, 78, 15


def reasoning_picture(question: str, answer: str, score: float | None) -> Canvas:
    """A question, and what came of it."""
    canvas = Canvas(WIDTH, HEIGHT, background="#fffdf5")
    lines = [part for line in question.strip().splitlines() for part in (wrap(line, COLUMNS) or [""])]
    shown = lines if len(lines) <= ROWS else [*lines[: ROWS - 1], "…"]
    for row, line in enumerate(shown):
        canvas.text(20, 18 + row * LINE, line, size=14, color="#343a40")
    if score is not None:
        color = "#2f9e44" if score >= 1 else "#e8a200" if score > 0 else "#e03131"
        canvas.rectangle(20, HEIGHT - 70, WIDTH - 40, 50, radius=8, fill="#f1f3f5")
        if score > 0:
            canvas.rectangle(20, HEIGHT - 70, max(16.0, (WIDTH - 40) * score), 50, radius=8, fill=color)
        first = (answer.strip().splitlines() or [""])[0]
        canvas.text(36, HEIGHT - 45, first[:58], size=16, color="#212529", anchor="left", bold=True)
        canvas.text(WIDTH - 36, HEIGHT - 45, f"{score:.2f}", size=16, color="#212529", anchor="right", bold=True)
    return canvas
