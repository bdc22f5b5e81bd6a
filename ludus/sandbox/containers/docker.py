"""`docker`: containers of a Docker daemon that runs on this machine."""

import os

from ludus.errors import SandboxUnavailable
from ludus.sandbox.containers.api import Api
from ludus.sandbox.containers.engine import Engine

__all__ = ["Docker"]

DEFAULT = "unix:///var/run/docker.sock"


class Docker(Engine):
    """Containers of the Docker daemon behind DOCKER_HOST, or behind its usual socket.

    >>> Docker().rank
    110
    """

    name = "docker"
    rank = 110

    def connect(self) -> Api:
        api = Api.named(os.environ.get("DOCKER_HOST") or DEFAULT, "DOCKER_HOST")
        if not api.answers():
            raise SandboxUnavailable(
                f"docker: expected a daemon that answers on {api.path}, got none; apt-get install docker.io and start "
                "dockerd, or set DOCKER_HOST"
            )
        return api
