"""`ludus check`: does an environment keep the contract? Does a folder, or a server?"""

import math
import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out, say
from ludus.errors import listing
from ludus.packaging.manifest import is_folder
from ludus.testing import Finding, Report, check_env
from ludus.testing.report import MAX_NAMED_RULES
from ludus.testing.service import Checkup, check_folder, check_url

__all__ = ["check"]

STYLES = {"error": "bold red", "warning": "bold yellow"}
SCHEMES = ("http://", "https://", "ws://", "wss://")


def check(
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID|FOLDER|URL",
            help="An id, module:Env of the current folder, a folder with a manifest, or a server's address.",
        ),
    ],
    seed: Annotated[int, typer.Option(min=0, help="The seed of the histories that are compared.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="The length of each history.")] = 100,
    token: Annotated[
        str | None, typer.Option(envvar="LUDUS_TOKEN", help="Of a server, with the role orchestrator.")
    ] = None,
    serve: Annotated[bool, typer.Option(help="Of a folder: serve it, and check that as well.")] = True,
    full: Annotated[
        bool, typer.Option("--full", help="Of an environment: play its compiled rules to the end, in every mode.")
    ] = False,
    seconds: Annotated[
        float, typer.Option(min=0, help="Of an environment: begin no other rule after these; the rest is named.")
    ] = 900,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Hold an environment, a folder or a server to the contract, and print every finding with its fix.

    It is run, many times over. Exit code 1 on errors, 2 when it cannot be loaded or reached.
    """
    with redirect_stdout(sys.stderr):  # what the environment prints is no part of the report
        report = _checked(target, seed, steps, token, serve=serve, full=full, seconds=seconds)
    whole = report.whole if isinstance(report, Checkup) else report
    if as_json:
        print(report.to_json())
    else:
        if isinstance(report, Checkup):
            out.print(_parts(report))
        _print(whole)
    if not whole.ok or (strict and whole.warnings):
        raise typer.Exit(1)


def _checked(
    target: str, seed: int, steps: int, token: str | None, *, serve: bool, full: bool, seconds: float
) -> Report | Checkup:
    if target.startswith(SCHEMES):
        return check_url(target, token=token, seed=seed, steps=steps)
    if is_folder(target):
        return check_folder(target, seed=seed, steps=steps, serve=serve)
    return check_env(target, seed=seed, steps=steps, full=full, seconds=math.inf if full else seconds)


def _print(report: Report) -> None:
    if report.findings:
        out.print(_table(report))
    for note in report.notes.values():
        say(f"note: {note}", "dim")
    for reason, rules in report.reasons().items():
        out.print(Text.assemble(("not checked: ", "bold"), reason))
        out.print(Padding(Text(listing(rules, MAX_NAMED_RULES), "dim"), (0, 0, 0, 2)))
    verdict = "red" if report.errors else "yellow" if report.warnings else "green"
    out.print(Text.assemble((f"{report.name}: ", "bold"), (report.summary, verdict)))


def _parts(report: Checkup) -> Table:
    table = Table(box=box.ROUNDED)
    table.add_column("part", style="cyan", no_wrap=True)
    for name in ("rules", "errors", "warnings", "not checked"):
        table.add_column(name, justify="right")
    for name, one in report.parts.items():
        counts = (len(one.rules), len(one.errors), len(one.warnings), len(one.not_checked))
        table.add_row(name, *map(str, counts), style=None if one.ok else "red")
    return table


def _table(report: Report) -> Table:
    table = Table(box=box.ROUNDED, show_lines=True)
    table.add_column("level", no_wrap=True)
    table.add_column("rule, what is wrong, and the fix", ratio=1)
    for finding in report.findings:
        table.add_row(Text(finding.level, STYLES[finding.level]), _described(finding))
    return table


def _described(finding: Finding) -> Text:
    return Text.assemble((finding.rule, "cyan"), f"\n{finding.message}\n", ("fix: ", "green"), finding.fix)
