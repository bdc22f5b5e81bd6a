"""The Containerfile of an environment, derived from its manifest."""

import json
from typing import NamedTuple

from ludus.errors import InvalidArgument, shorten
from ludus.packaging.contents import IGNORED, SECRET
from ludus.packaging.manifest import Manifest
from ludus.packaging.requirements import requirements

__all__ = ["BASE", "Base", "containerfile", "ignore_text"]

BASE = "python:3.11-slim"
USER = 10001
PORT = 8000
HOME = "/tmp"  # noqa: S108  (of the container)
START = (
    '[ -n "$LUDUS_TOKENS" ] || set -- --insecure "$@"; '
    'exec {python} -m ludus serve /app --host 0.0.0.0 --port {port}{limits} "$@"'
)
"""The network is the container's own: who reaches it, whoever publishes the port decides; with tokens, they do."""


class Base(NamedTuple):
    """What an image is made on."""

    image: str = BASE
    python: str = "python3"
    complete: bool = False
    """Whether all that is required is in it already."""


def containerfile(manifest: Manifest, base: Base | None = None) -> str:
    """The text: one user without rights, only what belongs, `ludus serve` on port 8000.

    >>> from pathlib import Path
    >>> text = containerfile(Manifest(Path("maze"), "maze", "maze:Maze"))
    >>> [line for line in text.splitlines() if line.startswith(("FROM", "USER"))]
    ['FROM python:3.11-slim', 'USER 10001:10001']
    """
    under = Base() if base is None else base
    if not under.image or any(char.isspace() or not char.isprintable() for char in under.image):
        raise InvalidArgument(f"base: expected the name of an image, got {shorten(under.image)}")
    install = [under.python, "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"]
    lines = [
        f"FROM {under.image}",
        *_labels(manifest),
        f"ENV HOME={HOME} PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR={HOME}",
        *([] if under.complete else [f"RUN {json.dumps([*install, *requirements(manifest)])}"]),
        "WORKDIR /app",
        "COPY . /app/",
        f"USER {USER}:{USER}",
        f"EXPOSE {PORT}",
        f"ENTRYPOINT {json.dumps(['/bin/sh', '-c', _start(manifest, under), 'ludus'])}",
    ]
    return "\n".join(lines) + "\n"


def ignore_text() -> str:
    """The text of a `.dockerignore`: what never goes into an image."""
    patterns = [f"**/{one}" for one in (*IGNORED, *SECRET)]
    return "\n".join(["# What tools leave behind, and what is likely to be a secret.", *patterns]) + "\n"


def _start(manifest: Manifest, base: Base) -> str:
    """The command; limits are for environments, not for applications."""
    own = manifest.resources
    limits = "" if manifest.app else f" --max-sessions {own.sessions} --deadline {own.step_seconds:g}"
    return START.format(python=base.python, port=PORT, limits=limits)


def _labels(manifest: Manifest) -> list[str]:
    known = {
        "title": manifest.name,
        "version": manifest.version,
        "description": manifest.description,
        "licenses": manifest.license,
    }
    return [f"LABEL org.opencontainers.image.{name}={_quoted(text)}" for name, text in known.items() if text]


def _quoted(text: str) -> str:
    """As a value on one line, in which nothing is a variable."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False).replace("$", "\\$")
