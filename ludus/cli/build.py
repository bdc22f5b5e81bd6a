"""`ludus build`: the image of an environment."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ludus.cli.console import err, out
from ludus.errors import InvalidArgument
from ludus.packaging.containerfile import Base, containerfile, ignore_text
from ludus.packaging.contents import Contents, contents
from ludus.packaging.engines import engine
from ludus.packaging.image import HOST, base_of, build, check_tag
from ludus.packaging.manifest import MANIFEST, OPENENV, Manifest, read_manifest
from ludus.packaging.openenv_yaml import openenv_text
from ludus.packaging.workflow import WORKFLOW, workflow_text

__all__ = ["base_help", "build_image", "say_dim", "show_left_out"]

MAX_LISTED_FILES = 12
base_help = "An image of a registry (python:3.11-slim), or host: this interpreter."


def build_image(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="With ludus.toml or openenv.yaml.")],
    tag: Annotated[str | None, typer.Option("-t", "--tag", help="Of the image; by default name:version.")] = None,
    engine_name: Annotated[
        str | None, typer.Option("--engine", help="podman or docker; by default what is here.")
    ] = None,
    base: Annotated[str | None, typer.Option(help=base_help)] = None,
    show: Annotated[bool, typer.Option("--print", help="Print the Containerfile, and build nothing.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write Containerfile, .dockerignore and openenv.yaml, and build nothing.")
    ] = False,
    workflow: Annotated[bool, typer.Option("--workflow", help="Write a GitHub workflow, and build nothing.")] = False,
) -> None:
    """Build the image of an environment: one user without rights, only what belongs, `ludus serve` on port 8000.

    Its token is in the variable LUDUS_TOKENS; without, whoever reaches the container's port may use it.
    """
    manifest = read_manifest(folder)
    name = check_tag(tag or f"{manifest.name.lower()}:{manifest.version}")
    if workflow:
        _write(manifest, {WORKFLOW: workflow_text(manifest)})
    if show or write:
        under = _base(manifest, base, engine_name)
        _write(manifest, _derived(manifest, under) if write else {})
        print(containerfile(manifest, under) if show else "", end="")
    if not (show or write or workflow):
        _build(manifest, name, base, engine_name)


def _build(manifest: Manifest, name: str, base: str | None, engine_name: str | None) -> None:
    program = engine(engine_name)
    show_left_out(contents(manifest.folder))
    found = build(manifest, name, program, base_of(manifest, base, program, say_dim), say_dim)
    out.print(Text.assemble("built ", (name, "bold cyan"), f"  {found[:12]}, by {program.name}"))
    run = f"{program.name} run --rm -p 127.0.0.1:8000:8000 {name}"
    out.print(Text(f'next: {run}; or ludus.connect("image:{name}")', "dim"), soft_wrap=True)


def show_left_out(found: Contents) -> None:
    """Say what of a folder goes nowhere."""
    for path, reason in list(found.left_out.items())[:MAX_LISTED_FILES]:
        err.print(Text.assemble(("left out: ", "dim"), path, (f"  {reason}", "dim")))
    more = len(found.left_out) - MAX_LISTED_FILES
    if more > 0:
        err.print(Text(f"left out: {more} more", "dim"))


def _base(manifest: Manifest, base: str | None, engine_name: str | None) -> Base:
    """What the image is made on; an engine is needed only where that is this interpreter, which is made then."""
    if base != HOST:
        return Base() if base is None else Base(base)
    return base_of(manifest, base, engine(engine_name), say_dim)


def _derived(manifest: Manifest, base: Base) -> dict[str, str]:
    found = {"Containerfile": containerfile(manifest, base), ".dockerignore": ignore_text()}
    return {**found, OPENENV: openenv_text(manifest)} if manifest.file == MANIFEST else found


def _write(manifest: Manifest, files: dict[str, str]) -> None:
    """Write what is derived; a file that is there already, and says something else, stays."""
    for name, text in files.items():
        path = manifest.folder / name
        if path.exists() and path.read_text(encoding="utf8") != text:
            raise InvalidArgument(f"{path}: expected to write a new file, got one that is there; remove or rename it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
        out.print(Text.assemble("wrote ", (str(path), "cyan")), soft_wrap=True)


def say_dim(line: str) -> None:
    """What an engine says while it works."""
    err.print(Text(line, "dim"), soft_wrap=True)
