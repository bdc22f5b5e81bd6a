"""`ludus eval`: how good an agent is at an environment."""

import sys
from contextlib import redirect_stdout
from typing import Annotated, Any

import msgspec
import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ludus.cli.console import err, out
from ludus.evaluate import EpisodeResult, Evaluation, evaluate, mean

__all__ = ["evaluate_agent"]


def evaluate_agent(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, or module:Env of the current folder.")],
    agent: Annotated[str, typer.Option(help="random, nop, or module:name of a function, an Agent or a policy.")],
    episodes: Annotated[int, typer.Option(min=2, help="How many.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="From which the seed of each episode is derived.")] = 0,
    num_envs: Annotated[int | None, typer.Option(min=1, help="How many are played at once.")] = None,
    executor: Annotated[str | None, typer.Option(help="Where they are played; changes nothing else.")] = None,
    max_steps: Annotated[int, typer.Option(min=1, help="Cut an episode here, if nothing else does.")] = 100_000,
    isolation: Annotated[str | None, typer.Option(help="Run it isolated: none, process, sandbox or container.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every episode as JSON.")] = False,
) -> None:
    """Play episodes with derived seeds; the same command gives the same result on every machine."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        TextColumn("mean {task.fields[mean]}"),
        TimeRemainingColumn(),
    )
    # What an environment prints is no part of the result.
    with redirect_stdout(sys.stderr), Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=episodes, pace="", mean="")
        steps, total = 0, 0.0

        def progress(one: EpisodeResult) -> None:
            nonlocal steps, total
            steps, total = steps + one.length, total + one.total
            done = bar.tasks[task].completed + 1
            elapsed = bar.tasks[task].elapsed or 1.0
            bar.update(task, advance=1, pace=f"{steps / elapsed:,.0f} steps/s", mean=f"{total / done:.2f}")

        found = evaluate(
            target,
            agent,
            episodes=episodes,
            seed=seed,
            num_envs=num_envs,
            max_steps=max_steps,
            progress=progress,
            executor=executor,
            isolation=isolation,
        )
    if as_json:
        print(msgspec.json.encode(_plain(found, agent)).decode())
    else:
        out.print(_table(found, agent))


def _plain(found: Evaluation, agent: str) -> dict[str, Any]:
    return {"id": found.name, "agent": agent, "seed": found.seed, "episodes": [_episode(one) for one in found.episodes]}


def _episode(one: EpisodeResult) -> dict[str, Any]:
    return one._asdict() | {"outcome": None if one.outcome is None else one.outcome.value}


def _table(found: Evaluation, agent: str) -> Table:
    totals = found.totals()
    failed = len(found.episodes) - len(totals)
    left_out = f", without {failed} that failed" if failed else ""
    title = f"{found.name}, {agent}, {len(totals)} episodes of seed {found.seed}{left_out}"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.ROUNDED)
    table.add_column("")
    table.add_column("return", justify="right")
    table.add_column("95 % interval")
    for name, one in (("interquartile mean", found.interval()), ("mean", found.interval(mean))):
        table.add_row(name, f"{one.value:.2f}", f"{one.low:.2f} to {one.high:.2f}")
    table.add_row("least, greatest", f"{totals.min():.2f}, {totals.max():.2f}", "")
    lengths = [one.length for one in found.counted]
    table.add_row("length", f"{sum(lengths) / len(lengths):.1f}", f"{min(lengths):,} to {max(lengths):,}")
    ended = sum(one.terminated for one in found.counted)
    table.add_row("terminated", f"{ended / len(totals):.0%}", f"{ended} of {len(totals)}")
    return table
