"""`ludus check`: does an environment keep the contract?"""

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.errors import listing
from ludus.testing import Finding, Report, check_env
from ludus.testing.report import SHOWN

__all__ = ["check"]

STYLES = {"error": "bold red", "warning": "bold yellow"}


def check(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, or module:Env of the current folder.")],
    seed: Annotated[int, typer.Option(min=0, help="The seed of the histories that are compared.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="The length of each history.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Hold an environment to the contract, and print every finding with its fix.

    It is run, many times over. Exit code 1 on errors, 2 when it cannot be loaded.
    """
    with redirect_stdout(sys.stderr):  # what the environment prints is no part of the report
        report = check_env(target, seed=seed, steps=steps)
    if as_json:
        print(report.to_json())
    else:
        _print(report)
    if not report.ok:
        raise typer.Exit(1)


def _print(report: Report) -> None:
    if report.findings:
        out.print(_table(report))
    for reason, rules in report.reasons().items():
        out.print(Text.assemble(("not checked: ", "bold"), reason))
        out.print(Padding(Text(listing(rules, SHOWN), "dim"), (0, 0, 0, 2)))
    verdict = "red" if report.errors else "yellow" if report.warnings else "green"
    out.print(Text.assemble((f"{report.name}: ", "bold"), (report.summary, verdict)))


def _table(report: Report) -> Table:
    table = Table(box=box.ROUNDED, show_lines=True)
    table.add_column("level", no_wrap=True)
    table.add_column("rule, what is wrong, and the fix", ratio=1)
    for finding in report.findings:
        table.add_row(Text(finding.level, STYLES[finding.level]), _told(finding))
    return table


def _told(finding: Finding) -> Text:
    return Text.assemble((finding.rule, "cyan"), f"\n{finding.message}\n", ("fix: ", "green"), finding.fix)
