"""`ludus push`: publish an environment."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ludus.cli.build import base_help, say_dim, show_left_out
from ludus.cli.console import out
from ludus.errors import InvalidArgument
from ludus.serve.making.building import base_of, build
from ludus.serve.making.contents import contents
from ludus.serve.making.engines import engine
from ludus.serve.making.pushing import push_image, push_space
from ludus.serve.manifest import Manifest, read_manifest

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
) -> None:
    """Publish an environment as a Space of Hugging Face, or build its image and send it to a registry.

    Only what belongs to the environment leaves this machine; what was left out is told.
    """
    if (repository is None) == (registry is None):
        raise InvalidArgument("ludus push: expected --repo-id USER/NAME or --registry HOST/NAME:TAG, one of them")
    manifest = read_manifest(folder)
    show_left_out(contents(manifest.folder))
    if registry is not None:
        _push_image(manifest, registry, engine_name, base)
        return
    done = push_space(manifest, repository or "", private=private, token=token)
    for name in done.removed:
        out.print(Text.assemble(("removed there: ", "dim"), name))
    out.print(Text.assemble("published ", (done.url, "bold cyan"), f"  {len(done.files)} files"), soft_wrap=True)
    out.print(Text("next: set the secret LUDUS_TOKENS of the Space, or everybody may use it", "dim"), soft_wrap=True)


def _push_image(manifest: Manifest, tag: str, engine_name: str | None, base: str | None) -> None:
    program = engine(engine_name)
    build(manifest, tag, program, base_of(manifest, base, program, say_dim), say_dim)
    push_image(tag, program, say_dim)
    out.print(Text.assemble("pushed ", (tag, "bold cyan"), f"  by {program.name}"), soft_wrap=True)
