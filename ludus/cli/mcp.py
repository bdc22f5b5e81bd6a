"""`ludus mcp`: an environment as tools of agents' desktop programs, over standard input and output."""

from typing import Annotated

import typer
from msgspec.structs import replace

from ludus.server.extra import serve_extra

__all__ = ["mcp"]


def mcp(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="An id, module:Env, or a folder.")],
    seed: Annotated[int | None, typer.Option(min=0, help="Of the episode.")] = None,
    isolation: Annotated[str | None, typer.Option(help="What it runs in: none, process, sandbox or container.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Seconds that a call may take.")] = None,
) -> None:
    """Speak the Model Context Protocol on standard input and output: a program starts it, and has one episode.

    The configuration of such a program names the command `ludus` with the arguments `mcp` and TARGET.
    """
    given: dict[str, object] = {
        name: one for name, one in (("isolation", isolation), ("deadline", deadline)) if one is not None
    }
    with serve_extra():
        from ludus.server.config import ServerConfig  # as above
        from ludus.server.protocols.mcp.stdio import run  # a web server's packages, by this verb alone
    run(target, seed=seed, config=replace(ServerConfig(), **given))
