"""Containers as isolation: podman, Docker, and podman on gVisor's kernel, all through the Docker API.

Here too: the image they start from by default, which is made of this interpreter, without a registry.
"""

from ludus.sandbox.containers.docker import Docker
from ludus.sandbox.containers.gvisor import Gvisor
from ludus.sandbox.containers.podman import Podman

__all__ = ["Docker", "Gvisor", "Podman"]
