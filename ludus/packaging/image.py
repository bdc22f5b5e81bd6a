"""`build`: the image of an environment, on one of a registry, or on this interpreter."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib.metadata import Distribution
from pathlib import Path

from ludus.errors import InvalidArgument, SandboxError, shorten
from ludus.packaging.containerfile import Base, containerfile
from ludus.packaging.contents import contents
from ludus.packaging.engines import EngineProgram
from ludus.packaging.manifest import Manifest
from ludus.packaging.packages import closure, copy_packages
from ludus.packaging.requirements import requirements
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.leftovers import temporary_folder
from ludus.sandbox.locks import user_lock
from ludus.sandbox.mounts import PACKAGE

__all__ = ["HOST", "base_of", "build", "check_tag"]

HOST = "host"
TAG = re.compile(
    r"([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+(([._-]|__)[a-z0-9]+)*(/[a-z0-9]+(([._-]|__)[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?"
)
FOLDER = "/usr/lib/ludus"
LABEL = "ludus.packages"
FILE = "Containerfile"
Say = Callable[[str], object]


def build(manifest: Manifest, tag: str, engine: EngineProgram, base: Base, say: Say | None = None) -> str:
    """Build the image of a folder, and return its id; `base` is what `base_of` gives."""
    check_tag(tag)
    with _context(manifest, base) as context:
        engine.run(*_words(tag, context, *engine.plain(base.image)), say=say)
    return engine.run("image", "inspect", "--format", "{{.Id}}", tag).strip().removeprefix("sha256:")


def check_tag(tag: str) -> str:
    """The name of an image, as it is; InvalidArgument where it is none."""
    if not TAG.fullmatch(tag) or len(tag) > 400:
        raise InvalidArgument(f"tag: expected [HOST/]name[:tag] in lower case, as in 'maze:0.1.0', got {shorten(tag)}")
    return tag


def base_of(manifest: Manifest, name: str | None, engine: EngineProgram, say: Say | None = None) -> Base:
    """The base by name: None the usual one, `host` this interpreter with the packages that are needed."""
    if name != HOST:
        return Base() if name is None else Base(name)
    from ludus.sandbox.containers.images import host_image  # engines are loaded when one is needed

    packages = closure(requirements(manifest))
    under = host_image(engine.api())
    image = f"localhost/ludus-host-{_digest(under, packages)}"
    with user_lock("host-base"):  # one at a time, whichever process asks
        if not engine.has(image):
            _build_base(engine, image, under, packages, say)
    return Base(image, interpreter(), complete=True)


def _build_base(engine: EngineProgram, image: str, under: str, packages: list[Distribution], say: Say | None) -> None:
    """The base of this interpreter, in place of those that it had before."""
    label = f"{LABEL}={hashlib.sha256(f'{interpreter()} {PACKAGE}'.encode()).hexdigest()[:16]}"
    outdated = engine.run("images", "--quiet", "--filter", f"label={label}").split()
    with temporary_folder("base") as folder:
        context = Path(folder)
        copy_packages(packages, context / "packages")
        (context / FILE).write_text(
            f"FROM {under}\nLABEL {label}\nCOPY packages {FOLDER}\nENV PYTHONPATH={FOLDER} PATH={_path()}\n"
        )
        engine.run(*_words(image, context), say=say)
    for one in dict.fromkeys(outdated):
        with suppress(SandboxError):  # in use: it goes another time
            engine.run("rmi", one)


def _words(tag: str, context: Path, *options: str) -> list[str]:
    return ["build", *options, "--tag", tag, "--file", str(context / FILE), str(context)]


@contextmanager
def _context(manifest: Manifest, base: Base) -> Generator[Path]:
    """A folder with what belongs, and nothing else."""
    with temporary_folder("build") as folder:
        for name in contents(manifest.folder).files:
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(manifest.folder / name, target)
        Path(folder, FILE).write_text(containerfile(manifest, base), encoding="utf8")
        Path(folder, ".dockerignore").write_text(f"{FILE}\n.dockerignore\n", encoding="utf8")
        yield Path(folder)


def _digest(under: str, packages: list[Distribution]) -> str:
    """Of all that the base is made from; of Ludus, by the files as they are."""
    known = hashlib.sha256(f"{under}\0{FOLDER}\0{_path()}".encode())
    for one in packages:
        known.update(f"{one.metadata['Name']}=={one.version}\n".encode())
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found = path.stat()
            known.update(f"{path.relative_to(PACKAGE)}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return known.hexdigest()[:16]


def _path() -> str:
    return ":".join(dict.fromkeys([os.path.dirname(interpreter()), "/usr/local/bin", "/usr/bin", "/bin"]))
