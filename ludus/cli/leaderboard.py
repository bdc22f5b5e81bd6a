"""`ludus leaderboard`: the results of a folder that are confirmed."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.table import Table

from ludus.cli.console import out, say
from ludus.evaluate import Leaderboard, leaderboard, leaderboard_page

__all__ = ["show_leaderboard"]


def show_leaderboard(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="With results, in folders of its own or not.")],
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page that needs no server.")] = None,
    title: Annotated[str, typer.Option(help="Of the page.")] = "Leaderboard",
    isolation: Annotated[str | None, typer.Option(help="Run environments isolated: process, sandbox …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the lines as JSON.")] = False,
) -> None:
    """Verify every result in a folder, and show those that are confirmed, the best first."""
    with redirect_stdout(sys.stderr):
        board = leaderboard(folder, isolation=isolation)
    if html is not None:
        Path(html).write_text(leaderboard_page(board, title), encoding="utf8")
    if as_json:
        print(msgspec.json.encode(_plain(board)).decode())
    else:
        out.print(_table(board))
    for one in board.refused:
        say(f"not shown: {one}", "yellow")


def _plain(board: Leaderboard) -> dict[str, object]:
    lines = [
        {**one._asdict(), "score": one.score._asdict(), "normal": one.normal, "returns": one.returns.tolist()}
        for one in board.lines
    ]
    return {"lines": lines, "refused": [{"path": one.path, "why": str(one.findings[0])} for one in board.refused]}


def _table(board: Leaderboard) -> Table:
    table = Table(box=box.ROUNDED, caption="score: interquartile mean; normal: 0 is a random agent, 1 the reference")
    table.add_column("environment", no_wrap=True)
    table.add_column("agent")
    for name in ("score", "95 % interval", "normal"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("to know")
    for one in board.lines:
        normal = "" if one.normal is None else f"{one.normal:.3f}"
        interval = f"{one.score.low:.2f} to {one.score.high:.2f}"
        marks = "; ".join([f"{one.episodes:,} episodes", *one.marks])
        table.add_row(one.id, one.agent, f"{one.score.value:.2f}", interval, normal, marks)
    return table
