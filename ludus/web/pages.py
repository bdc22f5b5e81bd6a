"""The static files as routes; `ludus.serve` finds them by name."""

from starlette.routing import BaseRoute

__all__ = ["routes"]


def routes() -> list[BaseRoute]:
    """`/`, and everything under `/static`."""
    return []
