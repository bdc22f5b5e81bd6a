"""`ExecutionTarget`: what a result is executed again in; what its file names is imported only where it is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ludus.core import AutoresetMode, EnvSpec
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import LudusError
from ludus.evaluate.result import Result
from ludus.registry import make_vec
from ludus.registry.foreign_code import unknown_beside, unknown_code
from ludus.registry.resolution import spec_meant
from ludus.registry.shared import registry
from ludus.spaces import describe
from ludus.trajectory.header import RunHeader, source_hash
from ludus.vector.executor import Executor, Kernel

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["ExecutionTarget", "execution_target", "single_hash"]


class ExecutionTarget(NamedTuple):
    """An environment to execute a result in, or why there is none."""

    make: Callable[[int], AnyVectorEnv] | None
    """Makes a batch of so many lanes, which are reset by hand."""
    make_compiled: Callable[[int], AnyVectorEnv] | None = None
    """Makes a compiled one, whose ended lanes begin with the next step; None where there is none."""
    findings: tuple[tuple[str, str], ...] = ()
    """What is wrong already, by subject."""
    notes: tuple[str, ...] = ()


def execution_target(
    result: Result, env: object, *, executor: str | Executor | None, isolation: str | Sandbox | None
) -> ExecutionTarget:
    """Where to execute a result: in `env` if it is given, else in what its spec names, if that may be run."""
    header = result.run.header
    if env is None and header.spec is None:
        return _refused(f"expected a spec, got none: {header.unspecified}; give the environment: verify(path, env)")
    spec = spec_meant(env) if header.spec is None else header.env_spec()
    if env is not None:
        own = spec_meant(env)
        if header.spec is not None and isolation in (None, "none") and (stranger := unknown_beside(spec, own)):
            return _refused(
                f"expected {own.id!r} as it was given, got {stranger} beside it by the file's own word, which is not "
                "imported; run it isolated (--isolation sandbox)"
            )
        spec = spec.replace(entry_point=own.entry_point, vector_entry_point=own.vector_entry_point)
    elif (why := _why_not(spec)) and isolation in (None, "none"):
        return _refused(why)
    findings = _named_otherwise(result, spec, given=env is not None)
    if any(subject == "environment" for subject, _ in findings):
        return ExecutionTarget(None, None, tuple(findings))

    def make(lanes: int) -> AnyVectorEnv:
        return make_vec(spec, lanes, executor, AutoresetMode.DISABLED, isolation=isolation)

    def make_compiled(lanes: int) -> AnyVectorEnv:
        return make_vec(spec, lanes, executor=Kernel(threads=1))

    try:
        with make(1) as envs:
            findings += _unlike(header, envs, spec, isolation)
            compiled = envs.executor == "kernel"
    except LudusError as error:
        return _refused(f"expected an environment that can be made, got {error}")
    return ExecutionTarget(make, make_compiled if compiled else None, tuple(findings))


def _refused(why: str) -> ExecutionTarget:
    return ExecutionTarget(None, None, (("environment", why),))


def _why_not(spec: EnvSpec) -> str:
    """Why code that a file names is not imported; empty where this process would run the same by the id alone."""
    unknown = unknown_code(spec)
    if not unknown:
        return ""
    return (
        f"expected what is known here as {spec.id!r}, got {unknown} by the file's own word, which is not "
        "imported; name the environment yourself (env=, --env), or run it isolated (--isolation sandbox)"
    )


def _named_otherwise(result: Result, spec: EnvSpec, *, given: bool) -> list[tuple[str, str]]:
    """Where the file says one environment, and its spec is another."""
    declared, found = result.declaration.id, list[tuple[str, str]]()
    if spec.id != declared:
        found.append(("environment", f"expected {declared!r}, as is declared, got the spec of {spec.id!r}"))
    known = registry.spec(declared) if declared in registry else None
    if known is not None and not given and known.entry_point != spec.entry_point:
        found.append(("environment", f"expected {declared!r} to be {known.entry_point}, got {spec.entry_point}"))
    return found


def _unlike(header: RunHeader, envs: AnyVectorEnv, spec: EnvSpec, isolation: object) -> list[tuple[str, str]]:
    """Where the environment that was made is not the one that was recorded."""
    found: list[tuple[str, str]] = []
    for name, space in (("observation", envs.single_observation_space), ("action", envs.single_action_space)):
        if _plain(describe(space)) != _plain(getattr(header, f"{name}_space")):
            found.append(("spaces", f"expected the {name}s that were recorded, got {space!r}"))
    own = single_hash(spec) if isolation in (None, "none") else ""
    if own and header.rules and own != header.rules:
        found.append(("rules", f"expected source files with the hash {header.rules[:12]}…, got {own[:12]}…"))
    return found


def _plain(data: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(data))


def single_hash(spec: EnvSpec) -> str:
    """The hash of the source files of one environment of a spec; empty where they are not in this process."""
    with spec.make() as env:
        return source_hash(env)
