"""The header of a run: what was recorded, where, by what; enough to make the environment again."""

import platform
import sys
from collections.abc import Sequence
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import msgspec

from ludus.core import EnvSpec, VectorEnv, Wrapper
from ludus.core.env import AnyEnv
from ludus.core.spec import WrapperSpec, read_fields
from ludus.errors import LudusError, TrajectoryError, shorten
from ludus.spaces import Space, describe, find_models, from_description
from ludus.spaces.description import SPEC_JSON
from ludus.trajectory.event import Data

__all__ = ["LEVELS", "Level", "RunHeader", "header_of", "read_header", "running_versions", "source_hash"]

Level = Literal["seeds", "steps", "full"]
LEVELS: tuple[Level, ...] = ("seeds", "steps", "full")
FORMAT, VERSION = "ludus-run", 1
PACKAGES = ("numpy", "numba")


class RunHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What `run.json` says. Fields of later versions are ignored, a later format is refused.

    >>> import ludus
    >>> header = header_of(ludus.make("GridWorld-v0"), "seeds")
    >>> header.level, header.lanes, header.batched, header.env_spec().id
    ('seeds', 1, False, 'GridWorld-v0')
    """

    format: str = FORMAT
    version: int = VERSION
    level: Level
    lanes: int
    batched: bool
    autoreset_mode: str = ""
    executor: str = ""
    spec: Data | None = None
    """The spec of one environment, or of one lane; None where it cannot be written, and `unspecified` says why."""
    unspecified: str = ""
    wrappers: list[Data] = msgspec.field(default_factory=list[Data])
    """Those around the whole batch, the innermost first."""
    planned: bool = False
    """Whether a plan says how autoreset begins episodes."""
    observation_space: Data
    action_space: Data
    info: list[str] = msgspec.field(default_factory=list[str])
    """The keys of infos that have columns: `steps/info.0` is the first of them."""
    rules: str = ""
    """BLAKE2 over the source files of the environment and its wrappers; empty where they are not in this process."""
    versions: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    metadata: Data = msgspec.field(default_factory=Data)
    """What the caller added: agent, licence, anything that is JSON."""

    def __post_init__(self) -> None:
        if self.format != FORMAT or not 1 <= self.version <= VERSION:
            raise ValueError(f"expected {FORMAT} version {VERSION}, got {shorten(self.format)} {self.version}")
        if not 1 <= self.lanes <= 1 << 24 or (self.lanes > 1 and not self.batched):
            raise ValueError(f"expected 1 to {1 << 24} lanes, got {self.lanes}")

    def env_spec(self) -> EnvSpec:
        """The spec; raises TrajectoryError where there is none. Making it runs the code it names."""
        if self.spec is None:
            raise TrajectoryError(f"run: expected a spec to make the environment from, got none: {self.unspecified}")
        try:
            return read_fields(EnvSpec, SPEC_JSON.read(self.spec, "spec"), "EnvSpec")
        except (LudusError, TypeError, ValueError) as error:
            raise TrajectoryError(f"run.json: expected a spec, got {shorten(self.spec)}: {error}") from error

    def batch_wrappers(self) -> list[WrapperSpec]:
        """The wrappers around the whole batch, the innermost first."""
        try:
            return [read_fields(WrapperSpec, SPEC_JSON.read(one, "wrapper"), "wrapper") for one in self.wrappers]
        except (LudusError, TypeError, ValueError) as error:
            raise TrajectoryError(f"run.json: expected wrappers, got {shorten(self.wrappers)}: {error}") from error

    def space(self, name: Literal["observation", "action"]) -> Space[object]:
        """The space of one lane, over the author's classes where this process has them; else raises TrajectoryError."""
        data = self.observation_space if name == "observation" else self.action_space
        try:
            return find_models(from_description(data))
        except (LudusError, TypeError, ValueError, MemoryError, OverflowError) as error:
            raise TrajectoryError(f"run.json: expected the space of {name}s, got {shorten(data)}: {error}") from error


