"""`ludus task`: list, show, run, audit, grade and start research tasks."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich import box
from rich.table import Table

from ludus.cli.console import out, say
from ludus.tasks import find_task, known_tasks, read_task, task_schema
from ludus.tasks.agents.choice import AGENTS, chosen_agent
from ludus.tasks.agents.model import ModelOptions
from ludus.tasks.agents.replay import fork_run, replay_run
from ludus.tasks.agents.run import RunOptions, grade_folder, run_task
from ludus.tasks.audit import AuditRow, audit_task
from ludus.tasks.new import new_task

__all__ = ["task_app"]

task_app = typer.Typer(
    name="task", no_args_is_help=True, add_completion=False, help="Research tasks: list, show, run, audit, new."
)
Name = Annotated[str, typer.Argument(metavar="TASK", help="An id, a shipped task's name, or a folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@task_app.command("list")
def list_tasks(as_json: Json = False) -> None:
    """List the tasks that are found."""
    specs = {name: read_task(folder) for name, folder in known_tasks().items()}
    if as_json:
        print(msgspec.json.encode({name: {"name": one.name, "tags": one.tags} for name, one in specs.items()}).decode())
        return
    table = Table(box=box.ROUNDED)
    for column in ("id", "name", "metric", "baseline", "threshold", "reference"):
        table.add_column(column, no_wrap=column == "id")
    for name, spec in specs.items():
        marks = [getattr(spec.evaluation, one) for one in ("baseline", "threshold", "reference")]
        table.add_row(name, spec.name, spec.evaluation.metric, *("–" if one is None else f"{one:g}" for one in marks))
    out.print(table)


@task_app.command("show")
def show_task(
    name: Name, schema: Annotated[bool, typer.Option(help="Print the JSON schema of task files.")] = False
) -> None:
    """Show what a task asks for, and all its settings."""
    if schema:
        print(msgspec.json.encode(task_schema()).decode())
        return
    spec = find_task(name).spec
    out.print(spec.description, markup=False)
    print(msgspec.yaml.encode(msgspec.to_builtins(spec)).decode())


@task_app.command("run")
def run_agent(
    name: Name,
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(AGENTS)}.")] = "baseline",
    seed: Annotated[int, typer.Option(min=0, help="Of the data.")] = 0,
    record: Annotated[Path | None, typer.Option(metavar="FILE", help="Record into a new .ludus.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Keep the run here, with its journal: it can be resumed, replayed and forked.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Of an OpenAI-compatible API, for the agent `model`.")] = None,
    model: Annotated[str, typer.Option(help="The name of the model.")] = "default",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run of the folder.")] = False,
    as_json: Json = False,
) -> None:
    """Have an agent do a task, and score it."""
    task = find_task(name)
    chosen = chosen_agent(agent, task, seed, model=None if url is None else ModelOptions(url=url, model=model))
    runs = RunOptions(record=record, folder=folder, resume=resume)

    def watch(call: Any, step: Any) -> None:
        if not as_json:
            words = " ".join(str(one) for one in call.arguments.values()).splitlines()
            out.print(f"[blue]{call.tool}[/blue]", (words or [""])[0][:100], f"[dim]{step.reward:+.3f}[/dim]")

    episode = run_task(task, chosen, seed, options=runs, watch=watch)
    if as_json:
        print(msgspec.json.encode(episode).decode())
        return
    score = episode.score
    out.print(f"{episode.outcome}: {task.spec.evaluation.metric} {score.get('value')}, normalised {episode.total:.3f}")
    if score.get("reason"):
        say(score["reason"], "yellow")


@task_app.command("audit")
def audit(
    name: Name,
    seed: Annotated[int, typer.Option(min=0, help="Of the data.")] = 0,
    as_json: Json = False,
) -> None:
    """Run nop, random, baseline, reference and all cheats; fails if one beats doing nothing."""

    def watch(row: AuditRow) -> None:
        if not as_json:
            style = "red" if row.problem else "green" if row.kind == "agent" else "dim"
            score = "–" if row.value is None else f"{row.value:.4f}"
            out.print(f"{row.name:24} {score:>10} {row.normalised:8.3f}  {row.problem or row.reason[:80]}", style=style)

    report = audit_task(name, seed=seed, watch=watch)
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        cheats = sum(row.kind == "cheat" for row in report.rows)
        out.print(f"{report.task}: {cheats} cheats, {len(report.problems)} problems, data {report.checksum[:16]}")
    if not report.passed:
        raise typer.Exit(1)


@task_app.command("replay")
def replay(name: Name, folder: Annotated[Path, typer.Argument(help="The folder of a run.")]) -> None:
    """Do the calls of a run again, and tell what differs; fails if anything does."""
    differs = replay_run(find_task(name), folder)
    for one in differs:
        out.print(f"step {one.step}, {one.what}: expected {one.before[:200]!r}, got {one.now[:200]!r}", markup=False)
    out.print("the same" if not differs else f"{len(differs)} differences")
    if differs:
        raise typer.Exit(1)


@task_app.command("fork")
def fork(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    step: Annotated[int, typer.Argument(min=0, help="The last step to keep.")],
    target: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
) -> None:
    """Begin another run where one was after a step; `run --resume` goes on with it."""
    fork_run(folder, step, target)
    out.print(f"{target}: `ludus task run TASK --folder {target} --resume` goes on after step {step}")


@task_app.command("grade")
def grade(
    name: Name,
    submission: Annotated[Path, typer.Argument(help="A folder with the files to grade.")],
    seed: Annotated[int, typer.Option(min=0, help="Of the data.")] = 0,
    split: Annotated[str | None, typer.Option(help="The split; the hidden one unless told.")] = None,
) -> None:
    """Grade files as a run of this seed would have been graded."""
    print(msgspec.json.encode(grade_folder(find_task(name), submission, seed, split=split)).decode())


@task_app.command("new")
def new(folder: Annotated[Path, typer.Argument(help="A folder that is not there yet.")]) -> None:
    """Begin a task: a folder with a task file, generator, grader and solutions that run."""
    new_task(folder)
    out.print(f"{folder}: try `ludus task audit {folder}`")
