"""`ludus serve`: environments as a service."""

from typing import Annotated, Any

import typer

from ludus.cli.console import out, say
from ludus.cli.tokens import gathered
from ludus.serve.room import loaded

__all__ = ["serve"]

# By name: a web server is loaded by this verb alone.
SETTINGS = "ludus.serve.settings:Settings"
ACCESS = "ludus.serve.access:Access"
LISTENING = "ludus.serve.listening:Listening"
PLAN = "ludus.serve.plan:Plan"
RUN = "ludus.serve.run:run"
PATIENCE = 30.0
"""Seconds from a signal to the end, whatever an environment does."""
LOG = "ludus.serve.logs:log_to_stderr"

Tokens = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROLE=TOKEN",
        help="Who may do what: orchestrator, agent or observer; may be given several times. Others on this "
        "machine can read a command line: LUDUS_TOKENS and --token-file are safer.",
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        envvar="OPENENV_MODE",
        help="Of OpenEnv's protocol: simulation, or production, which leaves agents tools and no /reset and /step.",
    ),
]
RecordFolder = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Record every session into a file of its own there.")
]
RecordLevel = Annotated[
    str | None, typer.Option(help="How much is recorded: seeds, which is enough to replay, steps or full.")
]


def serve(
    targets: Annotated[list[str], typer.Argument(metavar="TARGET", help="Ids, module:Env, or folders.")],
    host: Annotated[str, typer.Option(help="The address; others than this machine's own need tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any that is free.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Server processes.")] = 1,
    token: Tokens = None,
    token_file: Annotated[str | None, typer.Option(metavar="FILE", help="ROLE=TOKEN on each line.")] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Whoever reaches the server may run it.")] = False,
    isolation: Annotated[
        str | None, typer.Option(help="The wall for every session: none, process, sandbox or container.")
    ] = None,
    max_sessions: Annotated[int | None, typer.Option(min=1, help="At one time; more have to wait.")] = None,
    idle: Annotated[float | None, typer.Option(help="Seconds after which an unused session is closed.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Seconds that a step may take.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name that the server may be called by.")
    ] = None,
    tls_cert: Annotated[str | None, typer.Option(metavar="FILE", help="The certificate, as PEM.")] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    unix: Annotated[str | None, typer.Option(metavar="PATH", help="A Unix socket for the wire as well.")] = None,
    json_logs: Annotated[bool, typer.Option("--json-logs", help="Log as one JSON object on each line.")] = False,
    record: RecordFolder = None,
    record_level: RecordLevel = None,
    mode: Mode = "simulation",
    pages: Annotated[bool, typer.Option("--pages/--no-pages", help="Whether a browser sees pages.")] = True,
) -> None:
    """Serve environments over HTTP and WebSocket, until Ctrl-C: for `ludus.connect`, OpenEnv clients, MCP and curl."""
    given = _given(workers=workers, isolation=isolation, max_sessions=max_sessions, idle_seconds=idle)
    given |= _given(deadline=deadline, record=record, record_level=record_level, mode=mode.lower())
    settings = loaded(SETTINGS)(**given)
    listening = loaded(LISTENING)(
        host=host,
        port=port,
        unix=unix,
        hosts=tuple(allow_host or ()),
        insecure=insecure,
        tls_cert=tls_cert,
        tls_key=tls_key,
        pages=pages,
    )
    if token:
        say("warning: a token on the command line can be read by others on this machine", "yellow")
    access = loaded(ACCESS)(gathered(token or (), token_file))
    loaded(LOG)(as_json=json_logs)
    plan = loaded(PLAN)(targets, settings, access, listening)
    loaded(RUN)(plan, lambda url: _announce(plan, url), patience=PATIENCE)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _announce(plan: Any, url: str) -> None:
    """One line, at once, whoever reads it."""
    whose = "" if not plan.access.open else "" if plan.listening.private else ", for whoever reaches it"
    out.print(f"{url} serves {plan.described}{whose}", soft_wrap=True, markup=False)
    out.file.flush()
