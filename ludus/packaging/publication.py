"""Publishing an environment: as a Space of Hugging Face, or as an image in a registry of containers."""

import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import msgspec

from ludus.core.foreign_file import read_foreign_yaml
from ludus.errors import InvalidArgument, InvalidSpec, MissingExtra, ServiceError, shorten
from ludus.packaging.containerfile import PORT, containerfile
from ludus.packaging.contents import contents
from ludus.packaging.engines import EngineProgram
from ludus.packaging.image import check_tag
from ludus.packaging.manifest import MANIFEST, OPENENV, Manifest
from ludus.packaging.openenv_yaml import openenv_text
from ludus.spaces.kinds import is_dict

__all__ = ["Pushed", "push_image", "push_space", "space_files"]

REPOSITORY = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,95}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*\n?", re.DOTALL | re.MULTILINE)
REPOSITORY_FILES = (".gitattributes",)
"""What a repository has by itself."""
README = "README.md"
MESSAGE = "Publish {name} {version}"


class Pushed(NamedTuple):
    """What was published, and where."""

    url: str
    files: tuple[str, ...]
    removed: tuple[str, ...]
    """Files of an earlier time that do not belong any more."""


def space_files(manifest: Manifest) -> dict[str, bytes]:
    """The files of a Space that runs the environment: what belongs, a Dockerfile, and a README that says so."""
    found = {name: (manifest.folder / name).read_bytes() for name in contents(manifest.folder).files}
    derived = {"Dockerfile": containerfile(manifest), README: _readme(manifest, found.get(README, b"").decode("utf8"))}
    if manifest.file == MANIFEST:
        derived[OPENENV] = openenv_text(manifest)
    found.pop("Containerfile", None)
    return {**found, **{name: text.encode() for name, text in derived.items()}}


def push_space(manifest: Manifest, repository: str, *, private: bool = False, token: str | None = None) -> Pushed:
    """Make or renew a Space (through `huggingface_hub`, signed in by the token, HF_TOKEN, or `hf auth login`)."""
    if not REPOSITORY.fullmatch(repository) or "--" in repository or ".." in repository:
        raise InvalidArgument(f"repo-id: expected USER/NAME, as in 'ada/maze', got {shorten(repository)}")
    files = space_files(manifest)
    hub = _hub()
    api = hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=token)
    try:
        made = api.create_repo(repository, repo_type="space", space_sdk="docker", private=private, exist_ok=True)
        full = str(made.repo_id)
        gone = sorted(set(api.list_repo_files(full, repo_type="space")) - set(files) - set(REPOSITORY_FILES))
        added = [hub.CommitOperationAdd(name, content) for name, content in sorted(files.items())]
        removed = [hub.CommitOperationDelete(name) for name in gone]
        message = MESSAGE.format(name=manifest.name, version=manifest.version)
        api.create_commit(full, [*added, *removed], commit_message=message, repo_type="space")
    except Exception as error:  # whatever the package, and the one that it speaks HTTP with, raise
        reason = " ".join(str(error).split())[:500]
        raise ServiceError(
            f"{repository}: expected to publish a Space, got {type(error).__name__}: {reason}; "
            "is HF_TOKEN set, and may it write there?"
        ) from error
    return Pushed(str(made), tuple(sorted(files)), tuple(gone))


def push_image(tag: str, engine: EngineProgram, say: Callable[[str], object] | None = None) -> None:
    """Send an image that was built to the registry that its name begins with; signed in as the engine is."""
    host, slash, _ = check_tag(tag).partition("/")
    if not slash or not (host == "localhost" or "." in host or ":" in host):
        raise InvalidArgument(f"registry: expected HOST/NAME:TAG, as in 'registry.example.org/maze:0.1.0', got {tag!r}")
    engine.run("push", *engine.plain(tag), tag, say=say)


def _hub() -> ModuleType:
    try:
        return import_module("huggingface_hub")
    except ImportError as error:
        raise MissingExtra(
            "push: expected the package 'huggingface_hub', got none; pip install 'ludus-rl[push]'"
        ) from error


# --- README ---


def _readme(manifest: Manifest, text: str) -> str:
    """The README with the front matter that a Space needs; what it says beside that stays."""
    match = FRONT.match(text)
    own: Mapping[str, object] = _front(match[1]) if match else {}
    known: dict[str, object] = {"title": manifest.name, "tags": ["ludus", "openenv", "reinforcement-learning"], **own}
    if manifest.license and "license" not in known:
        known["license"] = manifest.license.lower()
    front = msgspec.yaml.encode({**known, "sdk": "docker", "app_port": PORT}).decode()
    body = text[match.end() :] if match else text or f"# {manifest.name}\n\n{manifest.description}\n"
    return f"---\n{front}---\n\n{body.lstrip()}"


def _front(text: str) -> Mapping[str, object]:
    try:
        found: object = read_foreign_yaml(text.encode(), object)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidSpec(f"{README}: expected front matter in YAML, got {' '.join(str(error).split())}") from error
    if not is_dict(found):
        raise InvalidSpec(f"{README}: expected front matter with names as keys, got {shorten(found)}")
    return found
