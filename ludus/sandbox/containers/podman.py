"""`podman`: containers without a daemon of the machine's; our own service answers, and ends with this process."""

import os
import shutil

from ludus.errors import SandboxUnavailable
from ludus.sandbox.containers.api import Api
from ludus.sandbox.containers.engine import Engine
from ludus.sandbox.containers.service import shared_service

__all__ = ["Podman", "require", "service"]


class Podman(Engine):
    """Containers of podman, behind a service of our own; CONTAINER_HOST (`unix://…`) names another.

    >>> Podman().rank
    100
    >>> Podman(image="localhost/mine:1", python="/usr/bin/python3").image
    'localhost/mine:1'
    """

    name = "podman"
    rank = 100

    def connect(self) -> Api:
        named = os.environ.get("CONTAINER_HOST")
        if named:
            return Api.named(named, "CONTAINER_HOST")
        require("podman", "apt-get install podman runc")
        # crun, which podman would prefer, fails where versions of cgroups mix
        return service("--runtime=runc") if shutil.which("runc") else service()


def service(*options: str) -> Api:
    """Our own service; control groups are made by podman itself where root may, so that no other program need run."""
    return shared_service(
        "--events-backend=none", *(["--cgroup-manager=cgroupfs"] if os.geteuid() == 0 else []), *options
    ).api


def require(program: str, install: str) -> None:
    """SandboxUnavailable where a program is not installed."""
    if shutil.which(program) is None:
        raise SandboxUnavailable(f"podman: expected the program {program!r}, got nothing of that name; {install}")
