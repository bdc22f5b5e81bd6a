"""An environment as a service: sessions, their limits, who may do what, and the protocols by which they are used.

Not here: the messages, which are in `ludus.wire`, and what connects to a server, which is `ludus.client`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ludus.server.extra import serve_extra

if TYPE_CHECKING:
    from ludus.server.access import Access, Principal
    from ludus.server.app import create_app
    from ludus.server.config import ServerConfig
    from ludus.server.run import RunningServer, serve
    from ludus.server.served_env import ServedEnv
    from ludus.server.sessions import Sessions

_HOME = {
    "Access": "access",
    "Principal": "access",
    "RunningServer": "run",
    "ServedEnv": "served_env",
    "Sessions": "sessions",
    "ServerConfig": "config",
    "create_app": "app",
    "serve": "run",
}

__all__ = ["Access", "Principal", "RunningServer", "ServedEnv", "Sessions", "ServerConfig", "create_app", "serve"]


def __getattr__(name: str) -> object:
    # Loaded when it is used: `import ludus` comes through here, and most programs serve nothing.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with serve_extra():
        found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found
