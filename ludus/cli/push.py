"""`ludus push`: publish an environment."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ludus.cli.build import base_help, say_dim, show_left_out
from ludus.cli.console import err, out
from ludus.errors import InvalidArgument
from ludus.packaging.contents import Contents, contents
from ludus.packaging.engines import engine
from ludus.packaging.image import base_of, build
from ludus.packaging.manifest import Manifest, read_manifest
from ludus.packaging.publication import push_image, push_space

__all__ = ["push"]


def push(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="With ludus.toml or openenv.yaml.")],
    repository: Annotated[str | None, typer.Option("--repo-id", help="A Space of Hugging Face, as USER/NAME.")] = None,
    private: Annotated[bool, typer.Option("--private", help="Only you see the Space.")] = False,
    token: Annotated[
        str | None,
        typer.Option(envvar="HF_TOKEN", help="Of Hugging Face; others of this machine see what is on a command line."),
    ] = None,
    registry: Annotated[
        str | None, typer.Option(metavar="HOST/NAME:TAG", help="A registry of containers, in place of a Space.")
    ] = None,
    engine_name: Annotated[str | None, typer.Option("--engine", help="podman or docker; by default the first.")] = None,
    base: Annotated[str | None, typer.Option(help=base_help)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Publish what is listed without asking.")] = False,
) -> None:
    """Publish an environment as a Space of Hugging Face, or build its image and send it to a registry.

    Only what belongs to the environment leaves this machine: what does is listed, and what was left out; then you are
    asked.
    """
    if (repository is None) == (registry is None):
        raise InvalidArgument("ludus push: expected --repo-id USER/NAME or --registry HOST/NAME:TAG, one of them")
    manifest = read_manifest(folder)
    found = contents(manifest.folder)
    show_left_out(found)
    _confirm(found, repository or registry or "", private=private, yes=yes)
    if registry is not None:
        _push_image(manifest, registry, engine_name, base)
        return
    done = push_space(manifest, repository or "", private=private, token=token)
    for name in done.removed:
        out.print(Text.assemble(("removed there: ", "dim"), name))
    out.print(Text.assemble("published ", (done.url, "bold cyan"), f"  {len(done.files)} files"), soft_wrap=True)
    out.print(Text("next: set the secret LUDUS_TOKENS of the Space, or everybody may use it", "dim"), soft_wrap=True)


def _confirm(found: Contents, place: str, *, private: bool, yes: bool) -> None:
    """Show every file that is to leave this machine, and ask, unless that was answered on the command line."""
    for name in found.files:
        err.print(Text.assemble(("publish: ", "dim"), name), soft_wrap=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidArgument("ludus push: expected --yes, since there is nobody to ask whether to publish these files")
    who = "only you see it" if private else "whoever may read it sees it"
    typer.confirm(f"Publish {len(found.files)} files ({found.size:,} bytes) at {place}; {who}?", abort=True, err=True)


def _push_image(manifest: Manifest, tag: str, engine_name: str | None, base: str | None) -> None:
    program = engine(engine_name)
    build(manifest, tag, program, base_of(manifest, base, program, say_dim), say_dim)
    push_image(tag, program, say_dim)
    out.print(Text.assemble("pushed ", (tag, "bold cyan"), f"  by {program.name}"), soft_wrap=True)
