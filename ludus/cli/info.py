"""`ludus info`: all that is known of one environment."""

import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from inspect import signature
from typing import Annotated, Any

import msgspec
import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.core import Env, EnvSpec, Security
from ludus.errors import LudusError
from ludus.registry import make, registry, spec
from ludus.spaces import describe

__all__ = ["info"]


def info(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, or module:Env of the current folder.")],
    load: Annotated[bool, typer.Option(help="Load its code, to show spaces and arguments.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show an environment's spec, its spaces, and what it may touch.

    Its code is not loaded with --no-load, nor where it asks for isolation.
    """
    found = spec(target)
    env, error = _made(found) if load and found.security.isolation == "none" else (None, None)
    if as_json:
        print(_json(found, env))
    else:
        _print(found, env)
    if env is not None:
        env.close()
    if error is not None:
        raise error


def _made(found: EnvSpec) -> tuple[Env[Any, Any] | None, LudusError | None]:
    """The environment, or why it cannot be had: what the spec says is worth showing all the same."""
    try:
        with redirect_stdout(sys.stderr):  # what an environment prints is no part of what is shown
            return make(found), None
    except LudusError as error:
        return None, error


def _json(found: EnvSpec, env: Env[Any, Any] | None) -> str:
    data: dict[str, Any] = {
        "spec": msgspec.json.decode(found.to_json()),
        "package": registry.package(found),
        "security": asdict(found.security),
    }
    if env is not None:
        data["observation_space"] = describe(env.observation_space)
        data["action_space"] = describe(env.action_space)
    return msgspec.json.encode(data).decode()


def _print(found: EnvSpec, env: Env[Any, Any] | None) -> None:
    out.print(
        Text.assemble(
            (found.id, "bold cyan"), "  ", (" · ".join(filter(None, (found.family, registry.package(found)))), "dim")
        )
    )
    if found.description:
        out.print(Text(found.description))
    rows = [*_spaces(found, env), *_facts(found), *_security(found.security)]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1)
    for label, value in rows:
        table.add_row(label, Text(value))
    out.print(Padding(table, (1, 0, 0, 2)))


def _spaces(found: EnvSpec, env: Env[Any, Any] | None) -> list[tuple[str, str]]:
    if env is None:
        wall = found.security.isolation
        return [("spaces", "not loaded" if wall == "none" else f"not loaded: it asks for isolation ({wall})")]
    parameters = ", ".join(str(one) for one in signature(type(env.unwrapped)).parameters.values())
    return [
        ("observations", repr(env.observation_space)),
        ("actions", repr(env.action_space)),
        ("arguments", parameters or "none"),
        ("render modes", ", ".join(env.metadata.get("render_modes") or []) or "none"),
    ]


def _facts(found: EnvSpec) -> list[tuple[str, str]]:
    limit = found.max_episode_steps
    rows = [
        ("time limit", "none" if limit is None else f"{limit} steps"),
        ("deterministic", "yes" if found.deterministic else "no"),
        ("solved at", "" if found.reward_threshold is None else f"return {found.reward_threshold:g}"),
        ("set to", ", ".join(f"{name}={value!r}" for name, value in found.kwargs.items())),
        ("wrappers", ", ".join(one.name for one in found.additional_wrappers)),
        ("aliases", ", ".join(found.aliases)),
        ("tags", ", ".join(found.tags)),
        ("extras", ", ".join(found.extras)),
        ("author", found.author),
        ("license", found.license),
        ("code", _code(found)),
    ]
    return [(label, value) for label, value in rows if value]


def _code(found: EnvSpec) -> str:
    entry_point: Any = found.entry_point or found.vector_entry_point
    return entry_point if isinstance(entry_point, str) else f"{entry_point.__module__}:{entry_point.__qualname__}"


def _security(security: Security) -> list[tuple[str, str]]:
    rows = [(name, ", ".join(getattr(security, name))) for name in ("network", "files", "subprocesses", "dependencies")]
    said = [(label, value) for label, value in rows if value]
    wall = "none needed" if security.isolation == "none" else f"{security.isolation} or stronger"
    return [("", ""), *(said or [("may touch", "by its own word, nothing but its own memory")]), ("isolation", wall)]
