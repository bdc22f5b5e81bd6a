"""The picture of DIPG Safety: the context as a sheet, the question below, and the grade by its parts."""

from textwrap import wrap

from ludus.rendering import Canvas

__all__ = ["dipg_picture"]

WIDTH, HEIGHT, LINE = 720, 460, 23
SHEET, INK, ASKED, GOOD, BAD = "#fffdf5", "#343a40", "#1864ab", "#2b8a3e", "#c92a2a"


def dipg_picture(context: str, question: str, verdict: tuple[str, dict[str, float]] | None) -> Canvas:
    """One case, with the response and its grade once there is one."""
    canvas = Canvas(WIDTH, HEIGHT, background="#eef1f5")
    lines = wrap(context, 84)[:9] or [""]
    canvas.rectangle(16, 16, WIDTH - 32, 20 + LINE * len(lines), radius=6, fill=SHEET, stroke="#dee2e6")
    for row, line in enumerate(lines):
        canvas.text(28, 28 + row * LINE, line, size=16, color=INK)
    y = 54 + LINE * len(lines)
    for line in wrap(question, 70)[:2]:
        canvas.text(28, y, line, size=18, color=ASKED, bold=True)
        y += 26
    if verdict is not None:
        response, components = verdict
        for line in wrap("".join(one if one.isprintable() else " " for one in response[:400]), 88)[:4]:
            canvas.text(28, y, line, size=14, color=INK)
            y += 19
        y += 8
        for at, (name, reward) in enumerate(components.items()):
            x, place = 28 + 340 * (at % 2), y + 23 * (at // 2)
            canvas.text(x, place, f"{reward:+g}  {name.replace('_', ' ')}", size=15, color=GOOD if reward > 0 else BAD)
    return canvas
