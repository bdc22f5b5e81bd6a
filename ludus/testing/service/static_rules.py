"""What can be told of a folder without running its code."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ludus.core.foreign_file import read_foreign_file
from ludus.errors import LudusError, listing, shorten
from ludus.packaging.manifest import read_manifest
from ludus.spaces.kinds import is_dict
from ludus.testing.report import error, warning
from ludus.testing.rule import Found, Rule, Unchecked
from ludus.testing.service.folder import PROJECT, EnvFolder

__all__ = ["STATIC_RULES"]

LARGE_FOLDER_BYTES = 100 << 20
MAX_SCANNED_BYTES = 1 << 20
MAX_MODULE_BYTES = 8 << 20
HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):([0-9]{1,5}|\*)")
LICENCES = ("LICENSE*", "LICENCE*", "COPYING*", "license*")
KEYS = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bhf_[A-Za-z0-9]{30,}\b|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b"
    rb"|\bsk-[A-Za-z0-9_-]{32,}\b"
)


def manifest_is_readable(folder: EnvFolder) -> Found:
    """The manifest can be read, and says nothing that it should not."""
    try:
        read_manifest(folder.path)
    except LudusError as failure:
        yield error(str(failure), "correct the key that it names; docs/packaging.md lists them all")


def code_is_there(folder: EnvFolder) -> Found:
    """The module that the manifest names is in the folder, and defines what it names."""
    manifest = folder.manifest
    module, _, name = (manifest.app or manifest.environment).partition(":")
    found = [file for place in manifest.paths for file in _sources(Path(place), module)]
    if not found:
        yield error(
            f"{manifest.file}: expected the module {module!r} in the folder, got no {module.replace('.', '/')}.py",
            "name the module that is there, or add the file",
        )
        return
    try:
        tree = ast.parse(read_foreign_file(found[0], MAX_MODULE_BYTES))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as failure:
        reason = str(failure) or type(failure).__name__
        yield error(f"{found[0].name}: expected Python, got {reason}", "correct it")
        return
    if name.partition(".")[0] not in set(_defined(tree)):
        yield error(f"{found[0].name}: expected {name!r} to be defined in it, got no such name", "name what it defines")


def module_hides_no_other(folder: EnvFolder) -> Found:
    """The module has a name that no module of the standard library has."""
    manifest = folder.manifest
    top = (manifest.app or manifest.environment).partition(":")[0].partition(".")[0]
    if top in sys.stdlib_module_names or top == "ludus":
        yield error(f"module: expected a name of its own, got {top!r}, which is another's", "rename the module")


def package_agrees(folder: EnvFolder) -> Found:
    """The package has the name and version of the manifest, and announces the environment."""
    project, manifest = folder.project, folder.manifest
    if _plain(project.get("name")) not in (_plain(manifest.name), f"openenv-{_plain(manifest.name)}"):
        yield warning(
            f"{PROJECT} name: expected {manifest.name!r} as in {manifest.file}, got {shorten(project.get('name'))}",
            "give both the same name",
        )
    if "version" in project and str(project["version"]) != manifest.version:
        yield error(
            f"{PROJECT} version: expected {manifest.version!r} as in {manifest.file}, got {project['version']!r}",
            "give both the same version",
        )
    if manifest.kind == "env" and manifest.environment not in _announced(project):
        yield warning(
            f"{PROJECT}: expected an entry point that announces {manifest.environment!r}, got none",
            'add `"name/Name-v0" = "module:Class"` to [project.entry-points."ludus.envs"]',
        )


def permissions_make_sense(folder: EnvFolder) -> Found:
    """Each permission names one thing, in the form that sandboxes understand."""
    security = folder.manifest.security
    for one in security.network:
        if one == "*":
            yield warning(
                "permissions.network: expected hosts by name, got '*'", "name the hosts; no sandbox opens '*'"
            )
        elif not HOST.fullmatch(one) and folder.manifest.kind == "env":
            yield error(f"permissions.network: expected 'host:port', got {one!r}", "write it as 'api.example.org:443'")
    for one in security.files:
        kind, _, path = one.partition(":")
        if kind not in ("read", "write") or not path:
            yield error(f"permissions.files: expected 'read:PATH' or 'write:PATH', got {one!r}", "write it so")
        elif path in ("/", "~", "*"):
            yield warning(f"permissions.files: expected a folder of its own, got {one!r}", "name the folder it needs")
    if (security.network or security.subprocesses) and security.isolation == "none" and folder.manifest.kind == "env":
        yield warning(
            'permissions.isolation: expected isolation for an environment that reaches out, got "none"',
            'set isolation = "sandbox"',
        )


def licence_is_named(folder: EnvFolder) -> Found:
    """There is a licence: in the manifest, in the package, or as a file."""
    try:
        project = folder.project
    except Unchecked:
        project = {}
    files = [one for pattern in LICENCES for one in folder.path.glob(pattern)]
    if not (folder.manifest.license or project.get("license") or files):
        yield warning("licence: expected one to be named, got none: nobody may use it", 'add license = "MIT"')


def size_is_sensible(folder: EnvFolder) -> Found:
    """What belongs to the environment is small enough to be sent around."""
    try:
        size = folder.contents.size
    except LudusError as failure:
        yield error(str(failure), "move data out of the folder")
        return
    if size > LARGE_FOLDER_BYTES:
        got = f"{size >> 20} MiB in {len(folder.contents.files)} files"
        yield warning(
            f"size: expected at most {LARGE_FOLDER_BYTES >> 20} MiB, got {got}",
            "publish data as a dataset, and fetch it",
        )


def secrets_are_elsewhere(folder: EnvFolder) -> Found:
    """No file that belongs to the environment holds a key; files that look like secrets are left out."""
    left = [path for path, reason in folder.contents.left_out.items() if reason == "likely a secret"]
    if left:
        yield warning(
            f"secrets: expected none in the folder, got {listing(left, 5)}; they are never built or published",
            "keep them elsewhere, and hand them over as variables",
        )
    for name in folder.contents.files:
        with (folder.path / name).open("rb") as file:
            if KEYS.search(file.read(MAX_SCANNED_BYTES)):
                yield error(f"secrets: expected none, got what looks like a key in {name}", "remove it, and revoke it")


def readers_are_told(folder: EnvFolder) -> Found:
    """There is a README, a description and a test."""
    if not any(name.lower().startswith("readme") for name in folder.contents.files if "/" not in name):
        yield warning("README: expected one, got none", "say in README.md what is to be done in the environment")
    if not folder.manifest.description and folder.manifest.kind == "env":
        yield warning("description: expected a sentence in the manifest, got none", 'add description = "…"')
    if not any(Path(name).match("test_*.py") for name in folder.contents.files):
        yield warning("tests: expected a file test_*.py, got none", "derive a class from ludus.testing.EnvContract")


READ = (manifest_is_readable,)
STATIC_RULES: tuple[Rule[EnvFolder], ...] = (
    Rule(manifest_is_readable),
    Rule(code_is_there, needs=READ),
    Rule(module_hides_no_other, needs=READ),
    Rule(package_agrees, needs=READ),
    Rule(permissions_make_sense, needs=READ),
    Rule(licence_is_named, needs=READ),
    Rule(size_is_sensible),
    Rule(secrets_are_elsewhere, needs=(size_is_sensible,)),
    Rule(readers_are_told, needs=(manifest_is_readable, size_is_sensible)),
)


def _sources(place: Path, module: str) -> Iterator[Path]:
    path = place.joinpath(*module.split("."))
    yield from (one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file())


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module binds, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _announced(project: dict[str, object]) -> list[object]:
    points: object = project.get("entry-points")
    found: object = points.get("ludus.envs") if is_dict(points) else None
    return list(found.values()) if is_dict(found) else []


def _plain(name: object) -> str:
    return re.sub(r"[-_.]+", "-", str(name)).lower()