def header_of(env: AnyEnv, level: Level, *, info: Sequence[str] = (), metadata: Data | None = None) -> RunHeader:
    """The header of a run of this environment or batch."""
    batch = env if isinstance(env, VectorEnv) else None
    spec, wrappers, why = _specs(env)
    return RunHeader(
        level=level,
        lanes=1 if batch is None else env.batch_shape[0],
        batched=batch is not None,
        autoreset_mode="" if batch is None else batch.autoreset_mode.value,
        executor=str(getattr(env.unwrapped, "executor", "")),
        spec=spec,
        unspecified=why,
        wrappers=wrappers,
        planned=batch is not None and callable(getattr(env.unwrapped, "episodes", None)),
        observation_space=describe(env.observation_space if batch is None else batch.single_observation_space),
        action_space=describe(env.action_space if batch is None else batch.single_action_space),
        info=list(info),
        rules=source_hash(env),
        versions=running_versions(),
        metadata=metadata or {},
    )


def read_header(data: bytes) -> RunHeader:
    """The header in `run.json`; raises TrajectoryError on any other bytes."""
    try:
        return msgspec.json.decode(data, type=RunHeader)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise TrajectoryError(f"run.json: expected the header of a run, got {shorten(data[:60])}: {error}") from error


def _specs(env: AnyEnv) -> tuple[Data | None, list[Data], str]:
    """The spec of one lane, the wrappers around a batch, and why there is none."""
    bottom = env.unwrapped if isinstance(env, VectorEnv) else env
    layers = env._layers() if isinstance(env, VectorEnv) else []  # pyright: ignore[reportPrivateUsage]
    if bottom.spec is None:
        return None, [], f"{bottom} was not made by `ludus.make` or from a spec"
    try:
        wrappers = [layer.wrapper_spec(**layer.arguments) for layer in reversed(layers) if isinstance(layer, Wrapper)]
        plain = EnvSpec("Around-v0", additional_wrappers=tuple(wrappers)).to_json()
        return (
            msgspec.json.decode(bottom.spec.to_json()),
            msgspec.json.decode(plain).get("additional_wrappers", []),
            "",
        )
    except LudusError as error:
        return None, [], str(error)


def running_versions() -> dict[str, str]:
    """The versions of what runs here, as a header has them."""
    found = {"ludus": _version("ludus-rl"), "python": platform.python_version(), "machine": platform.machine()}
    return found | {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def source_hash(env: AnyEnv) -> str:
    """BLAKE2 over the source files that define an environment and its wrappers; empty if one is not at hand.

    Modules of Ludus's own ground (`core`, `vector`, `kernels` …) are what `versions` stand for, and left out. Nothing
    is imported: of an environment that runs elsewhere the source is not looked for.
    """
    classes: list[object] = [type(layer) for layer in env._layers()]  # pyright: ignore[reportPrivateUsage]
    entry = None if env.unwrapped.spec is None else env.unwrapped.spec.entry_point
    if isinstance(entry, str):
        module, _, name = entry.partition(":")
        found = getattr(sys.modules.get(module), name, None)
        if found is None:
            return ""
        classes.append(found)
    elif entry is not None:
        classes.append(entry)
    modules = {base.__module__ for one in classes for base in (one.__mro__ if isinstance(one, type) else (one,))}
    files = {name: _source(name) for name in sorted(modules) if not _is_ground(name)}
    if None in files.values():
        return ""
    digest = blake2b(digest_size=16)
    for name, source in files.items():
        digest.update(name.encode() + b"\0" + (source or b"") + b"\0")
    return digest.hexdigest()


def _is_ground(module: str) -> bool:
    room = module.split(".")[1] if module.startswith("ludus.") else ""
    return module in ("builtins", "typing", "abc") or room in (
        "core",
        "vector",
        "kernels",
        "remote",
        "sandbox",
        "spaces",
        "client",
    )


def _source(module: str) -> bytes | None:
    found = sys.modules.get(module)
    path = None if found is None else getattr(found, "__file__", None)
    try:
        return None if path is None else Path(path).read_bytes()
    except OSError:
        return None
