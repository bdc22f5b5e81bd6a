"""OpenEnv's protocol: its HTTP routes and its WebSocket, for its stock clients and for curl."""

from starlette.routing import BaseRoute

from ludus.server.protocols.openenv import about, http, socket, tasks
from ludus.server.protocols.openenv.env_endpoint import EnvEndpoint
from ludus.server.served_env import ServedEnv
from ludus.server.server import Server

__all__ = ["routes"]


def routes(server: Server, served: ServedEnv) -> list[BaseRoute]:
    """The routes of one environment.

    >>> server = Server(["CartPole-v1"])
    >>> [one.path for one in routes(server, server.sessions.served())][:4]
    ['/step', '/reset', '/state', '/close']
    """
    endpoint = EnvEndpoint(server, served)
    return [*http.routes(endpoint), *about.routes(endpoint), *socket.routes(endpoint), *tasks.routes(endpoint)]
