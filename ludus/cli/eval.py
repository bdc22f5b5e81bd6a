"""`ludus eval`: how good an agent is at an environment."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ludus.cli.console import err, out
from ludus.errors import InvalidArgument
from ludus.evaluate import (
    EpisodeResult,
    Evaluation,
    ResultFile,
    evaluate,
    evaluate_suite,
    mean,
    normal_score,
    suite_named,
)
from ludus.registry import registry

__all__ = ["evaluate_agent"]


def evaluate_agent(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, or module:Env of the current folder.")],
    agent: Annotated[str, typer.Option(help="random, nop, or module:name of a function, an Agent or a policy.")],
    episodes: Annotated[int, typer.Option(min=2, help="How many.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="From which the seed of each episode is derived.")] = 0,
    num_envs: Annotated[int | None, typer.Option(min=1, help="How many are played at once.")] = None,
    executor: Annotated[str | None, typer.Option(help="Where they are played; changes nothing else.")] = None,
    max_steps: Annotated[int, typer.Option(min=1, help="Cut an episode here, if nothing else does.")] = 100_000,
    max_masked: Annotated[float, typer.Option(min=0, max=1, help="Fail if more of the episodes failed.")] = 0.1,
    isolation: Annotated[str | None, typer.Option(help="Run it isolated: none, process, sandbox or container.")] = None,
    result: Annotated[str | None, typer.Option("--out", help="Write a file that `ludus verify` checks.")] = None,
    level: Annotated[str, typer.Option(help="What the file keeps: seeds, or steps, with rewards.")] = "seeds",
    resume: Annotated[bool, typer.Option(help="Go on in the file, if it was interrupted.")] = False,
    sign: Annotated[str | None, typer.Option(metavar="KEY", help="Sign the file with this Ed25519 key.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Of a suite: how many environments at once.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print every episode as JSON.")] = False,
) -> None:
    """Play episodes with derived seeds; the same command gives the same result on every machine.

    suite:NAME plays all environments of a suite, with its own episodes and seeds, into the folder that --out names.
    """
    if target.startswith("suite:"):
        return _suite(target, agent, result, jobs, num_envs, sign, as_json)
    file = _file(result, level, resume, sign)
    # What an environment prints is no part of the result.
    with redirect_stdout(sys.stderr), _bar() as bar:
        found = evaluate(
            target,
            agent,
            episodes=episodes,
            seed=seed,
            num_envs=num_envs,
            max_steps=max_steps,
            max_masked=max_masked,
            out=file,
            progress=_Shown(bar, episodes),
            executor=executor,
            isolation=isolation,
        )
    if as_json:
        print(msgspec.json.encode(_plain(found, agent)).decode())
    else:
        out.print(_table(found, agent))
        if file is not None:
            named = "" if found.name in registry else f" --env {target}"  # what a file names is not imported
            out.print(f"check it with: ludus verify {file.path}{named}", style="dim", soft_wrap=True, markup=False)
    return None


def _suite(
    name: str, agent: str, folder: str | None, jobs: int, num_envs: int | None, sign: str | None, as_json: bool
) -> None:
    if folder is None:
        raise InvalidArgument("suite: expected a folder for its results, --out FOLDER, got none")
    with redirect_stdout(sys.stderr), _bar() as bar:
        task = bar.add_task("", total=len(suite_named(name).ids), pace="", mean="")

        def told(one: Evaluation) -> None:
            bar.update(task, advance=1, pace=one.name)

        found = evaluate_suite(name, agent, folder, jobs=jobs, num_envs=num_envs, key=sign, progress=told)
    if as_json:
        print(msgspec.json.encode([_plain(one, agent) for one in found.values()]).decode())
        return
    out.print(_suite_table(f"{name}, {agent}", list(found.values())))
    out.print(f"check it with: ludus leaderboard {folder}", style="dim", soft_wrap=True, markup=False)


def _suite_table(title: str, found: list[Evaluation]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.ROUNDED)
    table.caption = "score: interquartile mean; normal: 0 is a random agent, 1 the reference"
    for column in ("environment", "score", "95 % interval", "normal", "episodes"):
        table.add_column(column, justify="left" if column == "environment" else "right", no_wrap=True)
    for one in found:
        score = one.interval()
        normal = normal_score(one.name, score.value)
        table.add_row(
            ", ".join([one.name, *one.marks]),
            f"{score.value:.2f}",
            f"{score.low:.2f} to {score.high:.2f}",
            "" if normal is None else f"{normal:.3f}",
            str(len(one.counted)),
        )
    return table


def _file(path: str | None, level: str, resume: bool, sign: str | None) -> ResultFile | None:
    if path is None and (resume or sign):
        raise InvalidArgument("--resume and --sign: expected --out FILE with them, got none")
    return None if path is None else replace(ResultFile(path, resume=resume, key=sign), level=level)


def _bar() -> Progress:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        TextColumn("mean {task.fields[mean]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=err, transient=True)


class _Shown:
    """Tells a progress bar of episodes."""

    def __init__(self, bar: Progress, episodes: int) -> None:
        self.bar, self.task = bar, bar.add_task("", total=episodes, pace="", mean="")
        self.steps, self.total, self.counted = 0, 0.0, 0

    def __call__(self, one: EpisodeResult) -> None:
        self.steps += one.length
        if one.outcome is None or not one.outcome.masked:
            self.total, self.counted = self.total + one.total, self.counted + 1
        pace = f"{self.steps / (self.bar.tasks[self.task].elapsed or 1.0):,.0f} steps/s"
        mean = f"{self.total / self.counted:.2f}" if self.counted else "none"
        self.bar.update(self.task, advance=1, pace=pace, mean=mean)


def _plain(found: Evaluation, agent: str) -> dict[str, object]:
    return {
        "id": found.name,
        "agent": agent,
        "seed": found.seed,
        "masked": found.masked,
        "marks": found.marks,
        "episodes": [_episode(one) for one in found.episodes],
    }


def _episode(one: EpisodeResult) -> Mapping[str, object]:
    return one._asdict() | {"outcome": None if one.outcome is None else one.outcome.value}


def _table(found: Evaluation, agent: str) -> Table:
    totals = found.totals()
    title = f"{found.name}, {agent}, {len(totals)} episodes of seed {found.seed}"
    marks = [one for one in found.marks if one != f"seed {found.seed}"]
    table = Table(title=", ".join([title, *marks]), title_justify="left", title_style="bold", box=box.ROUNDED)
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
    for outcome, count in _outcomes(found).items():
        table.add_row(outcome, f"{count / len(found.episodes):.0%}", f"{count} of {len(found.episodes)}")
    return table


def _outcomes(found: Evaluation) -> dict[str, int]:
    """How often episodes ended in which way, where that was told."""
    told = [one.outcome.value for one in found.episodes if one.outcome is not None]
    return {name: told.count(name) for name in dict.fromkeys(sorted(told))}
