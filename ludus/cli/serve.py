"""`ludus serve`: environments as a service."""

import os
import signal
from typing import TYPE_CHECKING, Annotated, cast

import typer
from msgspec.structs import replace

from ludus.cli.console import out, say
from ludus.cli.tokens import gathered
from ludus.errors import InvalidArgument
from ludus.server.extra import serve_extra

if TYPE_CHECKING:
    from ludus.server.access import Role
    from ludus.server.server_plan import ServerPlan

__all__ = ["serve", "variables"]

STOP_DEADLINE_S = 30.0
"""From a signal to the end, whatever an environment does."""

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
Install = Annotated[
    bool,
    typer.Option("--install", help="Install what OpenEnv's folders require, for each alone, in the user's cache."),
]
Variables = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=VALUE]", help="A variable for isolated sessions; without a value, the one that is set."
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
        str | None, typer.Option(help="The isolation of every session: none, process, sandbox or container.")
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
    install: Install = False,
    variable: Variables = None,
    pages: Annotated[bool, typer.Option("--pages/--no-pages", help="Whether a browser sees pages.")] = True,
) -> None:
    """Serve environments over HTTP and WebSocket, until Ctrl-C: for `ludus.connect`, OpenEnv clients, MCP and curl."""
    given = _given(workers=workers, isolation=isolation, max_sessions=max_sessions, idle_seconds=idle)
    given |= _given(deadline=deadline, record=record, record_level=record_level, mode=mode.lower(), install=install)
    given |= _given(variables=variables(variable or []))
    listening: dict[str, object] = {
        "host": host,
        "port": port,
        "unix": unix,
        "hosts": tuple(allow_host or ()),
        "insecure": insecure,
    }
    listening |= {"tls_cert": tls_cert, "tls_key": tls_key, "pages": pages}
    if token:
        say("warning: a token on the command line can be read by others on this machine", "yellow")
    _run(targets, given, listening, gathered(token or (), token_file), json_logs=json_logs)


def _run(
    targets: list[str],
    config: dict[str, object],
    listening: dict[str, object],
    tokens: dict[str, str],
    *,
    json_logs: bool,
) -> None:
    with serve_extra():
        from ludus.server.access import Access  # as below
        from ludus.server.config import ServerConfig  # as above
        from ludus.server.listen_config import ListenConfig  # as below
        from ludus.server.logs import log_to_stderr  # as below
        from ludus.server.run import run  # as above
        from ludus.server.server_plan import ServerPlan  # a web server is loaded by this verb alone
    log_to_stderr(as_json=json_logs)
    signal.signal(signal.SIGTERM, _end)
    listen = replace(ListenConfig(), **listening)
    access = Access(cast("dict[str, Role]", tokens))  # which refuses other roles
    plan = ServerPlan(targets, replace(ServerConfig(access=access, listen=listen), **config))
    run(plan, lambda url: _announce(plan, url), patience=STOP_DEADLINE_S)


def _end(number: int, _: object) -> None:
    """Until the server answers, and looks after signals itself: what is half done is undone, an installation too."""
    raise SystemExit(128 + number)


def variables(arguments: list[str]) -> dict[str, str]:
    """Names with their values, as `docker run -e` takes them."""
    found = {
        name: value if given else os.environ.get(name) for name, given, value in (w.partition("=") for w in arguments)
    }
    for name, value in found.items():
        if not name or value is None:
            raise InvalidArgument(f"--variable: expected NAME=VALUE, or a NAME that is set here, got {name!r}")
    return {name: value for name, value in found.items() if value is not None}


def _given(**options: object) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _announce(plan: "ServerPlan", url: str) -> None:
    """One line, at once, whoever reads it."""
    whose = "" if not plan.config.access.open else "" if plan.config.listen.private else ", for whoever reaches it"
    out.print(f"{url} serves {plan.described}{whose}", soft_wrap=True, markup=False)
    out.file.flush()
