"""`ludus task run`, `replay`, `fork`, `compare`: runs of agents on tasks, one or many, and what came of them."""

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich import box
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ludus.cli.console import err, out, say
from ludus.core import Step
from ludus.errors import InvalidArgument
from ludus.evaluate.task_page import AGENT_HEADS, TASK_HEADS, agent_cells, report_page, task_cells
from ludus.evaluate.task_report import TaskReport, task_report
from ludus.server.extra import serve_extra
from ludus.spaces.kinds import is_dict, is_list_or_tuple
from ludus.tasks import Task, find_task
from ludus.tasks.agents.agent import TaskAgent
from ludus.tasks.agents.batch import MakeAgent, PlannedRun, RunProgress, planned_runs, run_jobs
from ludus.tasks.agents.choice import AGENTS, chosen_agent
from ludus.tasks.agents.episode import Watch
from ludus.tasks.agents.model import ModelOptions
from ludus.tasks.agents.replay import fork_run, replay_run
from ludus.tasks.agents.result import RunResult, find_results, read_result
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tasks.journal import Journal
from ludus.tasks.linter import LintFinding, lint
from ludus.tools import Call, ToolOutcome

__all__ = ["compare", "fork", "replay", "run_agent"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML page.")]
NOT_MADE = 1
"""The exit code where a run could not be made; the same command tries it again."""
MAX_SHOWN = 12
"""Runs under way that are shown at once."""


def run_agent(
    names: Annotated[list[str], typer.Argument(metavar="TASK…", help="Ids, shipped tasks' names, or folders.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(AGENTS)}, a run's folder, or a YAML file; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the data; the first one where there are more.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, max=512, help="How many runs at once.")] = 2,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", help="Keep runs here, by task, agent and seed; those that are there are done."),
    ] = None,
    record: Annotated[Path | None, typer.Option(metavar="FILE", help="Record into a new .ludus.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Keep the run here, with its journal: it can be resumed, replayed and forked.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Of an OpenAI-compatible API, for the agent `model`.")] = None,
    model: Annotated[str, typer.Option(help="The name of the model.")] = "default",
    memory: Annotated[Path | None, typer.Option(help="A text file that the agent finds again in later runs.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run of the folder.")] = False,
    browser: Annotated[
        bool, typer.Option("--browser", help="The agent `human` works in a page of this machine, not in the terminal.")
    ] = False,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Have agents do tasks, and score them; with --out, many runs side by side."""
    tasks, agents = [find_task(one) for one in names], agent or ["baseline"]
    options = None if url is None else ModelOptions(url=url, model=model)

    def make_agent(name: str, task: Task, number: int) -> TaskAgent:
        return chosen_agent(name, task, number, model=options)

    if out_folder is not None:
        if folder or record or resume or memory:
            raise InvalidArgument("run: expected --out alone, got --folder, --record, --resume or --memory with it")
        planned = planned_runs(tasks, agents, range(seed, seed + seeds), out_folder)
        for one in tasks:
            for name in agents:
                make_agent(name, one, seed)  # what cannot be is told now, and not by each run
        _tell_all(_run_all(planned, make_agent, jobs, quiet=as_json), html, as_json=as_json)
        return
    if len(tasks) * len(agents) * seeds != 1 or html is not None:
        raise InvalidArgument("run: expected --out FOLDER for more than one run, or for a report, got none")
    runs = RunOptions(record=record, folder=folder, resume=resume, memory=memory)
    if browser:
        _run_in_browser(tasks[0], agents[0], seed, runs, as_json=as_json)
    else:
        _run_one(tasks[0], make_agent(agents[0], tasks[0], seed), seed, runs, as_json=as_json)


def _run_in_browser(task: Task, agent: str, seed: int, options: RunOptions, *, as_json: bool) -> None:
    if agent != "human":
        raise InvalidArgument(f"browser: expected --agent human, who works in a page, got --agent {agent}")

    def ready(url: str) -> None:
        err.print(Text.assemble((url, "bold"), "  (Ctrl+C ends the run)"), soft_wrap=True)
        # Some browsers keep their caller waiting, and the page has callers of its own.
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    with serve_extra():
        from ludus.web.task import BrowserAgent  # a web server's packages, by this option alone
    with BrowserAgent(task.spec, ready=ready) as person:
        _run_one(task, person, seed, options, as_json=as_json, tell=person.watch)


def _run_one(
    task: Task,
    agent: TaskAgent,
    seed: int,
    options: RunOptions,
    *,
    as_json: bool,
    tell: Watch | None = None,
) -> None:
    def watch(call: Call, step: Step[ToolOutcome]) -> None:
        if tell is not None:
            tell(call, step)
        if not as_json:
            words = " ".join(str(one) for one in call.arguments.values()).splitlines()
            shown = (words or [""])[0][:100]
            out.print(Text.assemble((call.tool, "blue"), f" {shown} ", (f"{step.reward:+.3f}", "dim")))

    episode = run_task(task, agent, seed, options=options, watch=watch)
    if as_json:
        print(msgspec.json.encode(episode).decode())
        return
    score = episode.score
    out.print(f"{episode.outcome}: {task.spec.evaluation.metric} {score.get('value')}, normalised {episode.total:.3f}")
    if score.get("reason"):
        say(score["reason"], "yellow")
    if options.folder is not None:
        tell_findings(read_result(options.folder).findings)


def tell_findings(findings: tuple[LintFinding, ...] | list[LintFinding]) -> None:
    """What a reader should look at, one line each."""
    for one in findings:
        say(f"to look at: step {one.step}, {one.rule}: {one.words}", "yellow")


# --- many ---


def _run_all(jobs: list[PlannedRun], make_agent: MakeAgent, workers: int, *, quiet: bool) -> list[RunResult]:
    board = _Board(len(jobs))
    if quiet or not out.is_terminal:
        return run_jobs(jobs, make_agent, workers=workers, watch=None if quiet else board.say)
    with Live(board.table(), console=out, refresh_per_second=4, get_renderable=board.table):
        return run_jobs(jobs, make_agent, workers=workers, watch=board.take)


class _Board:
    """What is under way, and how many are done."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.failed = total, 0, 0
        self.running: dict[str, RunProgress] = {}

    def take(self, progress: RunProgress) -> None:
        if progress.result is None:
            self.running[progress.job.title] = progress
            return
        self.running.pop(progress.job.title, None)
        self.done += 1
        self.failed += progress.result.masked

    def say(self, progress: RunProgress) -> None:
        """A line for each run that ends, where nobody sees a table move."""
        self.take(progress)
        found = progress.result
        if found is not None:
            value = "–" if found.value is None else f"{found.value:.4g}"
            line = f"[{self.done}/{self.total}] {progress.job.title}: {found.outcome} {value} ({found.normalised:.3f})"
            out.print(line, markup=False, soft_wrap=True)

    def table(self) -> Table:
        title = f"{self.done} of {self.total} runs, {self.failed} failed"
        table = Table(box=box.SIMPLE, title=title, title_justify="left")
        for column in ("run", "steps", "reward"):
            table.add_column(column, justify="left" if column == "run" else "right", no_wrap=True)
        for name, one in list(self.running.items())[:MAX_SHOWN]:
            table.add_row(name, str(one.steps), f"{one.total:+.3f}")
        return table


def _tell_all(results: list[RunResult], html: Path | None, *, as_json: bool) -> None:
    """The report; where runs say nothing of their agent, since something else failed, the command fails too."""
    _report(results, html, as_json=as_json)
    if any(one.masked for one in results):
        raise typer.Exit(NOT_MADE)


def compare(
    places: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Of runs, or with runs in them.")],
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Compare runs: scores, AUP and intervals by agent, paired tests, how runs ended, what was called."""
    _report(find_results(places), html, as_json=as_json)


def _report(results: list[RunResult], html: Path | None, *, as_json: bool) -> None:
    report = task_report(results)
    if html is not None:
        html.write_text(report_page(report), encoding="utf8")
    if as_json:
        print(msgspec.json.encode(_plain(report)).decode())
        return
    out.print(_table(TASK_HEADS, task_cells(report), left_out=("metric", "best submitted")))
    out.print(_table(AGENT_HEADS, agent_cells(report), left_out=("left out",)))
    for one in report.pairs:
        sure = f"p {one.test.p_value:.3g} over {one.test.pairs} pairs"
        out.print(f"{one.one} − {one.other}: {one.test.difference:+.3f}, {sure}", markup=False)
    _tell_ends(report)
    if html is not None:
        out.print(f"{html}: the report", markup=False)


def _plain(value: object) -> object:
    """Lines of a report with the names of what they have."""
    as_dict: object = getattr(value, "_asdict", None)
    fields: object = as_dict() if callable(as_dict) else value
    if is_dict(fields):
        return {str(name): _plain(one) for name, one in fields.items()}
    return [_plain(one) for one in value] if is_list_or_tuple(value) else value


def _tell_ends(report: TaskReport) -> None:
    for agent, counts in report.outcomes.items():
        ended = ", ".join(f"{count} {name}" for name, count in counts.items())
        used = dict(report.actions.get(agent, {}))
        whole = [f"{used.pop(name, 0.0):.1f} {name}" for name in ("steps", "errors")]
        calls = [f"{count:.1f} {name}" for name, count in sorted(used.items(), key=lambda one: (-one[1], one[0]))]
        out.print(f"{agent}: {ended}; for a run {', '.join([*whole, *calls])}", markup=False)
    for one in report.runs:
        if one.masked:
            say(f"left out: {one.task} {one.agent} {one.seed}: {one.outcome}: {one.reason}", "yellow")
        tell_findings(one.findings)


def _table(heads: tuple[str, ...], rows: list[list[str]], *, left_out: tuple[str, ...]) -> Table:
    """A table that fits 80 columns; the page has all of them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    shown = [at for at, head in enumerate(heads) if head not in left_out]
    for at in shown:
        words = heads[at] in ("task", "agent")
        name = heads[at].replace("95 % interval", "95 %").replace("normalised", "score")
        table.add_column(name, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in rows:
        table.add_row(*(row[at] for at in shown))
    return table


# --- runs of before ---


def replay(
    name: Annotated[str, typer.Argument(metavar="TASK", help="An id, a shipped task's name, or a folder.")],
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
) -> None:
    """Do the calls of a run again, and tell what differs; fails if anything does."""
    task = find_task(name)
    differs = replay_run(task, folder)
    for one in differs:
        out.print(f"step {one.step}, {one.what}: expected {one.before[:200]!r}, got {one.now[:200]!r}", markup=False)
    tell_findings(lint(task.spec, Journal(folder).read()))
    out.print("the same" if not differs else f"{len(differs)} difference{'s' * (len(differs) > 1)}")
    if differs:
        raise typer.Exit(1)


def fork(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    step: Annotated[int, typer.Argument(min=0, help="The last step to keep.")],
    target: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
) -> None:
    """Begin another run where one was after a step; `run --resume` goes on with it."""
    fork_run(folder, step, target)
    out.print(f"{target}: `ludus task run TASK --folder {target} --resume` goes on after step {step}")
