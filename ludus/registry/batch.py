"""Batches: the lanes that `make_vec` is asked for, by the executor that is, or else by the one that suits them."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from ludus.core import AutoresetMode, EnvSpec, EpisodePlan
from ludus.core.env import AnyEnv
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument, InvalidType, KernelError, shorten
from ludus.registry.arguments import Given
from ludus.registry.assembly import Created
from ludus.registry.isolation import isolated_batch
from ludus.registry.lanes import LaneMaker, Lanes
from ludus.registry.resolution import Target
from ludus.vector.executor import Executor, Kernel, Process, Serial, Thread, executor_of
from ludus.wrappers.wrapper_list import wrapper_of

if TYPE_CHECKING:
    from ludus.kernels.rule_env import RuleEnv
    from ludus.sandbox import Sandbox

__all__ = ["Batch"]

Chosen = tuple[AnyVectorEnv, str]
"""A batch, and why it runs where it does."""


class Course(NamedTuple):
    """How lanes follow their episodes."""

    autoreset_mode: AutoresetMode | str
    episodes: EpisodePlan | None


class Batch:
    """How a batch is to run, whatever its lanes are."""

    def __init__(
        self,
        executor: object,
        autoreset_mode: AutoresetMode | str,
        episodes: EpisodePlan | None,
        wrappers: Sequence[object],
    ) -> None:
        self.executor = executor_of(executor)
        if callable(wrappers) or isinstance(wrappers, str | Mapping):
            raise InvalidType(f"wrappers: expected a sequence of wrappers, got {shorten(wrappers)}")
        self.wrappers = tuple(wrapper_of(one) for one in wrappers)
        self.course = Course(autoreset_mode, episodes)

    def of(
        self,
        id: Target | Sequence[Target],
        num_envs: int | None,
        given: Given,
        *,
        limits: Mapping[str, object],
        each: Mapping[str, Sequence[object]],
        isolation: "str | Sandbox | None",
    ) -> Chosen:
        """The batch of these lanes, and why it runs where it does."""
        lanes = Lanes(id, num_envs, given, limits=limits, wrappers=self.wrappers, each=each, isolation=isolation)
        return (_isolated if lanes.isolated else _local)(lanes, self.executor, self.course)


def _isolated(lanes: Lanes, executor: Executor | None, course: Course) -> Chosen:
    """Isolated lanes: together where they are alike, each by itself where they differ or are wrapped out here."""
    if isinstance(executor, Kernel):
        raise InvalidArgument(
            "executor='kernel': expected lanes in this process, got some in a sandbox, where rules are not compiled; "
            "leave the executor out, or pass isolation='none'"
        )
    lane, box = lanes.first, lanes.first.resolved.sandbox
    apart = not lanes.alike or bool(lane.wrappers)
    if apart or box is None or isinstance(executor, Serial | Thread):
        return _batch(lanes.functions, executor or Serial(), course), "each lane in a sandbox of its own"
    workers = 1 if executor is None else _workers(executor)
    lane.check_meant()
    batch = isolated_batch(
        lane.spec, lane.given.arguments, box, num_envs=lanes.count, workers=workers, **course._asdict()
    )
    return batch, "in a sandbox"


def _workers(executor: Process) -> int:
    """How many isolated processes are asked for; the options that only workers of our own have are refused."""
    plain = Process(workers=executor.workers)
    for name in (one.name for one in fields(plain)):
        value = getattr(executor, name)
        if value != getattr(plain, name):
            raise InvalidArgument(
                f"Process.{name}: expected only workers in a sandbox, got {name}={shorten(value)}; "
                "leave it out, or say in Sandbox(deadlines=…) how long a step may take"
            )
    return executor.workers or 1


def _local(lanes: Lanes, executor: Executor | None, course: Course) -> Chosen:
    """Lanes of this process and its workers: compiled where they can be, unless another executor is asked for."""
    if executor is not None and not isinstance(executor, Kernel):
        return _batch(lanes.functions, executor, course), "as asked"
    reason, created = _why_not_declared(lanes.first), None
    if reason is None:
        created = lanes.first.bare()
        reason = _why_not(created)
    if reason is None and created is not None:
        try:
            batch = _compiled(lanes, created, executor or Kernel(), course)
        except KernelError as error:
            if executor is not None:
                raise
            warnings.warn(f"{error}; running serially", stacklevel=4)
            created.env.close()
            created, reason = None, "its rules cannot be compiled"
        else:
            return batch, "since it is made of rules" if executor is None else "as asked"
    if executor is not None:
        raise InvalidArgument(
            f"executor='kernel': expected an environment made of rules, without wrappers or render_mode, got "
            f"{lanes.first.spec.id}, but {reason}; wrap the batch instead of its lanes, or use executor='serial'"
        )
    functions = lanes.functions
    if created is not None:  # it is as good as any other: the first lane is made around it
        functions = [_Once(created, lanes.first), *functions[1:]]
    return _batch(functions, Serial(), course), f"since {reason}"


class _Once:
    """A lane whose environment is there already, the first time; then one like any other."""

    def __init__(self, created: Created, lane: LaneMaker) -> None:
        self._created: Created | None = created
        self._lane = lane

    def __call__(self) -> AnyEnv:
        created, self._created = self._created, None
        return self._lane() if created is None else self._lane.around(created)


def _batch(makers: Sequence[Callable[[], AnyEnv]], executor: Serial | Thread | Process, course: Course) -> AnyVectorEnv:
    envs = executor.batch(makers, *course)
    if envs.spec is None:
        with suppress(InvalidType):  # of a worker: one that cannot be pickled stays where it is
            envs.spec = envs.get_attr("spec")[0]
    return envs


# --- compiled lanes ---


def _why_not_declared(lane: LaneMaker) -> str | None:
    """Why lanes cannot be compiled, as far as that is known before one is made."""
    kind = lane.resolved.creator.call
    if isinstance(kind, type) and not _has_rules(kind):
        return "it is not made of rules"
    return "wrappers are around its lanes" if lane.wrappers or lane.spec.additional_wrappers else None


def _why_not(created: Created) -> str | None:
    """Why an environment cannot be compiled; None where it can."""
    spec, bare = created.env.spec, created.env.unwrapped
    if not _has_rules(type(bare)):
        return "it is not made of rules"
    if spec is None or spec.additional_wrappers:  # those that its entry point adds
        return "wrappers are around its lanes"
    return None if bare.render_mode is None else "it renders"


def _has_rules(kind: type) -> bool:
    if not hasattr(kind, "rules"):
        return False
    from ludus.kernels.rule_env import RuleEnv  # whoever has rules has loaded it; nobody else need

    return issubclass(kind, RuleEnv)


def _is_ruled(env: object) -> "TypeGuard[RuleEnv]":
    return _has_rules(type(env))


def _unlike(number: int, env: object) -> InvalidArgument:
    return InvalidArgument(
        f"lane {number}: expected the rules, spaces and time limit of lane 0 in a compiled batch, "
        f"got {env}; use executor='serial'"
    )


class _Rules(NamedTuple):
    """What lanes of a compiled batch have in common, and the environment that has it."""

    env: "RuleEnv"
    spec: EnvSpec

    def common(self) -> tuple[object, ...]:
        return self.env.rules, self.env.observation_space, self.env.action_space, self.spec.max_episode_steps


def _rules(lane: LaneMaker, created: Created, number: int = 0) -> _Rules:
    """The rules of a lane, and the spec that the whole lane would have."""
    bare = created.env.unwrapped
    if not _is_ruled(bare):
        raise _unlike(number, bare)
    if created.env is not bare:  # its entry point added a limit, perhaps: only the lane itself can tell
        return _Rules(bare, lane.around(created).spec or lane.spec)
    limits = lane.limited_spec
    spec = (bare.spec or lane.spec).replace(
        max_episode_steps=limits.max_episode_steps,
        order_enforce=limits.order_enforce,
        disable_env_checker=limits.disable_env_checker,
    )
    return _Rules(bare, spec)


def _compiled(lanes: Lanes, created: Created, executor: Kernel, course: Course) -> AnyVectorEnv:
    """A compiled batch of lanes that nothing but `make`'s own wrappers is around."""
    first = _rules(lanes.first, created)
    others = [_rules(lane, lane.bare(), number) for number, lane in enumerate(lanes.makers[1:], start=1)]
    for number, one in enumerate(others, start=1):
        if one.common() != first.common():
            raise _unlike(number, one.env)
    from ludus.kernels.overrides import refuse_overrides  # whoever has rules has loaded it

    for one in (first, *others):
        refuse_overrides(one.env)
    from ludus.kernels.batch import KernelVectorEnv  # the compiler, which takes a second to load

    envs = KernelVectorEnv(
        lambda: first.env,
        lanes.count,
        autoreset_mode=course.autoreset_mode,
        max_episode_steps=first.spec.max_episode_steps,
        params=[first.env.params, *(one.env.params for one in others)] if others else None,
        episodes=course.episodes,
        statistics=executor.statistics,
        threads=executor.threads,
        checks=executor.checks,
    )
    envs.spec = first.spec
    return envs
