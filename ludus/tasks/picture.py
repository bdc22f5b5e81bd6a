"""The picture of a task: the score over steps with its lines, what is left, and the last calls."""

from textwrap import wrap

from ludus.core import Info
from ludus.rendering import Canvas
from ludus.tasks.budget import Budget
from ludus.tasks.spec import TaskSpec

__all__ = ["task_picture"]

WIDTH, HEIGHT, LINE, COLUMNS = 760, 520, 16, 98
CHART = (60, 54, 480, 130)
"""Left, top, width and height of the chart."""
BACKGROUND, CALL, OUTPUT, FAINT = "#1d1f27", "#74c0fc", "#dee2e6", "#868e96"
SCORE, HIDDEN, LINES = "#a9e34b", "#ffd43b", {"baseline": "#4dabf7", "threshold": "#ff8787", "reference": "#b197fc"}


def task_picture(spec: TaskSpec, budget: Budget, scores: list[Info], shown: list[tuple[str, str]]) -> Canvas:
    """Scores are those of validations and of the end, each with its step."""
    canvas = Canvas(WIDTH, HEIGHT, background=BACKGROUND)
    canvas.text(16, 14, f"{spec.name}  ({spec.evaluation.metric})", size=16, color=OUTPUT)
    _chart(canvas, spec, budget, scores)
    for row, line in enumerate(budget.text().splitlines()):
        canvas.text(560, 60 + row * 22, line.replace(" left", ""), size=12, color=OUTPUT)
    lines: list[tuple[str, str]] = []
    for call, output in shown:
        lines += [(CALL, f"{'> ' if at == 0 else '  '}{text}") for at, text in enumerate(_lines(call)[:6])]
        lines += [(OUTPUT, text) for text in _lines(output)[-8:]]
    room = (HEIGHT - 220) // LINE
    for row, (color, text) in enumerate(lines[-room:]):
        canvas.text(16, 214 + row * LINE, text, size=12, color=color)
    return canvas


def _chart(canvas: Canvas, spec: TaskSpec, budget: Budget, scores: list[Info]) -> None:
    left, top, width, height = CHART
    canvas.rectangle(left, top, width, height, fill="#25262b", stroke=FAINT)
    scored = [one for one in scores if one.get("value") is not None]
    most = max([1.1, *(one["normalised"] * 1.1 for one in scored)])

    def across(step: float) -> float:
        return left + width * min(1.0, step / max(1, budget.max_steps))

    def up(normalised: float) -> float:
        return top + height * (1 - min(1.0, max(0.0, normalised / most)))

    for name, color in LINES.items():
        value = getattr(spec.evaluation, name)
        if value is not None:
            y = up(spec.evaluation.normalised(value))
            canvas.line(left, y, left + width, y, color=color, width=1)
            canvas.text(left + 4, y + 2, name, size=10, color=color)
    for one in scored:
        color = HIDDEN if one["split"] == spec.evaluation.hidden_split else SCORE
        canvas.circle(across(one["step"]), up(one["normalised"]), 4, fill=color)
    canvas.text(16, top + height - 8, "0", size=10, color=FAINT)
    canvas.text(16, top, f"{most:.1f}", size=10, color=FAINT)


def _lines(text: str) -> list[str]:
    lines = text[-6000:].splitlines()[-40:]
    shown = [part for line in lines for part in wrap(line[:2000], COLUMNS, drop_whitespace=False) or [""]]
    return ["".join(sign if sign.isprintable() else "·" for sign in one) for one in shown]
