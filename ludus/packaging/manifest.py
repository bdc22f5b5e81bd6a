"""`Manifest`: what a folder that holds an environment says of it, in `ludus.toml`, or in OpenEnv's `openenv.yaml`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeGuard

import msgspec

from ludus.core import EnvSpec, Security
from ludus.core.foreign_file import count_values, read_foreign_file, read_foreign_toml, read_foreign_yaml
from ludus.core.spec import read_fields
from ludus.errors import InvalidSpec, LudusError, listing, shorten
from ludus.registry.folder_code import enter_folder
from ludus.registry.trust import IsolationRequirement
from ludus.sandbox.deadlines import STEP_DEADLINE_S
from ludus.spaces.kinds import is_dict, is_list

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["MANIFEST", "OPENENV", "Manifest", "ServiceResources", "is_folder", "read_manifest"]

MANIFEST, OPENENV = "ludus.toml", "openenv.yaml"
MAX_MANIFEST_BYTES = 1 << 20
"""Bytes of a manifest."""
MAX_VALUES = 10_000
"""Values in it."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
VERSION = re.compile(r"[0-9]+(\.[0-9]+){0,3}([-.+]?[A-Za-z0-9.]+)?")
ENVIRONMENT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
SOURCES = "src"
PORT = 8000


@dataclass(frozen=True)
class ServiceResources:
    """What one container or server needs of a machine.

    >>> ServiceResources(memory_mb=1024).cpus
    1.0
    """

    memory_mb: int = 1024
    disk_mb: int = 1024
    cpus: float = 1.0
    step_seconds: float = STEP_DEADLINE_S
    """How long a step may take."""
    sessions: int = 64
    """Sessions at one time."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value: object = getattr(self, one.name)
            whole = one.name in ("memory_mb", "disk_mb", "sessions")
            fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool) and value > 0
            if not fits:
                kind = "a whole number" if whole else "a number"
                raise InvalidSpec(f"resources.{one.name}: expected {kind} above 0, got {shorten(value)}")


@dataclass(frozen=True)
class Manifest:
    """An environment in a folder: what it is called, where its code is, and what it may touch.

    >>> manifest = Manifest(Path("maze"), "maze", "maze:Maze", arguments={"size": 5})
    >>> manifest.kind, manifest.target.entry_point, manifest.target.kwargs
    ('env', 'maze:Maze', {'size': 5})
    """

    folder: Path
    name: str
    environment: str = ""
    """`module:Class`; empty where there is an `app` instead."""
    version: str = "0.1.0"
    description: str = ""
    license: str = ""
    max_episode_steps: int | None = None
    reward_range: tuple[float, float] | None = None
    """Between which numbers the reward of a step is."""
    arguments: dict[str, object] = field(default_factory=dict[str, object])
    security: Security = field(default_factory=Security)
    resources: ServiceResources = field(default_factory=ServiceResources)
    app: str = ""
    """`module:name` of an ASGI application, of folders made for OpenEnv."""
    port: int = PORT
    """Where the application listens inside its container."""
    file: str = MANIFEST
    """Which manifest said all this."""

    @property
    def kind(self) -> Literal["env", "asgi"]:
        """`"env"`: an environment that Ludus serves; `"asgi"`: an application of its own, served as it is."""
        return "asgi" if self.app else "env"

    @property
    def paths(self) -> tuple[str, ...]:
        """What has to be on `sys.path`."""
        folder = self.folder.resolve()
        return (str(folder / SOURCES), str(folder)) if (folder / SOURCES).is_dir() else (str(folder),)

    @property
    def spec(self) -> EnvSpec:
        """The environment as a spec, with its permissions and arguments; raises InvalidSpec for an application."""
        if self.app:
            raise InvalidSpec(f"{self.name}: expected an environment, got the application {self.app!r}; serve it")
        return EnvSpec(
            self.name,
            entry_point=self.environment,
            kwargs=dict(self.arguments),
            description=self.description,
            license=self.license,
            max_episode_steps=self.max_episode_steps,
            security=self.security,
        )

    @property
    def target(self) -> EnvSpec | str:
        """What a server is given: the spec, or `module:name` of the application."""
        return self.app or self.spec

    def enter(self, isolation: "str | Sandbox | None" = None) -> IsolationRequirement:
        """Have Python find the folder's code, for the rest of this process; the isolation that trust asks for.

        Where it runs isolated, by trust, its own word or `isolation`, none of it can be imported here.
        """
        declared = self.security.isolation
        given = declared if isolation is None and declared != "none" else isolation
        return enter_folder(self.paths, self.app or self.environment, given)


def is_folder(target: object) -> TypeGuard[str | Path]:
    """Whether a target names a folder rather than an id: one that exists and has a manifest, or is written as a path.

    >>> is_folder("CartPole-v1"), is_folder("./maze")
    (False, True)
    """
    if not isinstance(target, str | Path):
        return False
    text, path = str(target), Path(target)
    if text.startswith((".", "/", "~")) or text.endswith("/"):
        return True
    return path.is_dir() and any((path / name).is_file() for name in (MANIFEST, OPENENV))


def read_manifest(folder: str | Path) -> Manifest:
    r"""The manifest of a folder: `ludus.toml`, else `openenv.yaml`; raises InvalidSpec that names file and key.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ludus.toml").write_text('name = "maze"\nenvironment = "maze:Maze"\n')
    ...     read_manifest(folder).name
    'maze'
    """
    where = Path(folder).expanduser()
    for name, read in ((MANIFEST, _from_toml), (OPENENV, _from_openenv)):
        if (where / name).is_file():
            try:
                return read(where, _data(where / name))
            except LudusError as error:
                raise InvalidSpec(f"{where / name}: {error}") from error
    there = "a folder without either" if where.is_dir() else "no such folder"
    raise InvalidSpec(
        f"{where}: expected a folder with {MANIFEST} or {OPENENV}, got {there}; `ludus new NAME` makes one"
    )


# --- ludus.toml ---


def _text(value: object) -> bool:
    return isinstance(value, str)


def _like(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _steps(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _range(value: object) -> bool:
    if not is_list(value) or len(value) != 2 or any(isinstance(one, bool) for one in value):
        return False
    ends = [one for one in value if isinstance(one, int | float) and isfinite(one)]
    return len(ends) == 2 and ends[0] <= ends[1]


def _table(value: object) -> bool:
    return isinstance(value, dict)


FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "name": (_like(NAME), "letters, digits, '-' and '_', beginning with a letter"),
    "environment": (_like(ENVIRONMENT), "'module:Class', as in 'maze:Maze'"),
    "version": (_like(VERSION), "a version like '0.1.0'"),
    "description": (_text, "text"),
    "license": (_text, "text, as in 'MIT'"),
    "max_episode_steps": (_steps, "a whole number above 0"),
    "reward_range": (_range, "two numbers, the lower one first"),
    "arguments": (_table, "a table of keyword arguments"),
    "permissions": (_table, "a table"),
    "resources": (_table, "a table"),
}
"""The keys of a manifest, and what each of them takes."""


def _from_toml(folder: Path, data: Mapping[str, object]) -> Manifest:
    unknown = [key for key in data if key not in FIELDS]
    if unknown:
        raise InvalidSpec(
            f"{unknown[0]}: expected one of the keys {listing(FIELDS)}, got {listing(map(repr, unknown))}"
        )
    for key in ("name", "environment"):
        if key not in data:
            raise InvalidSpec(f"{key}: expected {FIELDS[key][1]}, got no such key; add `{key} = …`")
    for key, value in data.items():
        _check(key, value)
    rest = {key: value for key, value in data.items() if key not in ("permissions", "resources")}
    span = data.get("reward_range")
    if is_list(span):
        rest["reward_range"] = tuple([float(one) for one in span if isinstance(one, int | float)])
    security = read_fields(Security, data.get("permissions", {}), "permissions")
    resources = read_fields(ServiceResources, data.get("resources", {}), "resources")
    return replace(Manifest(folder, ""), **rest, security=security, resources=resources)


def _check(key: str, value: object) -> None:
    fits, expected = FIELDS[key]
    if not fits(value):
        raise InvalidSpec(f"{key}: expected {expected}, got {shorten(value)}")


# --- openenv.yaml ---


def _from_openenv(folder: Path, data: Mapping[str, object]) -> Manifest:
    """OpenEnv's own keys; those that say nothing to us are left alone, as its tools leave them."""
    name, app = data.get("name"), data.get("app", "server.app:app")
    _check("name", name)
    if data.get("spec_version", 1) not in (1, "1", "1.0", 1.0):
        raise InvalidSpec(f"spec_version: expected 1, got {shorten(data['spec_version'])}")
    if not _like(ENVIRONMENT)(app):
        raise InvalidSpec(f"app: expected 'module:name' of an application, got {shorten(app)}")
    port = data.get("port", PORT)
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 1 << 16:
        raise InvalidSpec(f"port: expected a number from 1 to 65535, got {shorten(port)}")
    version, description = str(data.get("version", "0.1.0")), data.get("description") or ""
    _check("version", version)
    _check("description", description)
    validation = _optional(data, "validation")
    return Manifest(
        folder,
        str(name),
        version=version,
        description=str(description),
        security=_network(_optional(validation, "network")),
        resources=_needs(_optional(validation, "resources")),
        app=str(app),
        port=port,
        file=OPENENV,
    )


