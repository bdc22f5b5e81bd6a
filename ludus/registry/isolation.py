"""Isolation: the sandbox that an environment is made in, from a word or a value, and the environment inside it."""

from collections.abc import Mapping
from os.path import exists, expanduser, realpath
from typing import TYPE_CHECKING

from ludus.core import AutoresetMode, EnvSpec, EpisodePlan, Security
from ludus.core.env import AnyEnv
from ludus.core.spec import Isolation
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument, IsolationNeeded, SandboxUnavailable, listing, shorten
from ludus.registry.search import ISOLATION_LEVELS
from ludus.registry.trust import IsolationRequirement

if TYPE_CHECKING:
    from ludus.sandbox import Mount, Sandbox

__all__ = ["isolated", "isolated_batch", "isolation_level", "opened", "sandbox_of"]

CONTAINERS = 100
"""The rank of a backend from which on it is a container."""


def isolation_level(isolation: "str | Sandbox | None") -> Isolation | None:
    """The word for an isolation; of a `Sandbox`, the one that its backend deserves."""
    if isolation is None or (isinstance(isolation, str) and isolation in ISOLATION_LEVELS):
        return isolation  # pyright: ignore[reportReturnType]
    from ludus.sandbox import Sandbox  # what isolates is loaded where somebody asks for it

    if not isinstance(isolation, Sandbox):
        raise InvalidArgument(
            f"isolation: expected one of {listing(ISOLATION_LEVELS)}, or a Sandbox, got {shorten(isolation)}"
        )
    if not isolation.backend.boundary:
        return "process"
    return "container" if isolation.backend.rank >= CONTAINERS else "sandbox"


def sandbox_for(isolation: "str | Sandbox") -> "Sandbox":
    """The sandbox that a word means here; raises SandboxUnavailable."""
    from ludus.sandbox.environment.isolation import sandbox_for  # loaded where somebody asks for isolation

    return sandbox_for(isolation)


def sandbox_of(isolation: "str | Sandbox", id: str, requirement: IsolationRequirement) -> "Sandbox":
    """The same; raises IsolationNeeded, with who asked for it."""
    try:
        return sandbox_for(isolation)
    except SandboxUnavailable as error:
        why = (
            f" ({'; '.join(requirement.reasons)})" if requirement.isolation == isolation and requirement.reasons else ""
        )
        raise IsolationNeeded(
            f"{id}: expected to run behind a {isolation}{why}, got none that starts here: {error}; "
            "pass isolation='none' to run its code in this process, with your rights"
        ) from error


def opened(box: "Sandbox", spec: EnvSpec) -> "Sandbox":
    """The same sandbox, open for what the spec declares; a plain process is open anyway."""
    security = spec.security
    if not box.backend.boundary or not (security.network or security.files):
        return box
    if "*" in security.network:
        raise IsolationNeeded(
            f"{spec.id}: expected hosts by name in a sandbox, got the network '*', which no sandbox opens; "
            "pass isolation=Sandbox(network=[…]) with those that it needs"
        )
    return type(box)(
        box.backend.name,
        limits=box.policy.limits,
        network=security.network or "none",
        mounts=_mounts(security),
        deadlines=box.deadlines,
    )


def _mounts(security: Security) -> "list[Mount]":
    """What it declares of files, as far as it is there."""
    from ludus.sandbox import Mount  # loaded where there is a sandbox to open

    found: list[Mount] = []
    for entry in security.files:
        kind, _, path = entry.partition(":")
        where = expanduser(path)
        if kind in ("read", "write") and exists(where):
            found.append(Mount(realpath(where), where, kind == "write"))
    return found


# --- environments ---


def isolated(spec: EnvSpec, arguments: Mapping[str, object], sandbox: "Sandbox") -> AnyEnv:
    """The environment of a spec in a sandbox, its wrappers with it; a window that shows it is on this side."""
    from ludus.sandbox.environment.isolation import isolate  # loaded where somebody asks for isolation

    full, shown = _shown(spec.replace(kwargs={**spec.kwargs, **arguments}) if arguments else spec)
    env = isolate(full, None, sandbox)
    if not shown:
        return env
    from ludus.wrappers import HumanRendering  # which takes a window with it

    return HumanRendering(env)


def isolated_batch(
    spec: EnvSpec,
    arguments: Mapping[str, object],
    sandbox: "Sandbox",
    *,
    num_envs: int,
    workers: int,
    autoreset_mode: AutoresetMode | str,
    episodes: EpisodePlan | None,
) -> AnyVectorEnv:
    """A batch in `workers` sandboxed processes."""
    from ludus.sandbox.environment.isolation import isolate_vec  # loaded where somebody asks for isolation

    full = spec.replace(kwargs={**spec.kwargs, **arguments}) if arguments else spec
    return isolate_vec(
        full, None, sandbox, num_envs=num_envs, workers=workers, autoreset_mode=autoreset_mode, episodes=episodes
    )


def _shown(spec: EnvSpec) -> tuple[EnvSpec, bool]:
    """Whether a window shows it, and the spec without that: isolated code has no screen."""
    wrappers = spec.additional_wrappers
    last = wrappers[-1] if wrappers else None
    if last is not None and last.name == "HumanRendering" and last.entry_point.startswith("ludus."):
        return spec.replace(additional_wrappers=wrappers[:-1]), True
    if spec.kwargs.get("render_mode") == "human":
        return spec.replace(kwargs={**spec.kwargs, "render_mode": "rgb_array"}), True
    return spec, False
