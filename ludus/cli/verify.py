"""`ludus verify`: whether a result is what it says."""

import sys
from contextlib import redirect_stdout
from typing import Annotated

import msgspec
import typer

from ludus.cli.console import out
from ludus.evaluate import Verification, verify

__all__ = ["verify_results"]

NOT_CONFIRMED = 1


def verify_results(
    results: Annotated[list[str], typer.Argument(metavar="RESULT…", help="Files that `ludus eval --out` wrote.")],
    env: Annotated[str | None, typer.Option(help="module:Env, for one that is not registered here.")] = None,
    agent: Annotated[str | None, typer.Option(help="Ask this agent again what it does.")] = None,
    executor: Annotated[str | None, typer.Option(help="Where episodes are executed; changes nothing else.")] = None,
    isolation: Annotated[str | None, typer.Option(help="Run it isolated: none, process, sandbox or container.")] = None,
    signed_by: Annotated[str | None, typer.Option(metavar="KEY", help="The public key it has to be signed by.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Execute results again and confirm them, or name what is wrong; exit code 1 where one is not confirmed."""
    with redirect_stdout(sys.stderr):
        found = [
            verify(path, env, agent=agent, executor=executor, isolation=isolation, signed_by=signed_by)
            for path in results
        ]
    if as_json:
        print(msgspec.json.encode([_plain(one) for one in found]).decode())
    else:
        for one in found:
            out.print(str(one), style="green" if one else "red", soft_wrap=True, markup=False)
    if not all(found):
        raise typer.Exit(NOT_CONFIRMED)


def _plain(found: Verification) -> dict[str, object]:
    return {
        **found._asdict(),
        "confirmed": bool(found),
        "findings": [one._asdict() for one in found.findings],
    }
