"""The picture of Git: a terminal with the last commands, and the commits of the repositories beside it."""

from collections.abc import Iterator, Mapping
from textwrap import wrap

from ludus.envs.open.git.objects import Repository
from ludus.rendering import Canvas

__all__ = ["git_picture"]

WIDTH, HEIGHT, LINE, COLUMNS, SPLIT = 960, 520, 22, 72, 620
SIZE, LABEL, SIGN = 17, 15, 7.4
"""Of the terminal's letters, of those beside commits, and how wide one of the latter is."""
BACKGROUND, SIDE, PROMPT, TEXT, OUTPUT, ERROR = "#1d1f27", "#262a35", "#74c0fc", "#f1f3f5", "#a9e34b", "#ff8787"
DIFFERS = ("diff --git ", "diff --cc ", "@@ ")
DIFF = {"+": OUTPUT, "-": ERROR, "@": PROMPT}
"""Colours of what a diff adds, what it removes, and where that is."""
LANES = ("#4dabf7", "#ffa94d", "#69db7c", "#da77f2", "#ffe066", "#ff8787", "#66d9e8", "#b197fc")
CommandRecord = tuple[str, str, str, str]
"""A command, the message, the output and the error that came of it."""


def git_picture(commands: list[CommandRecord], repositories: Mapping[str, Repository]) -> Canvas:
    """What was typed, newest at the bottom; and to the right every branch as the task began."""
    canvas = Canvas(WIDTH, HEIGHT, background=BACKGROUND)
    lines = [row for one in commands for row in _rows(*one)]
    for row, (color, text) in enumerate(lines[-(HEIGHT // LINE - 1) :]):
        canvas.text(12, 12 + row * LINE, text, size=SIZE, color=color)
    canvas.rectangle(SPLIT, 0, WIDTH - SPLIT, HEIGHT, fill=SIDE)
    top = 12.0
    for name, repository in repositories.items():
        top = _graph(canvas, name, repository, top)
    return canvas


def _rows(command: str, message: str, output: str, error: str) -> list[tuple[str, str]]:
    rows = [(PROMPT, f"$ {text}" if at == 0 else f"> {text}") for at, text in enumerate(_lines(command))]
    if not rows:
        rows += [(TEXT, text) for text in _lines(message)]
    rows += [*_printed(output), *((ERROR, text) for text in _lines(error))]
    return rows or [(TEXT, text) for text in _lines(message)]


def _printed(output: str) -> Iterator[tuple[str, str]]:
    """What git printed; from where a diff begins, by what each line is in it."""
    differs = False
    for line in _kept(output):
        differs = differs or line.startswith(DIFFERS)
        yield from ((DIFF.get(line[:1], TEXT) if differs else OUTPUT, text) for text in _wrapped(line))


def _lines(text: str) -> list[str]:
    return [row for line in _kept(text) for row in _wrapped(line)]


def _kept(text: str) -> list[str]:
    return text[:6000].splitlines()[:40]


def _wrapped(line: str) -> list[str]:
    first, *rest = wrap(line, COLUMNS, drop_whitespace=False) or [""]
    shown = [first, *(one.lstrip() for one in rest)]
    return ["".join(sign if sign.isprintable() else "·" for sign in one) for one in shown]


def _graph(canvas: Canvas, name: str, repository: Repository, top: float) -> float:
    """Commits, newest first, each in the lane of the first branch that leads to it; returns where the next begins."""
    canvas.text(SPLIT + 14, top, name, size=17, color=TEXT, bold=True)
    branches = sorted(ref for ref in repository.refs if ref.startswith(("refs/heads/", "refs/stash")))
    branches.sort(key=lambda ref: ref != "refs/heads/main")
    lane: dict[str, int] = {}
    for number, ref in enumerate(branches):
        for commit in repository.line(repository.refs[ref]):
            lane.setdefault(commit, number)
    order = sorted(lane, key=lambda one: (-_when(repository, one), one))[: max(1, int((HEIGHT - top - 34) // LINE))]
    place = {one: (SPLIT + 22 + 14 * min(lane[one], 7), top + 34 + LINE * row) for row, one in enumerate(order)}
    for one, (x, y) in place.items():
        for parent in repository.read(one).parents:
            end = place.get(parent, (x, HEIGHT))
            canvas.line(x, y, *end, color=LANES[lane[one] % len(LANES)], width=2)
    labels = {repository.refs[ref]: ref.removeprefix("refs/heads/").removeprefix("refs/") for ref in reversed(branches)}
    left = max((x for x, _ in place.values()), default=SPLIT) + 16
    for one, (x, y) in place.items():
        canvas.circle(x, y, 5, fill=LANES[lane[one] % len(LANES)])
        label = f"[{labels[one]}] " if one in labels else ""
        caption = _cut(f"{one[:7]} {label}{repository.read(one).subject}", int((WIDTH - left - 8) / SIGN))
        canvas.text(left, y - 9, caption, size=LABEL, color=TEXT)
    return top + 34 + LINE * len(order) + 10


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _when(repository: Repository, commit: str) -> int:
    return int(repository.read(commit).committer.split(" ")[-2])
