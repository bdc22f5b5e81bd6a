"""`make_vec`: many environments, stepped together, by the executor that suits them."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any

from ludus.core import AutoresetMode, Env, EpisodePlan, VectorEnv
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.registry.arguments import accepted
from ludus.registry.confinement import Settled, settle
from ludus.registry.loading import load
from ludus.registry.make import Target, make_settled, make_settled_batch
from ludus.wrappers.wrapping import wrapper_of

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox
    from ludus.sandbox.environment import Deadlines

__all__ = ["EXECUTORS", "make_vec"]

AnyEnv = Env[Any, Any]
WrapLane = Callable[[AnyEnv], AnyEnv]
EXECUTORS = ("serial", "thread", "process", "kernel")
CLASSES = {
    "serial": "ludus.vector:SerialVectorEnv",
    "thread": "ludus.vector:ThreadVectorEnv",
    "process": "ludus.vector:ProcessVectorEnv",
    "kernel": "ludus.kernels.batch:KernelVectorEnv",
}
"""By name: the compiler and the workers are loaded only when they are asked for."""
OPTIONS = {
    "serial": ("copy",),
    "thread": ("copy", "num_threads"),
    "process": ("batch_size", "context", "copy", "max_restarts", "num_workers", "on_failure", "timeout"),
    "kernel": ("statistics", "threads"),
}
"""What each executor takes beside lanes; all other keywords go to the environments."""


def make_vec(
    id: Target | Sequence[Target],
    num_envs: int | None = None,
    executor: str | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[Any] = (),
    *,
    isolation: "str | Sandbox | None" = None,
    deadline: "Deadlines | float | None" = 30.0,
    each: Mapping[str, Sequence[Any]] | None = None,
    episodes: EpisodePlan | None = None,
    verbose: bool = False,
    **kwargs: Any,
) -> VectorEnv[Any, Any]:
    """A batch of lanes, each made as `make(id, **kwargs)` makes it and then wrapped by each of `wrappers`.

    `id` is an id, a spec, an Env class or a function that returns an environment; a list of them gives every lane its
    own. `each` gives an argument, or a parameter of the rules, one value for each lane. The executor says where lanes
    run; it never changes what they do. By default environments made of rules are compiled and others run serially;
    `verbose` prints which it is, and why. Behind a wall, with `isolation` and `deadline` as in `make`, lanes share
    `num_workers` confined processes, each of which steps its lanes in one message. `spec` is that of one lane.

    >>> envs = make_vec("GridWorld-v0", num_envs=2, size=3)
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1]])
    >>> make_vec("CartPole-v1", 2, each={"gravity": [9.8, 1.6]}).get_attr("gravity")
    (9.8, 1.6)
    """
    if executor is not None and executor not in EXECUTORS:
        raise InvalidArgument(f"executor: expected one of {listing(EXECUTORS)}, got {shorten(executor)}")
    if callable(wrappers) or isinstance(wrappers, str | Mapping):
        raise InvalidType(f"wrappers: expected a sequence of wrappers, got {shorten(wrappers)}")
    names = {name for options in OPTIONS.values() for name in options} if executor is None else OPTIONS[executor]
    options = {name: kwargs.pop(name) for name in names if name in kwargs}
    lanes = _Lanes(id, num_envs, tuple(wrapper_of(one) for one in wrappers), each or {}, kwargs, isolation, deadline)
    common = {"autoreset_mode": autoreset_mode, "episodes": episodes}
    envs, why = (_behind if lanes.walled else _chosen)(lanes, executor, options, common)
    if verbose:
        print(f"{envs}: executor {envs.executor!r}, {why}; {envs.autoreset_mode.value}")  # noqa: T201
    return envs


class _Lanes:
    """Every lane of a batch, as functions that make them."""

    def __init__(
        self,
        id: Any,
        num_envs: Any,
        wrappers: tuple[WrapLane, ...],
        each: Mapping[str, Sequence[Any]],
        kwargs: dict[str, Any],
        isolation: Any,
        deadline: Any,
    ) -> None:
        many = isinstance(id, Sequence) and not isinstance(id, str)
        targets: list[Any] = list(id) if many else [id]
        self.count = _count(num_envs, targets if many else None)
        for name, values in each.items():
            if isinstance(values, str | Mapping) or not hasattr(values, "__len__") or len(values) != self.count:
                raise InvalidArgument(
                    f"each[{name!r}]: expected {self.count} values, one for each lane, got {shorten(values)}"
                )
        specs = [settle(one, isolation) for one in targets]
        self.first, self.kwargs, self.alike = specs[0], kwargs, len(specs) == 1 and not each
        self.walled = any(one.sandbox is not None for one in specs)
        self.wrapped, self.deadline = bool(wrappers), deadline
        self.makers: list[Callable[[], AnyEnv]] = [
            partial(
                _lane,
                specs[lane % len(specs)],
                wrappers,
                {**kwargs, "deadline": deadline, **{name: _plain(values[lane]) for name, values in each.items()}},
                tuple(each),
            )
            for lane in range(1 if self.alike else self.count)
        ]

    @property
    def functions(self) -> list[Callable[[], AnyEnv]]:
        """One function for each lane."""
        return self.makers * self.count if self.alike else self.makers


def _behind(
    lanes: _Lanes, executor: str | None, options: dict[str, Any], common: dict[str, Any]
) -> tuple[VectorEnv[Any, Any], str]:
    """Lanes behind a wall: together where they are alike, each by itself where they differ or are wrapped out here."""
    if executor == "kernel":
        raise InvalidArgument(
            "executor='kernel': expected lanes in this process, got some behind a wall, where rules are not compiled; "
            "leave the executor out, or pass isolation='none'"
        )
    if lanes.alike and not lanes.wrapped and executor in (None, "process"):
        strange = [name for name in options if name != "num_workers"]
        if strange:
            raise InvalidArgument(f"{strange[0]}: expected only num_workers behind a wall, got {listing(options)}")
        sizes = {"num_envs": lanes.count, "workers": options.get("num_workers") or 1, "deadline": lanes.deadline}
        return make_settled_batch(lanes.first, {**sizes, **common}, **lanes.kwargs), "behind a wall"
    return _plain_batch(lanes, executor or "serial", options, common), "each lane behind a wall of its own"


def _chosen(
    lanes: _Lanes, executor: str | None, options: dict[str, Any], common: dict[str, Any]
) -> tuple[VectorEnv[Any, Any], str]:
    """The batch, and why it runs where it does."""
    if executor not in (None, "kernel"):
        return _plain_batch(lanes, executor, options, common), "as asked"
    first = lanes.makers[0]()
    hindrance = _hindrance(first)
    if hindrance is None:
        try:
            batch = _compiled(lanes, first, options, common)
        except InvalidType as error:  # KernelError, which the registry cannot name without loading the compiler
            if executor == "kernel" or type(error).__name__ != "KernelError":
                raise
            warnings.warn(f"{error}; running serially", stacklevel=3)
            hindrance = "its rules cannot be compiled"
        else:
            return batch, "as asked" if executor else "since it is made of rules"
    if executor == "kernel":
        raise InvalidArgument(
            f"executor='kernel': expected an environment made of rules, without wrappers or render_mode, got {first}; "
            "wrap the batch instead of its lanes, or use executor='serial'"
        )
    first.close()
    unknown = [name for name in options if name not in OPTIONS["serial"]]
    if unknown:
        owners = [name for name, known in OPTIONS.items() if unknown[0] in known]
        raise InvalidArgument(
            f"{unknown[0]}: expected executor={listing(owners)}, which takes it, got the serial one, since {hindrance}"
        )
    return _plain_batch(lanes, "serial", options, common), f"since {hindrance}"


def _hindrance(env: AnyEnv) -> str | None:
    """Why an environment cannot be a compiled batch; None where it can."""
    spec, bare = env.spec, env.unwrapped
    if not hasattr(bare, "rules"):
        return "it is not made of rules"
    if spec is None or spec.additional_wrappers:
        return "wrappers are around its lanes"
    return None if bare.render_mode is None else "it renders"


def _plain_batch(
    lanes: _Lanes, executor: str | None, options: dict[str, Any], common: dict[str, Any]
) -> VectorEnv[Any, Any]:
    envs = load_entry_point(CLASSES[executor or "serial"])(lanes.functions, **common, **options)
    if envs.spec is None:
        with suppress(InvalidType):  # of a worker: one that cannot be pickled stays where it is
            envs.spec = envs.get_attr("spec")[0]
    return envs


def _compiled(lanes: _Lanes, first: AnyEnv, options: dict[str, Any], common: dict[str, Any]) -> VectorEnv[Any, Any]:
    """A compiled batch of lanes that nothing but `make`'s own wrappers is around."""
    unknown = [name for name in options if name not in OPTIONS["kernel"]]
    if unknown:
        owners = [name for name, known in OPTIONS.items() if unknown[0] in known]
        raise InvalidArgument(f"{unknown[0]}: expected executor={listing(owners)}, which takes it, got 'kernel'")
    bare: Any = first.unwrapped
    others = [make() for make in lanes.makers[1:]]
    limit = None if first.spec is None else first.spec.max_episode_steps
    for lane, one in enumerate(others, start=1):
        rules, steps = getattr(one.unwrapped, "rules", None), None if one.spec is None else one.spec.max_episode_steps
        if (
            rules != bare.rules
            or steps != limit
            or (one.observation_space, one.action_space)
            != (
                first.observation_space,
                first.action_space,
            )
        ):
            raise InvalidArgument(
                f"lane {lane}: expected the rules, spaces and time limit of lane 0 in a compiled batch, got {one}; "
                "use executor='serial'"
            )
    params = None if not others else [bare.params, *(one.unwrapped.params for one in others)]  # type: ignore[attr-defined]
    batch = load_entry_point(CLASSES["kernel"])
    envs = batch(lambda: bare, lanes.count, max_episode_steps=limit, params=params, **common, **options)
    envs.spec = first.spec
    return envs


