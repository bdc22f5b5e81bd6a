"""The packages of the extra `serve`: without them an error says what to install."""

from collections.abc import Generator
from contextlib import contextmanager

from ludus.errors import MissingExtra

__all__ = ["serve_extra"]


@contextmanager
def serve_extra() -> Generator[None]:
    """Around imports of what needs a web server: MissingExtra where there is none.

    >>> with serve_extra():
    ...     from ludus.server.app import create_app
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "server").partition(".")[0]
        raise MissingExtra(
            f"serve: expected the packages of the extra 'serve', got no {package}; pip install 'ludus-rl[serve]'"
        ) from error
