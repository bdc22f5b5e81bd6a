"""`isolate`: from a target and a sandbox to an environment inside it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypedDict, Unpack

from ludus.core import AutoresetMode, EnvSpec, EpisodePlan
from ludus.errors import InvalidArgument, InvalidType, SandboxUnavailable, listing, shorten
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.sandbox.environment.env_process import EnvProcess, SpawnedEnvProcess
from ludus.sandbox.environment.interpreter import Interpreter, StrPath
from ludus.sandbox.environment.process_link import ProcessLink
from ludus.sandbox.environment.sandboxed_env import SandboxedEnv
from ludus.sandbox.environment.sandboxed_vector_env import SandboxedVectorEnv
from ludus.sandbox.policy import Limits
from ludus.sandbox.sandbox import CONTAINERS, Sandbox, backend, backends
from ludus.spaces import Space
from ludus.spaces.kinds import is_integer

__all__ = ["isolate", "isolate_vec", "sandbox_for"]

ISOLATION_LEVELS = ("process", "sandbox", "container")
LASTING = Limits(wall=None)
"""An environment lives as long as it is used: each step has its deadline instead."""


class ProcessOptions(TypedDict, total=False):
    """What `isolate_vec` takes as `isolate` does.

    >>> ProcessOptions(deadline=2.0)
    {'deadline': 2.0}
    """

    deadline: Deadlines | float | None
    modules: Sequence[str]
    paths: Sequence[StrPath]


def isolate(
    target: str | EnvSpec,
    arguments: Mapping[str, object] | None = None,
    sandbox: Sandbox | str = "sandbox",
    *,
    deadline: Deadlines | float | None = None,
    modules: Sequence[str] = (),
    paths: Sequence[StrPath] = (),
    spaces: Sequence[type[Space[object]]] = (),
    models: Sequence[type] = (),
) -> SandboxedEnv:
    """Make an environment in a sandboxed process: of an id, `module:Class`, a spec, or a spec's JSON.

    `arguments` are data. `modules` are imported there first, from `paths` (folders, seen read-only) if they are not
    installed. `deadline`, as a step's seconds or `Deadlines`, goes before the deadlines of the sandbox. `spaces` are
    custom space classes that may be built in this process, `models` classes for typed values that come out, where this
    process has not imported them already. A number, text or array that comes out is data; nothing that comes out is
    code.

    >>> with isolate("CartPole-v1", sandbox="process") as env:
    ...     observation, info = env.reset(seed=0)
    ...     env.step(1).reward
    1.0
    """
    plan = _Plan.of(target, arguments, sandbox, deadline=deadline, modules=modules, paths=paths)
    return SandboxedEnv(plan.link(), _spec(target, arguments), known=spaces, models=models)


def isolate_vec(
    target: str | EnvSpec,
    arguments: Mapping[str, object] | None = None,
    sandbox: Sandbox | str = "sandbox",
    *,
    num_envs: int = 1,
    workers: int = 1,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    episodes: EpisodePlan | None = None,
    spaces: Sequence[type[Space[object]]] = (),
    models: Sequence[type] = (),
    **others: Unpack[ProcessOptions],
) -> SandboxedVectorEnv:
    """A batch of `num_envs` lanes in `workers` sandboxed processes, as equal as can be; `others`: see `isolate`.

    Each process steps its lanes in one frame. The lanes, infos and autoreset modes are those of the serial executor.

    >>> with isolate_vec("CartPole-v1", sandbox="process", num_envs=3) as envs:
    ...     observations, infos = envs.reset(seed=0)
    ...     envs.step([0, 1, 0]).reward
    array([1., 1., 1.])
    """
    mode, count, number = AutoresetMode.of(autoreset_mode), _count("num_envs", num_envs), _count("workers", workers)
    if number > count:
        raise InvalidArgument(f"workers: expected at most one for each of {count} lanes, got {number}")
    plan = _Plan.of(target, arguments, sandbox, **others)
    sizes = [count // number + (place < count % number) for place in range(number)]
    return SandboxedVectorEnv(
        lambda size: plan.link(size, mode.value, planned=episodes is not None),
        sizes,
        autoreset_mode=mode,
        episodes=episodes,
        spec=_spec(target, arguments),
        known=spaces,
        models=models,
    )


def _spec(target: object, arguments: Mapping[str, object] | None) -> EnvSpec | None:
    """The spec with the arguments in it: this side's own, since what the other side might say is not to be made."""
    return target.replace(kwargs={**target.kwargs, **(arguments or {})}) if isinstance(target, EnvSpec) else None


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not is_integer(value) or value < 1:
        raise InvalidArgument(f"{name}: expected a positive integer, got {shorten(value)}")
    return int(value)


class _Plan(NamedTuple):
    """What links are made of."""

    launch: Callable[[], EnvProcess]
    blueprint: Blueprint
    deadlines: Deadlines

    @classmethod
    def of(
        cls,
        target: str | EnvSpec,
        arguments: Mapping[str, object] | None,
        sandbox: Sandbox | str,
        *,
        deadline: Deadlines | float | None = None,
        modules: Sequence[str] = (),
        paths: Sequence[StrPath] = (),
    ) -> "_Plan":
        blueprint = Blueprint.of(target, arguments, modules)
        box = sandbox_for(sandbox)
        launch = partial(SpawnedEnvProcess, box, Interpreter(blueprint.needed, paths))
        return cls(launch, blueprint, box.deadlines if deadline is None else Deadlines.of(deadline))

    def link(self, lanes: int = 0, autoreset_mode: str = "NextStep", *, planned: bool = False) -> ProcessLink:
        request = self.blueprint.request(lanes, autoreset_mode, planned=planned)
        return ProcessLink(self.launch, request, self.deadlines)


def sandbox_for(isolation: Sandbox | str) -> Sandbox:
    """The sandbox that a word of `make(isolation=…)` means, for an environment that lives as long as it is used.

    >>> sandbox_for("process").backend.name
    'process'
    """
    if isinstance(isolation, Sandbox):
        return isolation.lasting()
    if not isinstance(isolation, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidType(f"isolation: expected a word or a Sandbox, got {shorten(isolation)}")
    if isolation == "process":
        return Sandbox("process", limits=LASTING)
    if isolation == "sandbox":
        return Sandbox(limits=LASTING)
    if isolation == "container":
        return Sandbox(_container(), limits=LASTING)
    raise InvalidArgument(f"isolation: expected one of {listing(ISOLATION_LEVELS)}, got {shorten(isolation)}")


def _container() -> str:
    """The first engine that starts here, from the lightest on."""
    tried: list[str] = []
    for one in sorted(map(backend, backends()), key=lambda known: known.rank):
        if one.boundary and one.rank >= CONTAINERS:
            found = one.probe()
            if found.works:
                return one.name
            tried.append(f"{one.name}: {found.detail}")
    raise SandboxUnavailable(f"container: expected an engine that starts here, got none ({'; '.join(tried)})")
