"""Assembly: from a spec to the environment, its wrappers around it."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import NamedTuple, TypeGuard

from ludus.core import Env, EnvSpec, Wrapper, WrapperSpec
from ludus.core.entry_point import load_entry_point
from ludus.core.env import AnyEnv, Metadata
from ludus.errors import EntryPointError, InvalidArgument, InvalidType, MissingExtra, RenderError, listing, shorten
from ludus.registry.arguments import Creator, check_arguments
from ludus.registry.ownership import owner
from ludus.registry.shared import registry
from ludus.wrappers import CoerceAction, OrderEnforcing, PassiveEnvChecker, TimeLimit

__all__ = ["Created", "assemble", "create", "creator_of", "finish"]

BUILT_IN = "ludus.envs."


class Created(NamedTuple):
    """An environment without what its spec puts around it."""

    env: AnyEnv
    shown: WrapperSpec | None
    """The wrapper that gives the render mode asked for, where the environment has none of its own."""


def assemble(spec: EnvSpec, arguments: Mapping[str, object], package: str | None = None) -> AnyEnv:
    """The environment of a spec, so that its own `spec` makes it again.

    `arguments` go over those of the spec; `package` is what an error about missing extras tells to install, where that
    is not to be looked up.
    """
    return finish(create(spec, arguments, creator_of(spec, package), package), spec)


def creator_of(spec: EnvSpec, package: str | None = None) -> Creator:
    """The class or function of a spec, loaded."""
    if spec.entry_point is None:
        raise EntryPointError(
            f"{spec.id}: expected an entry_point, got only a vector_entry_point; it exists as a batch only"
        )
    try:
        found = load_entry_point(spec.entry_point, spec.id)
    except EntryPointError as error:
        missing = _missing_extra(error, spec, package)
        if missing is None:
            raise
        raise missing from error
    _check_creator(found, spec)
    return Creator.of(found)


def create(spec: EnvSpec, arguments: Mapping[str, object], creator: Creator, package: str | None = None) -> Created:
    """The environment by itself, with the spec that makes it again."""
    given = {**_copies(spec.kwargs), **arguments}
    shown = _stand_in(creator.call, given) if given.get("render_mode") is not None else None
    mode = _render_mode(creator, given, spec.id)
    creator.check(given, spec.id)
    try:
        env = creator.call(**given)
    except InvalidArgument as error:
        creator.explain(error, given)
        raise
    except (EntryPointError, ModuleNotFoundError) as error:
        missing = _missing_extra(error, spec, package)
        if missing is None:
            raise
        raise missing from error
    if not isinstance(env, Env):
        raise InvalidType(
            f"{spec.id}: expected its entry_point to return a ludus Env, got {shorten(env)}{_adapter(env)}"
        )
    bare = env.unwrapped
    if mode is not None and not isinstance(creator.call, type):  # what a class draws was looked at before
        _check_mode(mode, env.metadata, type(bare).__name__, spec.id)
    bare.spec = spec.replace(
        kwargs=_copies(given),
        max_episode_steps=None,
        order_enforce=False,
        disable_env_checker=True,
        additional_wrappers=(),
    )
    return Created(env, shown)


def finish(created: Created, spec: EnvSpec) -> AnyEnv:
    """The environment with what its spec puts around it."""
    env = _wrap(created.env, spec)
    return env if created.shown is None else _wrapper(created.shown, spec.id)(env)


def _stand_in(creator: object, arguments: dict[str, object]) -> WrapperSpec | None:
    """A wrapper for a mode that follows from another: a list of frames, or a window that shows them."""
    metadata: Metadata = getattr(creator, "metadata", None) or {}
    modes: Sequence[str] = metadata.get("render_modes") or []
    mode = arguments.get("render_mode")
    if not isinstance(mode, str) or mode in modes:
        return None
    if mode.endswith("_list") and mode[:-5] in modes and mode != "human_list":
        arguments["render_mode"] = mode[:-5]
        return WrapperSpec("RenderCollection", "ludus.wrappers:RenderCollection")
    if mode == "human" and "rgb_array" in modes:
        arguments["render_mode"] = "rgb_array"
        return WrapperSpec("HumanRendering", "ludus.wrappers:HumanRendering")
    return None


def _check_creator(creator: object, spec: EnvSpec) -> None:
    if isinstance(spec.entry_point, str) and spec.entry_point.startswith(BUILT_IN) and not _is_built_in(creator):
        # Specs of strangers run here where they name one of ours: that is a class, never what its module imports.
        raise EntryPointError(
            f"{spec.id}: expected one of Ludus's environments at {spec.entry_point!r}, got {shorten(creator)}"
        )
    if not callable(creator):
        raise EntryPointError(
            f"{spec.id}: expected an Env class or a function that returns one, got {shorten(creator)}"
        )
    if isinstance(creator, type) and issubclass(creator, Wrapper):
        raise InvalidType(
            f"{spec.id}: expected an environment, got the wrapper {creator.__name__}; list it in additional_wrappers"
        )


def _is_built_in(creator: object) -> bool:
    return isinstance(creator, type) and issubclass(creator, Env) and creator.__module__.startswith(BUILT_IN)


def _render_mode(creator: Creator, arguments: dict[str, object], label: str) -> object:
    """The mode asked for, refused where it cannot be had; None, which asks for nothing, is passed to who takes it."""
    mode = arguments.get("render_mode")
    if mode is not None and isinstance(creator.call, type):
        _check_mode(mode, getattr(creator.call, "metadata", None), creator.name, label)
    if creator.takes_any or "render_mode" in creator.parameters or "render_mode" not in arguments:
        return mode
    if mode is not None:
        name = getattr(creator.call, "__name__", "its entry_point")
        raise RenderError(f"{label}: expected no render_mode, got {mode!r}; {name} takes no argument render_mode")
    del arguments["render_mode"]
    return None


def _check_mode(mode: object, metadata: Metadata | None, name: str, label: str) -> None:
    modes = list((metadata or {}).get("render_modes") or [])
    if mode not in modes:
        expected = f"a render_mode out of {listing(map(repr, modes))}" if modes else "no render_mode"
        hint = "" if modes else f"; {name} does not draw"
        raise RenderError(f"{label}: expected {expected}, got {mode!r}{hint}")


def _missing_extra(error: ImportError | EntryPointError, spec: EnvSpec, package: str | None) -> MissingExtra | None:
    """The error that names the extra to install, where a third party's module is missing and the spec has extras."""
    cause = error.__cause__ if isinstance(error, EntryPointError) else error
    name = cause.name if isinstance(cause, ModuleNotFoundError) else None
    if isinstance(error, MissingExtra) or not spec.extras or name is None or name.partition(".")[0] == owner(spec):
        return None
    return MissingExtra(
        f"{spec.id}: expected the module {name!r}, got none; install what it needs: "
        f'pip install "{package or registry.package(spec)}[{",".join(spec.extras)}]"',
        name=name,
    )


