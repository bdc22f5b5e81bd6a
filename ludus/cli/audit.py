"""`ludus audit`: are installed environment packages what they say they are?"""

from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.registry.audit import Audit, Declared, PackageAudit, ProbeRun
from ludus.registry.audit import audit as look
from ludus.wire.failures import clean

__all__ = ["audit"]

MAX_REASON_CHARS = 400


def audit(
    packages: Annotated[
        list[str] | None, typer.Argument(help="Installed packages; by default all that announce environments.")
    ] = None,
    run: Annotated[bool, typer.Option(help="Run each environment for a short episode, in a sandbox.")] = True,
    strict: Annotated[bool, typer.Option("--strict", help="What could not be checked counts as a finding.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compare installed packages with their records, their declared permissions, and known vulnerabilities.

    Exit code 0 when nothing was found, 1 on findings, 2 when it could not be run.
    """
    report = look(packages or (), run=run)
    if as_json:
        print(report.to_json())
    else:
        _print(report, strict)
    if not report.clean(strict):
        raise typer.Exit(1)


def _print(report: Audit, strict: bool) -> None:
    out.print(_packages(report))
    used = [run for one in report.packages for run in one.environments if _is_telling(run)]
    if used:
        out.print(_uses(used))
    for finding in report.findings:
        out.print(_line(finding.package, finding.kind, finding.message, "red"), soft_wrap=True)
    for one in report.unchecked:
        out.print(_line(one.package, f"{one.kind}, not checked", one.reason, "yellow"), soft_wrap=True)
    found, left = len(report.findings), len(report.unchecked)
    style = "green" if report.clean(strict) else "red"
    summary = f"{_count(found, 'finding')}, {_count(left, 'thing')} not checked"
    out.print(Text(summary, style))


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _line(package: str, kind: str, message: str, style: str) -> Text:
    return Text.assemble((package, "bold"), "  ", (kind, style), "  ", clean(message, MAX_REASON_CHARS))


def _packages(report: Audit) -> Table:
    table = Table(box=box.ROUNDED)
    table.add_column("package", style="cyan", no_wrap=True)
    for name in ("version", "licence", "files", "environments"):
        table.add_column(name)
    for one in report.packages:
        table.add_row(one.name, one.version, one.licence or "–", _files(one), _environments(one))
    return table


def _files(package: PackageAudit) -> str:
    return f"{package.files}, sha256 {package.digest[:16]}…" if package.digest else "–"


def _environments(package: PackageAudit) -> str:
    ran = sum(one.seen is not None for one in package.environments)
    return f"{len(package.environments)}, {ran} run" if package.environments else "–"


def _is_telling(run: ProbeRun) -> bool:
    nothing = Declared()
    return run.declared != nothing or run.seen not in (None, nothing) or bool(run.native)


def _uses(runs: list[ProbeRun]) -> Table:
    table = Table(box=box.ROUNDED)
    table.add_column("environment", style="cyan", no_wrap=True)
    table.add_column("declares", ratio=1)
    table.add_column("was seen to use", ratio=1)
    for run in runs:
        native = [f"native code, which is not seen: {', '.join(run.native[:5])}"] if run.native else []
        seen = ["not run"] if run.seen is None else _lines(run.seen)
        table.add_row(run.id, Text("\n".join(_lines(run.declared))), Text("\n".join([*seen, *native])))
    return table


def _lines(uses: Declared) -> list[str]:
    kinds = {"network": uses.network, "files": uses.files, "subprocesses": uses.subprocesses}
    found = [f"{kind} {clean(', '.join(values), MAX_REASON_CHARS)}" for kind, values in kinds.items() if values]
    return found or ["nothing"]
