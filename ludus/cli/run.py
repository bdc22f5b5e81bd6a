"""`ludus run`: a few episodes with random actions."""

import sys
from contextlib import redirect_stdout
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.table import Table

from ludus.cli.console import out
from ludus.cli.episode import PlayedEpisode, play
from ludus.cli.record import Level, recorded
from ludus.cli.target import meant
from ludus.registry import make

__all__ = ["run"]


def run(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, module:Env of the current folder, or a folder.")],
    episodes: Annotated[int, typer.Option(min=1, help="How many.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of the first episode; each one after it has the next.")] = 0,
    max_steps: Annotated[int, typer.Option(min=1, help="Stop an episode here, if nothing else does.")] = 1000,
    isolation: Annotated[
        str | None, typer.Option(help="The isolation to run it in: none, process, sandbox or container.")
    ] = None,
    record: Annotated[str | None, typer.Option(metavar="FILE", help="Record what happens into a new .ludus.")] = None,
    level: Annotated[
        Level, typer.Option(help="How much is recorded: seeds is enough to replay, full keeps observations.")
    ] = Level.SEEDS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the episodes as JSON.")] = False,
) -> None:
    """Play episodes with random actions; the same seed plays the same episode."""
    found = meant(target, isolation)
    wanted = isolation or found.isolation
    # What an environment prints is no part of the result.
    with (
        redirect_stdout(sys.stderr),
        make(found.target, isolation=wanted) as bare,
        recorded(bare, record, level) as env,
    ):
        name, isolation_record = (target, None) if env.spec is None else (env.spec.id, env.spec.isolation_record)
        played = [play(env, seed + one, max_steps) for one in range(episodes)]
    if as_json:
        isolated = {"isolation_record": isolation_record} if isolation_record is not None else {}
        print(msgspec.json.encode({"id": name, **isolated, "episodes": [_plain(one) for one in played]}).decode())
    else:
        out.print(_table(name, played))


def _plain(episode: PlayedEpisode) -> dict[str, object]:
    return {
        "seed": episode.seed,
        "steps": episode.steps,
        "return": episode.total,
        "ended_by": episode.ended_by,
        "outcome": episode.outcome,
    }


def _table(name: str, episodes: list[PlayedEpisode]) -> Table:
    table = Table(
        title=f"{name}, random actions", title_justify="left", title_style="bold", box=box.ROUNDED, show_footer=True
    )
    ends = [one.ended_by for one in episodes]
    valid = [one for one in episodes if one.counts]
    table.add_column("episode", justify="right", footer="mean")
    table.add_column("seed", justify="right")
    table.add_column("steps", justify="right", footer=_mean([one.steps for one in valid], 1))
    table.add_column("return", justify="right", footer=_mean([one.total for one in valid], 2))
    table.add_column("ended by", footer=f"{ends.count('termination')} of {len(ends)} terminated")
    told = any(one.outcome is not None for one in episodes)
    if told:
        left_out = len(episodes) - len(valid)
        table.add_column("outcome", footer=f"{left_out} of {len(ends)} failed, left out" if left_out else "")
    for number, one in enumerate(episodes, start=1):
        style = "green" if one.ended_by == "termination" else None
        cells = [str(number), str(one.seed), str(one.steps), f"{one.total:.2f}", one.ended_by]
        table.add_row(*cells, *([one.outcome or "not told"] if told else []), style=style)
    return table


def _mean(values: list[float] | list[int], digits: int) -> str:
    return f"{sum(values) / len(values):.{digits}f}" if values else "–"
