"""OpenEnv's protocol: its HTTP routes and its WebSocket, for its stock clients and for curl."""

from starlette.routing import BaseRoute

from ludus.serve.served import Served
from ludus.serve.server import Server

__all__ = ["routes"]


def routes(server: Server, served: Served) -> list[BaseRoute]:
    """The routes of one environment."""
    del server, served
    return []
