"""`ludus info`: all that is known of one environment."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import asdict
from inspect import Parameter, signature
from typing import Annotated

import msgspec
import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.cli.target import meant
from ludus.core import EnvSpec, Security
from ludus.core.env import AnyEnv
from ludus.errors import IsolationNeeded, LudusError
from ludus.registry import registry, spec
from ludus.registry.make import build
from ludus.registry.ownership import MODULE, without_arguments
from ludus.registry.provenance import Author, authors, authors_before_import
from ludus.registry.resolution import ResolvedSpec, resolve
from ludus.registry.trust import is_granted, required_isolation
from ludus.server.openenv_target import adapted
from ludus.spaces import describe

__all__ = ["info"]


def info(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, module:Env of the current folder, or a folder.")],
    load: Annotated[bool, typer.Option(help="Load its code, to show spaces and arguments.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show an environment's spec, its spaces, and what it may touch.

    With --no-load its code is not loaded; otherwise it is, in the isolation that it has to run in.
    """
    resolved, missing = _resolved(target)
    env, error = _made(resolved) if load and missing is None else (None, missing if load else None)
    if as_json:
        print(_json(resolved, env))
    else:
        _print(resolved, env)
    if env is not None:
        env.close()
    if error is not None:
        raise error


def _resolved(target: str) -> tuple[ResolvedSpec, IsolationNeeded | None]:
    """What is meant, and the isolation that it has to run in; where there is no such isolation here, also why not."""
    known = meant(target)
    try:
        return resolve(known.target, known.isolation), None
    except IsolationNeeded as error:
        if not isinstance(known.target, str) or authors_before_import(
            known.target
        ):  # what it means, only its code could tell
            raise
        found = spec(known.target)
        return ResolvedSpec(found, required_isolation(found), None, is_granted(authors(found))), error


def _made(resolved: ResolvedSpec) -> tuple[AnyEnv | None, LudusError | None]:
    """The environment, or why it cannot be had: what the spec says is worth showing all the same."""
    try:
        with redirect_stdout(sys.stderr):  # what an environment prints is no part of what is shown
            return build(resolved), None
    except LudusError as error:
        return None, error


def _json(resolved: ResolvedSpec, env: AnyEnv | None) -> str:
    found = resolved.spec
    data: dict[str, object] = {
        "spec": msgspec.json.decode(found.replace(isolation_record=None).to_json()),
        "package": registry.package(found),
        "security": asdict(found.security),
        "trust": {
            "code": [{"level": one.level, "names": one.names} for one in _authors(found)],
            "isolation": resolved.requirement.isolation,
            "reasons": resolved.requirement.reasons,
            "granted": resolved.granted,
        },
    }
    if env is not None:
        data["observation_space"] = describe(env.observation_space)
        data["action_space"] = describe(env.action_space)
    return msgspec.json.encode(data).decode()


def _print(resolved: ResolvedSpec, env: AnyEnv | None) -> None:
    found = resolved.spec
    package = "made for OpenEnv" if adapted(found) else registry.package(found)
    out.print(Text.assemble((found.id, "bold cyan"), "  ", (" · ".join(filter(None, (found.family, package))), "dim")))
    if found.description:
        out.print(Text(found.description))
    rows = [*_spaces(resolved, env), *_facts(found), *_declared(found.security), *_trust(resolved)]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label, value in rows:
        table.add_row(label, Text(value))
    out.print(Padding(table, (1, 0, 0, 2)))


def _spaces(resolved: ResolvedSpec, env: AnyEnv | None) -> list[tuple[str, str]]:
    if env is None:
        return [("spaces", "not loaded")]
    return [
        ("observations", repr(env.observation_space)),
        ("actions", repr(env.action_space)),
        *_arguments(resolved, env.unwrapped),
        ("render modes", ", ".join(env.metadata.get("render_modes") or []) or "none"),
    ]


def _arguments(resolved: ResolvedSpec, bare: AnyEnv) -> list[tuple[str, str]]:
    """What it is made with; of one that was written for OpenEnv, which makes itself, what its resets take."""
    hidden = "known inside the sandbox only"
    if not adapted(resolved.spec):
        return [("arguments", hidden if resolved.sandbox is not None else _listed(signature(type(bare)).parameters))]
    taken: list[Parameter] | None = getattr(bare, "reset_parameters", None)  # of a class that takes long to import
    told = hidden if taken is None else _listed({one.name: one for one in taken})
    return [("arguments", "none: its application makes it"), ("reset options", told)]


def _listed(parameters: Mapping[str, Parameter]) -> str:
    return ", ".join(map(str, parameters.values())) or "none"


def _facts(found: EnvSpec) -> list[tuple[str, str]]:
    limit, theirs = found.max_episode_steps, adapted(found)
    rows = [
        ("time limit", "none" if limit is None else f"{limit} steps"),
        ("deterministic", "" if theirs else "yes" if found.deterministic else "no"),  # its author does not say
        ("solved at", "" if found.reward_threshold is None else f"return {found.reward_threshold:g}"),
        ("set to", "" if theirs else ", ".join(f"{name}={value!r}" for name, value in found.kwargs.items())),
        ("wrappers", ", ".join(one.name for one in found.additional_wrappers)),
        ("aliases", ", ".join(found.aliases)),
        ("tags", ", ".join(found.tags)),
        ("extras", ", ".join(found.extras)),
        ("author", found.author),
        ("license", found.license),
        ("code", theirs or _code(found)),
    ]
    return [(label, value) for label, value in rows if value]


def _code(found: EnvSpec) -> str:
    code = without_arguments(found.entry_point or found.vector_entry_point)
    return code if isinstance(code, str) else f"{getattr(code, '__module__', '')}:{getattr(code, '__qualname__', '')}"


def _declared(security: Security) -> list[tuple[str, str]]:
    rows = [(name, ", ".join(getattr(security, name))) for name in ("network", "files", "subprocesses", "dependencies")]
    said = [(label, value) for label, value in rows if value]
    return [("", ""), *(said or [("may touch", "by its own word, nothing but its own memory")])]


def _trust(resolved: ResolvedSpec) -> list[tuple[str, str]]:
    """Whose code it is, the isolation that it has to run in, what that leaves it, and why."""
    least, reasons = resolved.requirement
    needed = "none needed" if least == "none" else f"{least} or stronger: {'; '.join(reasons)}"
    whose = "; ".join(map(str, _authors(resolved.spec)))
    return [("isolation", needed), ("code by", whose), ("can reach", _reach(resolved))]


def _authors(found: EnvSpec) -> tuple[Author, ...]:
    """Whose code it is; the adapter of what was written for OpenEnv is ours, and no code of its author's."""
    if not adapted(found):
        return authors(found)
    folder: str | None = found.kwargs.get("folder")
    if folder is not None:
        return (Author("first-party", (folder,)),)
    return tuple(one for one in authors(found) if MODULE not in one.names)


def _reach(resolved: ResolvedSpec) -> str:
    least, security = resolved.requirement.isolation, resolved.spec.security
    if least in ("none", "process"):
        where = "in this process" if least == "none" else "in a process of its own, which is no boundary"
        return f"whatever you can: it runs {where}"
    if not (security.network or security.files):
        return f"the interpreter and its packages, to read: it declares no more, and the {least} keeps to that"
    if resolved.granted:
        return f"the interpreter and its packages, to read, and the network and files above; the {least} keeps to that"
    return (
        "the interpreter and its packages, to read, and nothing of what it declares, which nobody granted; "
        f"ludus.trust(PACKAGE, {least!r}, grant=True) does"
    )
