"""The registry by Gymnasium's names and arguments."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from enum import Enum
from functools import partial
from typing import Any

from ludus.core import EnvId, EnvSpec, WrapperSpec
from ludus.core.entry_point import EntryPoint
from ludus.core.env import AnyEnv
from ludus.core.spec import Arguments, load_entry_point
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument, IsolationNeeded, RegistrationError, listing, shorten
from ludus.interop.as_gymnasium.executors import AsyncVectorEnv, SyncVectorEnv
from ludus.registry import make, namespace, register_envs, spec
from ludus.registry import make_vec as batch_of
from ludus.registry import pprint_registry as print_ids
from ludus.registry import register as enter
from ludus.registry import registry as known
from ludus.registry.arguments import LIMITS
from ludus.registry.resolution import resolve, spec_meant
from ludus.registry.trust import required_before_import

__all__ = [
    "VectorizeMode",
    "current_namespace",
    "find_highest_version",
    "get_env_id",
    "load_env_creator",
    "make",
    "make_vec",
    "namespace",
    "parse_env_id",
    "pprint_registry",
    "register",
    "register_envs",
    "registry",
    "spec",
]

WrapLane = Callable[[AnyEnv], AnyEnv]
current_namespace: str | None = None


class GymnasiumRegistry(MutableMapping[str, EnvSpec]):
    """Ludus's registry as the dictionary that Gymnasium's programs take it for.

    >>> "GridWorld-v0" in GymnasiumRegistry()
    True
    """

    def __getitem__(self, id: str) -> EnvSpec:
        return known[id]

    def __setitem__(self, id: str, spec: EnvSpec) -> None:
        enter(spec.replace(id=id))

    def __delitem__(self, id: str) -> None:
        del known[id]

    def __iter__(self) -> Iterator[str]:
        return iter(known)

    def __len__(self) -> int:
        return len(known)


registry = GymnasiumRegistry()


def register(
    id: str,
    entry_point: EntryPoint | None = None,
    reward_threshold: float | None = None,
    nondeterministic: bool = False,
    max_episode_steps: int | None = None,
    order_enforce: bool = True,
    disable_env_checker: bool = False,
    additional_wrappers: Sequence[WrapperSpec] = (),
    vector_entry_point: EntryPoint | None = None,
    kwargs: Arguments | None = None,
) -> None:
    """Give an environment a name."""
    enter(
        id,
        entry_point,
        reward_threshold=reward_threshold,
        nondeterministic=nondeterministic,
        max_episode_steps=max_episode_steps,
        order_enforce=order_enforce,
        disable_env_checker=disable_env_checker,
        additional_wrappers=additional_wrappers,
        vector_entry_point=vector_entry_point,
        kwargs=kwargs or {},
    )


def pprint_registry(
    print_registry: Mapping[str, EnvSpec] | None = None,
    *,
    num_cols: int = 3,
    exclude_namespaces: Sequence[str] | None = None,
    disable_print: bool = False,
) -> str | None:
    """Print the ids in columns; return the text instead when `disable_print`."""
    return print_ids(
        print_registry, num_cols=num_cols, exclude_namespaces=exclude_namespaces or (), disable_print=disable_print
    )


def load_env_creator(name: str) -> Any:
    """What `module:name` is; IsolationNeeded where trust asks for some, since it would run here."""
    asked = required_before_import(name)
    if asked.isolation != "none":
        raise IsolationNeeded(
            f"{name}: expected code that may run in this process, got {', '.join(asked.reasons)}; make it by "
            f"ludus.make({name!r}), which isolates it"
        )
    return load_entry_point(name)


# --- ids ---


def parse_env_id(env_id: str) -> tuple[str | None, str, int | None]:
    """Namespace, name and version of an id."""
    parsed = EnvId.parse(env_id)
    return parsed.namespace, parsed.name, parsed.version


def get_env_id(ns: str | None, name: str, version: int | None) -> str:
    """The id of namespace, name and version."""
    return str(EnvId(ns, name, version))


def find_highest_version(ns: str | None, name: str) -> int | None:
    """The newest version of an environment, or None where it has none."""
    parsed = [EnvId.parse(one) for one in known]
    return max((one.version for one in parsed if one[:2] == (ns, name) and one.version is not None), default=None)


# --- batches ---


class VectorizeMode(Enum):
    """How `make_vec` makes a batch."""

    ASYNC = "async"
    SYNC = "sync"
    VECTOR_ENTRY_POINT = "vector_entry_point"


def make_vec(
    id: str | EnvSpec,
    num_envs: int = 1,
    vectorization_mode: VectorizeMode | str | None = None,
    vector_kwargs: dict[str, Any] | None = None,
    wrappers: Sequence[WrapLane] | None = None,
    **kwargs: Any,
) -> AnyVectorEnv:
    """A batch of `num_envs` lanes; by default of the spec's own `vector_entry_point`, else serial.

    >>> make_vec("GridWorld-v0", 2, vectorization_mode="sync").num_envs
    2
    """
    spec = spec_meant(id)
    # The spec of a batch carries how it was made among its arguments, so that it can be made again.
    kept = dict(spec.kwargs)
    num_envs = kept.pop("num_envs", num_envs)
    mode = _mode(kept.pop("vectorization_mode", vectorization_mode), spec)
    options: dict[str, Any] = kept.pop("vector_kwargs", vector_kwargs) or {}
    around: Sequence[WrapLane] = kept.pop("wrappers", wrappers) or ()
    arguments, bare = {**kept, **kwargs}, spec.replace(kwargs={})
    if mode is VectorizeMode.VECTOR_ENTRY_POINT:
        envs = _own_batch(bare, num_envs, arguments, [*options, *around, *spec.additional_wrappers])
    else:
        if spec.entry_point is None:
            raise RegistrationError(f"{spec.id}: expected an entry_point for the lanes of a batch, got none")
        kind = SyncVectorEnv if mode is VectorizeMode.SYNC else AsyncVectorEnv
        envs = kind([partial(_lane, bare, arguments, around)] * num_envs, **options)
    how = {"num_envs": num_envs, "vectorization_mode": mode.value, "vector_kwargs": options, "wrappers": around}
    default: dict[str, object] = {"num_envs": 1, "vector_kwargs": {}, "wrappers": ()}
    how = {name: value for name, value in how.items() if name not in default or value != default[name]}
    envs.unwrapped.spec = bare.replace(kwargs={**arguments, **how})
    return envs


def _mode(given: object, spec: EnvSpec) -> VectorizeMode:
    if given is None:
        return VectorizeMode.SYNC if spec.vector_entry_point is None else VectorizeMode.VECTOR_ENTRY_POINT
    known = [one for one in VectorizeMode if given in (one, one.value)]
    if not known:
        raise InvalidArgument(
            f"vectorization_mode: expected one of {listing(one.value for one in VectorizeMode)}, got {shorten(given)}"
        )
    return known[0]


def _lane(spec: EnvSpec, arguments: dict[str, Any], wrappers: Sequence[WrapLane]) -> AnyEnv:
    env: AnyEnv = make(spec, **arguments)
    for wrap in wrappers:
        env = wrap(env)
    return env


def _own_batch(spec: EnvSpec, num_envs: int, arguments: dict[str, Any], extra: Sequence[object]) -> AnyVectorEnv:
    """The batch that a spec has an entry point for, else a compiled one; nothing can be put around single lanes."""
    if extra:
        raise InvalidArgument(
            f"{spec.id}: expected no vector_kwargs, wrappers or additional_wrappers in the mode vector_entry_point, "
            f"got {shorten(list(extra))}"
        )
    if spec.vector_entry_point is None:
        limits: dict[str, Any] = {name: arguments[name] for name in LIMITS if name in arguments}
        rest = {name: value for name, value in arguments.items() if name not in limits}
        return batch_of(spec, num_envs, executor="kernel", kwargs=rest, **limits)
    if resolve(spec).sandbox is not None:
        raise IsolationNeeded(
            f"{spec.id}: expected lanes, which can be made in a sandbox, got a vector_entry_point, which runs here; "
            "use vectorization_mode='sync'"
        )
    if spec.max_episode_steps is not None:
        arguments.setdefault("max_episode_steps", spec.max_episode_steps)
    return load_entry_point(spec.vector_entry_point, spec.id)(num_envs=num_envs, **arguments)
