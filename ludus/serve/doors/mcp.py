"""`/mcp`: tools for agents, by the Model Context Protocol and by OpenEnv's session methods, at one address."""

from starlette.routing import BaseRoute

from ludus.serve.served import Served
from ludus.serve.server import Server

__all__ = ["routes"]


def routes(server: Server, served: Served) -> list[BaseRoute]:
    """The routes of one environment."""
    del server, served
    return []