def _adapter(found: object) -> str:
    plays: bool = callable(getattr(found, "reset", None)) and callable(getattr(found, "step", None))
    if isinstance(found, type) and issubclass(found, Env):
        return f"; it returns the class: return {found.__name__}() instead"
    if plays:
        return "; derive it from ludus.Env, or adapt an old one with ludus.core.from_legacy"
    return "; is there a `return` missing?" if found is None else ""


def _copies(arguments: Mapping[str, object]) -> dict[str, object]:
    """Values of their own, so that an environment that changes its arguments does not change a spec."""
    return {name: _copy(value) for name, value in arguments.items()}


def _copy(value: object) -> object:
    try:
        return deepcopy(value)
    except Exception:  # a lock, a window, a connection: shared, because it cannot be copied
        return value


def _wrap(env: AnyEnv, spec: EnvSpec) -> AnyEnv:
    # Wrappers that the entry point adds by itself are in the spec of an environment that was made before.
    own = env.spec.additional_wrappers if env.spec is not None else ()
    rest = spec.additional_wrappers
    if rest[: len(own)] == own:
        rest = rest[len(own) :]
    if getattr(getattr(env, "action_space", None), "typed", False):
        env = CoerceAction(env)
    if not spec.disable_env_checker:
        env = PassiveEnvChecker(env)
    if spec.order_enforce:
        env = OrderEnforcing(env)
    if spec.max_episode_steps is not None:
        env = TimeLimit(env, spec.max_episode_steps)
    for one in rest:
        env = _wrapper(one, spec.id)(env, **_copies(one.kwargs))
    return env


def _is_wrapper(found: object) -> TypeGuard[Callable[..., AnyEnv]]:
    return isinstance(found, type) and issubclass(found, Wrapper)


def _wrapper(spec: WrapperSpec, id: str) -> Callable[..., AnyEnv]:
    label = f"{id}: wrapper {spec.name!r}"
    found = load_entry_point(spec.entry_point, label)
    if not _is_wrapper(found):
        raise InvalidType(
            f"{label}: expected a subclass of ludus.Wrapper at {spec.entry_point!r}, got {shorten(found)}"
        )
    check_arguments(found, spec.kwargs, label, positional=1)
    return found
