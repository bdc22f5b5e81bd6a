"""`ludus task`: list, show, run, audit, grade and start research tasks."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.cli.task_runs import compare, fork, replay, run_agent
from ludus.errors import InvalidArgument
from ludus.tasks import TaskSpec, find_task, known_tasks, read_task, task_schema
from ludus.tasks.agents.run import grade_folder
from ludus.tasks.audit import AuditRow, audit_task
from ludus.tasks.conversion import import_task
from ludus.tasks.metric import Direction
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
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    for column in ("id", "metric", "floor", "baseline", "threshold", "reference"):
        table.add_column(column, no_wrap=True, justify="left" if column in ("id", "metric") else "right")
    for name, spec in specs.items():
        marks = [getattr(spec.evaluation, one) for one in ("floor", "baseline", "threshold", "reference")]
        numbers = ["–" if one is None else f"{one:g}" for one in marks]
        table.add_row(name.removeprefix("task/"), f"{spec.evaluation.metric} {_better(spec)}", *numbers)
    out.print(table)


def _better(spec: TaskSpec) -> str:
    return "↑" if spec.evaluation.direction_known == "maximize" else "↓"


@task_app.command("show")
def show_task(
    name: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="An id, a shipped task's name, or a folder.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of task files, for editors.")] = False,
) -> None:
    """Show what a task asks for, and all its settings."""
    if schema:
        print(msgspec.json.encode(task_schema()).decode())
        return
    if name is None:
        raise InvalidArgument("show: expected a task, or --schema, got neither; `ludus task list` has the tasks")
    spec = find_task(name, check=False).spec
    out.print(spec.description, markup=False)
    out.print(msgspec.yaml.encode(msgspec.to_builtins(spec)).decode(), soft_wrap=True)


task_app.command("run")(run_agent)
task_app.command("compare")(compare)
task_app.command("replay")(replay)
task_app.command("fork")(fork)


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
            line = Text(f"{row.name:24} {score:>10} {row.normalised:8.3f}  {row.problem or row.reason}", style=style)
            if not row.problem:
                line.plain = line.plain.replace("\n", " ")
                line.truncate(out.width, overflow="ellipsis")
            out.print(line)

    report = audit_task(name, seed=seed, watch=watch)
    if as_json:
        print(msgspec.json.encode(report).decode())
    else:
        cheats = sum(row.kind == "cheat" for row in report.rows)
        out.print(f"{report.task}: {cheats} cheats, {len(report.problems)} problems, data {report.checksum[:16]}")
    if not report.passed:
        raise typer.Exit(1)


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


@task_app.command("import")
def import_from(
    source: Annotated[
        Path, typer.Argument(help="An MLGym task's YAML, a Harbor folder, or an MLE-bench competition's.")
    ],
    target: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
    data: Annotated[
        Path | None, typer.Option(help="Where prepared data lie, or where an MLGym file's paths begin.")
    ] = None,
    hide: Annotated[list[str] | None, typer.Option(help="Pattern of data files that only the grader may see.")] = None,
    direction: Annotated[str | None, typer.Option(help="maximize or minimize, for a metric nobody knows.")] = None,
) -> None:
    """Convert a task of another project to a folder of ours, where it can be run here; else say why not."""
    found = import_task(source, target, data=data, hide=hide or (), direction=_direction(direction))
    for note in found.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    out.print(f"{target}: from {found.kind}; try `ludus task run {target} --agent nop`", markup=False, soft_wrap=True)


def _direction(text: str | None) -> Direction | None:
    if text is None or text == "maximize" or text == "minimize":
        return text
    raise InvalidArgument(f"direction: expected 'maximize' or 'minimize', got {text!r}")
