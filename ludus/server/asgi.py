"""`app`: the environment of the current folder (or of LUDUS_FOLDER) as an application, for any ASGI server.

It is made when it is first asked for. Tokens are those of LUDUS_TOKENS, as `ludus serve` reads them.
"""

import os
from functools import cache
from typing import cast

from starlette.applications import Starlette

from ludus.errors import InvalidArgument
from ludus.packaging.manifest import read_manifest
from ludus.server.access import Access, Role
from ludus.server.app import create_app
from ludus.server.config import Mode, ServerConfig
from ludus.server.served_env import ServedEnv

__all__ = ["folder_app"]

FOLDER, TOKENS, MODE = "LUDUS_FOLDER", "LUDUS_TOKENS", "OPENENV_MODE"


@cache
def folder_app() -> Starlette:
    """The application; with tokens it may be called by any name, without by this machine's own only."""
    manifest = read_manifest(os.environ.get(FOLDER) or ".")
    manifest.enter()
    if manifest.kind == "asgi":
        raise InvalidArgument(f"{manifest.folder}: expected an environment, got the application {manifest.app!r}")
    mode = cast("Mode", os.environ.get(MODE, "simulation").lower())  # the config refuses what is none
    config = ServerConfig(max_sessions=manifest.resources.sessions, deadline=manifest.resources.step_seconds, mode=mode)
    # Taken out, so that no process that is started inherits them.
    access = Access(_tokens(os.environ.pop(TOKENS, "")))
    served = ServedEnv(manifest.target, manifest.name, config=config)
    served.description()  # what cannot be made is refused now, not served as healthy
    return create_app(served, config=config, access=access, hosts=() if access.open else None)


def _tokens(text: str) -> dict[str, Role]:
    """`ROLE=TOKEN,ROLE=TOKEN`; `Access` refuses roles that there are not."""
    pairs = [one.partition("=") for one in text.replace(",", " ").split()]
    if not all(token for _, _, token in pairs):  # a token that is not understood must not open the server
        raise InvalidArgument(f"{TOKENS}: expected ROLE=TOKEN,ROLE=TOKEN, got something else")
    return {token: role for role, _, token in pairs}  # pyright: ignore[reportReturnType]


def __getattr__(name: str) -> object:
    if name == "app":
        return folder_app()
    raise AttributeError(name)
