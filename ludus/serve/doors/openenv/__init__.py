"""OpenEnv's protocol: its HTTP routes and its WebSocket, for its stock clients and for curl."""

from starlette.routing import BaseRoute

from ludus.serve.doors.openenv import about, http, socket, tasks
from ludus.serve.doors.openenv.offer import Offer
from ludus.serve.served import Served
from ludus.serve.server import Server

__all__ = ["routes"]


def routes(server: Server, served: Served) -> list[BaseRoute]:
    """The routes of one environment.

    >>> server = Server(["CartPole-v1"])
    >>> [one.path for one in routes(server, server.sessions.served())][:4]
    ['/step', '/reset', '/state', '/close']
    """
    offer = Offer(server, served)
    return [*http.routes(offer), *about.routes(offer), *socket.routes(offer), *tasks.routes(offer)]