def _count(num_envs: Any, targets: list[Any] | None) -> int:
    if targets is not None and num_envs is None:
        num_envs = len(targets)
    try:
        number = 1 if num_envs is None else index(num_envs)
    except TypeError:
        number = 0
    if isinstance(num_envs, bool) or number < 1:
        raise InvalidArgument(f"num_envs: expected a positive integer, got {shorten(num_envs)}")
    if targets is not None and number != len(targets):
        raise InvalidArgument(f"num_envs: expected {len(targets)}, one for each environment given, got {number}")
    return number


def _lane(
    settled: Settled, wrappers: tuple[WrapLane, ...], kwargs: dict[str, Any], own: tuple[str, ...] = ()
) -> AnyEnv:
    """One lane; those of its `own` arguments that the constructor does not take are parameters of its rules."""
    spec, here = settled.spec, settled.sandbox is None  # what is behind a wall is not loaded here
    known = accepted(load(spec.entry_point, spec.id)) if own and here and spec.entry_point is not None else None
    later = [] if known is None else [name for name in own if name not in known]
    env = make_settled(settled, **{name: value for name, value in kwargs.items() if name not in later})
    for name in later:
        bare: Any = env.unwrapped
        if name not in getattr(getattr(bare, "params", None), "_fields", ()):
            raise InvalidArgument(
                f"each[{name!r}]: expected an argument of {spec.id}, or a parameter of its rules; "
                f"arguments are {listing(known or ())}"
            )
        setattr(bare, name, kwargs[name])
    for wrap in wrappers:
        env = wrap(env)
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"wrappers: expected {shorten(wrap)} to return an Env, got {shorten(env)}")
    return env


def _plain(value: Any) -> Any:
    """A NumPy number as Python's own, as an argument given by itself would be."""
    return value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value
