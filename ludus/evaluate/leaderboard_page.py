"""The page of a leaderboard: one file without scripts and outside addresses; whatever results name is text."""

from __future__ import annotations

from html import escape
from itertools import groupby

from ludus.evaluate.html_page import html_page
from ludus.evaluate.leaderboard import Leaderboard, LeaderboardLine
from ludus.evaluate.plots import plot_intervals
from ludus.evaluate.reference import normal_score

__all__ = ["leaderboard_page"]

ABOUT = """<p>Every line was executed again and confirmed when this page was written; the command beside it does so
anew. {refused}</p>
{suites}
{tables}"""
HEADS = ("agent", "interquartile mean", "95 % interval", "mean", "normal", "episodes", "check it with")
NUMBERS = ("interquartile mean", "95 % interval", "mean", "normal", "episodes")


def leaderboard_page(board: Leaderboard, title: str = "Leaderboard") -> str:
    """The page, as text.

    >>> "<h1>Mine</h1>" in leaderboard_page(Leaderboard((), ()), "Mine")
    True
    """
    count = len(board.refused)
    refused = f"Left out, since not confirmed: {count}."
    groups = groupby(board.lines, key=lambda one: (one.suite, one.id))
    tables = "\n".join(_environment(*key, list(lines)) for key, lines in groups)
    return html_page(title, ABOUT.format(refused=refused if count else "", suites=_suites(board), tables=tables))


def _suites(board: Leaderboard) -> str:
    rows = [
        _row([suite, agent, f"{score:.3f}", str(count)], (False, False, True, True))
        for (suite, agent), (score, count) in board.by_agent().items()
    ]
    if not rows:
        return ""
    heads = _row(["suite", "agent", "normal score", "environments"], (False, False, True, True), "th")
    return f'<h2>Suites</h2>\n<div class="wide"><table>{heads}{"".join(rows)}</table></div>' + _picture(board)


def _picture(board: Leaderboard) -> str:
    """The normal scores of each agent, episode by episode, with what is certain of their middle."""
    scores: dict[str, dict[str, list[float]]] = {}
    for line in board.lines:
        if line.suite and line.normal is not None and line.episodes > 1:
            normal = [score for one in line.returns.tolist() if (score := normal_score(line.id, one)) is not None]
            scores.setdefault(line.agent, {}).setdefault(line.id, normal)
    return f"<figure>{plot_intervals(scores).to_svg()}</figure>" if scores else ""


def _environment(suite: str, id: str, lines: list[LeaderboardLine]) -> str:
    numeric = tuple(head in NUMBERS for head in HEADS)
    rows = "".join(_row(_cells(line), numeric, marks=line.marks, command=line.command) for line in lines)
    title = escape(id) + (f" <small>suite {escape(suite)}</small>" if suite else "")
    return f'<h2>{title}</h2>\n<div class="wide"><table>{_row(list(HEADS), numeric, "th")}{rows}</table></div>'


def _cells(line: LeaderboardLine) -> list[str]:
    score = line.score
    normal = "" if line.normal is None else f"{line.normal:.3f}"
    interval = f"{score.low:.2f} to {score.high:.2f}"
    return [line.agent, f"{score.value:.2f}", interval, f"{line.mean:.2f}", normal, f"{line.episodes:,}"]


def _row(
    cells: list[str], numeric: tuple[bool, ...], tag: str = "td", *, marks: tuple[str, ...] = (), command: str = ""
) -> str:
    found = [
        f"<{tag}{' class=number' if number else ''}>{escape(cell)}</{tag}>"
        for cell, number in zip(cells, numeric, strict=False)
    ]
    if marks:
        found[0] = found[0].replace(f"</{tag}>", f"<br><small>{escape('; '.join(marks))}</small></{tag}>")
    if command:
        found.append(f"<td><code>{escape(command)}</code></td>")
    return f"<tr>{''.join(found)}</tr>\n"
