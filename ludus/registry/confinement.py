"""Confinement: the wall that an environment is made behind, from what is asked for, what was said and what there is."""

from collections.abc import Mapping
from os.path import exists, expanduser, realpath
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.core import Env, EnvSpec, Security, Wall
from ludus.core.spec import Isolation, load_entry_point
from ludus.errors import InvalidArgument, IsolationNeeded, SandboxUnavailable, listing, shorten
from ludus.registry.provenance import Author, authors, authors_ahead
from ludus.registry.request import requested
from ludus.registry.search import WALLS
from ludus.registry.trust import Demand, demand, demand_ahead, granted, stronger

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["Settled", "confined", "confined_batch", "settle"]

# By name: what makes walls is loaded when one is needed.
SANDBOX = "ludus.sandbox.sandbox:Sandbox"
SANDBOX_FOR = "ludus.sandbox.environment.confining:sandbox_for"
CONFINE = "ludus.sandbox.environment.confining:confine"
CONFINE_VEC = "ludus.sandbox.environment.confining:confine_vec"
RESOLVE = "ludus.registry.behind.resolution:resolve_behind"
WINDOW = "ludus.wrappers:HumanRendering"
CONTAINERS = 100


class Settled(NamedTuple):
    """What is to be made, and behind what."""

    spec: EnvSpec
    """With the `wall` that goes on record."""
    demand: Demand
    sandbox: "Sandbox | None"
    """None: in this process."""
    granted: bool = False
    """Whether the wall opens for what the spec declares."""


def settle(id: Any, isolation: "str | Sandbox | None" = None) -> Settled:
    """Decide: the wall that was asked for by name, else the strongest of what spec, trust and an earlier making say.

    Fails closed: IsolationNeeded where that wall cannot be given, and nothing runs. Where only code can tell what a
    text means, that code runs behind the wall as well.
    """
    given = _word(isolation)
    if not isinstance(id, str):
        return _settled(requested(id), isolation, Demand())
    ahead = demand_ahead(id)
    before = ahead.isolation if given is None else given
    whose = authors_ahead(id) if before != "none" else ()
    if not whose:
        return _settled(requested(id), isolation, ahead)
    box = _box(before if given is None else isolation, id, ahead)
    return _settled(load_entry_point(RESOLVE)(id, box.backend.name), isolation, ahead, whose)


def _settled(spec: EnvSpec, isolation: Any, ahead: Demand, whose: tuple[Author, ...] = ()) -> Settled:
    """`whose` code said what the spec is, where others than its authors did."""
    asked, earlier = demand(spec), "none" if spec.wall is None else spec.wall.isolation
    if WALLS.index(ahead.isolation) > WALLS.index(asked.isolation):
        asked = ahead
    given = _word(isolation)
    wall = stronger(asked.isolation, earlier) if given is None else given
    if wall == "none":
        record = None if asked.isolation == "none" else Wall("none", asked.isolation)
        return Settled(spec.replace(wall=record), asked, None)
    box = _box(wall if given is None else isolation, spec.id, asked)
    opens = (given is None or isinstance(isolation, str)) and granted([*authors(spec), *whose])
    record = Wall(wall, asked.isolation, box.backend.name)
    return Settled(spec.replace(wall=record), asked, _opened(box, spec) if opens else box, opens)


def confined(spec: EnvSpec, arguments: Mapping[str, Any], sandbox: "Sandbox", deadline: Any = 30.0) -> Env[Any, Any]:
    """The environment of a spec behind a wall, its wrappers with it; a window that shows it is on this side."""
    full, shown = _shown(spec.replace(kwargs={**spec.kwargs, **arguments}))
    env = load_entry_point(CONFINE)(full, None, sandbox, deadline=deadline)
    return load_entry_point(WINDOW)(env) if shown else env


def confined_batch(
    spec: EnvSpec, arguments: Mapping[str, Any], sandbox: "Sandbox | None", options: Mapping[str, Any]
) -> Any:
    """A batch behind walls; `options` are those of `confine_vec`."""
    full = spec.replace(kwargs={**spec.kwargs, **arguments})
    return load_entry_point(CONFINE_VEC)(full, None, sandbox, **options)


def _shown(spec: EnvSpec) -> tuple[EnvSpec, bool]:
    """Whether a window shows it, and the spec without that: confined code has no screen."""
    wrappers = spec.additional_wrappers
    last = wrappers[-1] if wrappers else None
    if last is not None and last.name == "HumanRendering" and last.entry_point.startswith("ludus."):
        return spec.replace(additional_wrappers=wrappers[:-1]), True
    if spec.kwargs.get("render_mode") == "human":
        return spec.replace(kwargs={**spec.kwargs, "render_mode": "rgb_array"}), True
    return spec, False


# --- walls ---


def _word(isolation: Any) -> Isolation | None:
    """The word for a wall; of a `Sandbox`, the one that its backend deserves."""
    if isolation is None or (isinstance(isolation, str) and isolation in WALLS):
        return isolation  # pyright: ignore[reportReturnType]
    if isinstance(isolation, str) or not isinstance(isolation, load_entry_point(SANDBOX)):
        raise InvalidArgument(f"isolation: expected one of {listing(WALLS)}, or a Sandbox, got {shorten(isolation)}")
    backend: Any = isolation.backend  # pyright: ignore[reportAttributeAccessIssue]
    if not backend.boundary:
        return "process"
    return "container" if backend.rank >= CONTAINERS else "sandbox"


def _box(wall: Any, id: str, asked: Demand) -> Any:
    try:
        return load_entry_point(SANDBOX_FOR)(wall)
    except SandboxUnavailable as error:
        why = f" ({'; '.join(asked.reasons)})" if asked.isolation == wall and asked.reasons else ""
        raise IsolationNeeded(
            f"{id}: expected to run behind a {wall}{why}, got none that starts here: {error}; "
            "pass isolation='none' to run its code in this process, with your rights"
        ) from error


def _opened(box: Any, spec: EnvSpec) -> Any:
    """The same sandbox, open for what the spec declares; a plain process is open anyway."""
    security = spec.security
    if not box.backend.boundary or not (security.network or security.files):
        return box
    if "*" in security.network:
        raise IsolationNeeded(
            f"{spec.id}: expected hosts by name behind a wall, got the network '*', which no sandbox opens; "
            "pass isolation=Sandbox(network=[…]) with those that it needs"
        )
    network, limits = security.network or "none", box.policy.limits
    return type(box)(box.backend.name, limits=limits, network=network, mounts=_mounts(security))


def _mounts(security: Security) -> list[Any]:
    """What it declares of files, as far as it is there."""
    mount, found = load_entry_point("ludus.sandbox.policy:Mount"), list[Any]()
    for entry in security.files:
        kind, _, path = entry.partition(":")
        where = expanduser(path)
        if kind in ("read", "write") and exists(where):
            found.append(mount(realpath(where), where, kind == "write"))
    return found