def _optional(data: Mapping[str, object], key: str) -> dict[str, object]:
    found: object = data.get(key) or {}
    if not is_dict(found):
        raise InvalidSpec(f"{key}: expected a mapping, got {shorten(found)}")
    return found


def _network(block: dict[str, object]) -> Security:
    mode = block.get("mode", "no-network")
    if mode not in ("public", "no-network", "allowlist"):
        raise InvalidSpec(f"validation.network.mode: expected public, no-network or allowlist, got {shorten(mode)}")
    hosts = {"public": ["*"], "no-network": [], "allowlist": block.get("allowed_hosts") or []}[mode]
    return read_fields(Security, {"network": hosts}, "validation.network")


def _needs(block: dict[str, object]) -> ServiceResources:
    names = {"cpu": "cpus", "memory_mb": "memory_mb", "disk_mb": "disk_mb"}
    return read_fields(
        ServiceResources, {names[key]: value for key, value in block.items() if key in names}, "validation"
    )


# --- files ---


def _data(path: Path) -> dict[str, object]:
    kind = "TOML" if path.suffix == ".toml" else "YAML"
    try:
        content = read_foreign_file(path, MAX_MANIFEST_BYTES)
        found: object = read_foreign_toml(content) if kind == "TOML" else read_foreign_yaml(content, object, MAX_VALUES)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise InvalidSpec(f"expected {kind}, got {type(error).__name__}: {' '.join(str(error).split())}") from error
    if count_values(found, MAX_VALUES) > MAX_VALUES:
        raise InvalidSpec(f"expected at most {MAX_VALUES} values in {MAX_MANIFEST_BYTES} bytes, got more")
    if not is_dict(found) or not all(isinstance(key, str) for key in found):
        raise InvalidSpec(f"expected {kind} with names as keys, got {shorten(found)}")
    return found
